#include "memory/block_table.hpp"

#include "base/fork.hpp"

#include <utility>

namespace kith {

block_table& block_table::of_process() {
  static block_table& table = []() -> block_table& {
    block_table& made = *new block_table;
    keep_over_fork(made.guard_);
    // The listeners belong to the parent's runtimes.
    keep_over_fork(made.telling_, []() noexcept { of_process().listeners_.clear(); });
    return made;
  }();
  return table;
}

namespace {
[[maybe_unused]] const block_table& table_before_main = block_table::of_process();  // base/fork.hpp says why
}

memory_block block_table::add(page_map p, distribution asked, std::uint64_t space, std::uint64_t owner) {
  std::lock_guard lock(guard_);
  const page_map& kept = *page_maps_.insert(std::move(p)).first;
  const memory_block b{&kept, asked, space, owner};
  blocks_.insert_or_assign(kept.begin, b);
  return b;
}

std::optional<memory_block> block_table::find(const void* address) {
  std::lock_guard lock(guard_);
  auto after = blocks_.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  if (after == blocks_.begin()) return std::nullopt;
  const memory_block& b = std::prev(after)->second;
  return b.at->contains(address) ? std::optional(b) : std::nullopt;
}

std::optional<memory_block> block_table::remove(const void* begin) {
  std::lock_guard lock(guard_);
  const auto at = blocks_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (at == blocks_.end()) return std::nullopt;
  const memory_block was = at->second;
  blocks_.erase(at);
  return was;
}

void block_table::add_listener(memory_listener& l) {
  std::lock_guard lock(telling_);
  listeners_.push_back(&l);
}

void block_table::remove_listener(memory_listener& l) {
  std::lock_guard lock(telling_);
  std::erase(listeners_, &l);
}

void block_table::tell(const void* begin, std::uint64_t bytes, const memory_block* block) {
  std::lock_guard lock(telling_);
  for (memory_listener* l : listeners_) l->forget(begin, bytes, block);
}

}  // namespace kith
