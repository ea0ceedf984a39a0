#include "openmp/reduction.hpp"

#include "base/address.hpp"
#include "openmp/context.hpp"
#include "openmp/fatal.hpp"
#include "openmp/task_group.hpp"
#include "openmp/team.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace kith::openmp {

namespace {

/// Calls f(descriptor) for each one of the construct.
template <class F>
void for_each_of_construct(std::uintptr_t* first, const F& f) {
  for (descriptor_view d{first}; d;) {
    const bool last = d.is_last() != 0;
    const descriptor_view next = d.following();  // f may free what is there
    f(d);
    if (last) return;
    d = next;
  }
}

/// Marks the last descriptor of the construct, and continues it.
void link(std::uintptr_t* first, std::uintptr_t* enclosing) {
  descriptor_view d{first};
  for (; d.next() != 0; d = d.following()) d.is_last() = 0;
  d.is_last() = 1;
  d.next() = reinterpret_cast<std::uintptr_t>(enclosing);
}

}  // namespace

void make_private_blocks(std::uintptr_t* descriptor, std::uintptr_t* enclosing, int threads) {
  link(descriptor, enclosing);
  for_each_of_construct(descriptor, [threads](descriptor_view d) {
    const std::size_t align = std::max<std::size_t>(d.blocks(), sizeof(void*));
    const std::size_t bytes = (d.block_bytes() * static_cast<std::size_t>(threads) + align - 1) / align * align;
    void* const blocks = std::aligned_alloc(align, std::max(bytes, align));
    if (blocks == nullptr) die("no memory for the private copies of a reduction over tasks");
    std::memset(blocks, 0, bytes);
    d.blocks() = reinterpret_cast<std::uintptr_t>(blocks);
    d.end() = d.blocks() + bytes;
  });
}

void register_reductions(std::uintptr_t* descriptor) {
  const context& c = here();
  make_private_blocks(descriptor, c.group->reductions, c.team->size);
  c.group->reductions = descriptor;
}

void begin_share_reductions(std::uintptr_t* descriptor, const std::uintptr_t* of_first) {
  open_group();
  if (of_first == nullptr) return register_reductions(descriptor);
  task_group& group = *here().group;
  link(descriptor, group.reductions);
  descriptor_view theirs{const_cast<std::uintptr_t*>(of_first)};
  for_each_of_construct(descriptor, [&theirs](descriptor_view d) {
    d.blocks() = theirs.blocks();
    d.end() = theirs.end();
    theirs = theirs.following();
  });
  group.reductions = descriptor;
}

void free_private_blocks(std::uintptr_t* descriptor) {
  for_each_of_construct(descriptor, [](descriptor_view d) { std::free(at_address(d.blocks())); });
}

private_copy find_private_copy(std::uintptr_t* first, void* variable, int thread) {
  const auto at = reinterpret_cast<std::uintptr_t>(variable);
  for (descriptor_view d{first}; d; d = d.following()) {
    const std::uintptr_t mine = d.blocks() + static_cast<std::uintptr_t>(thread) * d.block_bytes();
    const bool is_copy = d.has_block_at(at);
    const std::uintptr_t offset = is_copy ? (at - d.blocks()) % d.block_bytes() : 0;
    for (std::uintptr_t v = 0; v < d.variables(); ++v) {
      if (is_copy ? d.offset_of(v) == offset : d.address_of(v) == at)
        return {at_address(d.address_of(v)), at_address(mine + d.offset_of(v)), d.words, v};
    }
  }
  die("an `in_reduction` clause names a variable that no enclosing `task_reduction` or `reduction(task, ...)` has");
}

}  // namespace kith::openmp
