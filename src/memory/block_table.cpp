#include "memory/block_table.hpp"

#include <utility>

namespace kith {

block_table& block_table::of_process() {
  static block_table& table = *new block_table;
  return table;
}

const memory_block& block_table::add(memory_block b) {
  std::lock_guard lock(guard_);
  std::unique_ptr<memory_block> room;
  if (spare_.empty()) {
    room = std::make_unique<memory_block>();
  } else {
    room = std::move(spare_.back());
    spare_.pop_back();
  }
  *room = std::move(b);
  memory_block& kept = *room;
  blocks_.insert_or_assign(kept.at.begin, std::move(room));
  return kept;
}

const memory_block* block_table::find(const void* address) {
  std::lock_guard lock(guard_);
  auto after = blocks_.upper_bound(reinterpret_cast<std::uintptr_t>(address));
  if (after == blocks_.begin()) return nullptr;
  const memory_block& b = *std::prev(after)->second;
  return b.at.contains(address) ? &b : nullptr;
}

std::optional<memory_block> block_table::remove(const void* begin) {
  std::lock_guard lock(guard_);
  const auto at = blocks_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (at == blocks_.end()) return std::nullopt;
  memory_block was = *at->second;
  spare_.push_back(std::move(at->second));
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
