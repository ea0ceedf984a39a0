#include "tracing/blocks.hpp"

#include "tracing/arena.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace kith::tracing {

namespace {

using block_map =
    std::map<std::uintptr_t, block*, std::less<>, node_allocator<std::pair<const std::uintptr_t, block*>>>;
using count_map =
    std::map<std::uint64_t, std::uint64_t, std::less<>, node_allocator<std::pair<const std::uint64_t, std::uint64_t>>>;

/// Never destroyed, because the program may free memory until it has ended.
struct known_blocks {
  spin_mutex lock;
  block_map small, large, threads;
  growing<block*> touched, spare;
  arena memory;
  count_map outside;
};

known_blocks& known() noexcept {
  alignas(known_blocks) static std::byte room[sizeof(known_blocks)];
  static known_blocks* const made = ::new (room) known_blocks;  // the first call is before main()
  return *made;
}

block_map& map_of(known_blocks& k, block::what kind) noexcept {
  switch (kind) {
    case block::what::stack:
    case block::what::thread_local_data: return k.threads;
    case block::what::mapped:
    case block::what::constant:
    case block::what::global: return k.large;
    default: return k.small;
  }
}

void drop(known_blocks& k, block_map& map, block_map::iterator at, bool cut = false) noexcept {
  block* const b = at->second;
  map.erase(at);
  b->gone.store(true, relaxed);
  if (b->number == 0 && !cut) k.spare.push(b);  // B2
}

/// The part of the block from `begin` to `end`.
block part_of(const block& b, std::uintptr_t begin, std::uintptr_t end) noexcept {
  return {.begin = begin,
          .end = end,
          .origin = b.origin,
          .covered = b.covered,
          .number = b.number,
          .whole = b.whole,
          .bytes = b.bytes,
          .kind = b.kind,
          .recording = b.recording,
          .task = b.task,
          .ordinal = b.ordinal,
          .pc = b.pc,
          .caller = b.caller,
          .name = b.name};
}

void expect_number(known_blocks& k, block& b) noexcept {
  block& whole = b.whole != nullptr ? *b.whole : b;
  if (whole.number == 0) {
    whole.number = static_cast<std::uint32_t>(k.touched.size()) + first_number;
    k.touched.push(&whole);
  }
  b.number = whole.number;
}

/// The first block that ends behind `begin`.
block_map::iterator first_behind(block_map& map, std::uintptr_t begin) noexcept {
  auto at = map.lower_bound(begin);
  if (at != map.begin() && std::prev(at)->second->end > begin) --at;
  return at;
}

void insert(known_blocks& k, block_map& map, const block& made) noexcept {
  auto at = first_behind(map, made.begin);
  while (at != map.end() && at->first < made.end) drop(k, map, std::exchange(at, std::next(at)));
  block* b = nullptr;
  if (k.spare.size() != 0) {
    b = k.spare[k.spare.size() - 1];
    k.spare.pop();
  } else {
    b = static_cast<block*>(k.memory.take(sizeof(block)));
  }
  ::new (b) block(part_of(made, made.begin, made.end));
  map.emplace(made.begin, b);
}

enum class middle : std::uint8_t { removed, covered, uncovered };

/// Cuts what the map has of these addresses out of its blocks. The remains at both ends stay, and the middle unless it
/// is to be removed.
void cut_out(known_blocks& k, block_map& map, std::uintptr_t begin, std::uintptr_t end,
             middle what = middle::removed) noexcept {
  if (begin >= end) return;
  auto at = first_behind(map, begin);
  while (at != map.end() && at->first < end) {
    const auto here = std::exchange(at, std::next(at));
    block& b = *here->second;
    block old = part_of(b, b.begin, b.end);
    const bool first_cut = b.whole == nullptr && (b.begin < begin || end < b.end);
    if (first_cut) old.whole = &b;
    drop(k, map, here, first_cut);
    if (old.begin < begin) insert(k, map, part_of(old, old.begin, begin));
    if (what != middle::removed) {
      block kept = part_of(old, std::max(old.begin, begin), std::min(old.end, end));
      kept.covered = what == middle::covered;
      insert(k, map, kept);
    }
    if (end < old.end) insert(k, map, part_of(old, end, old.end));
  }
}

/// Drops all parts of the block that begins here. Returns the first, which the lock keeps; null if there is none.
const block* drop_all(known_blocks& k, block_map& map, const void* begin) noexcept {
  auto at = map.find(reinterpret_cast<std::uintptr_t>(begin));
  if (at == map.end()) return nullptr;
  const block* const b = at->second;
  const std::uintptr_t end = b->origin + b->bytes;
  do drop(k, map, std::exchange(at, std::next(at)));
  while (at != map.end() && at->first < end);
  return b;
}

block* find_in(const block_map& map, std::uintptr_t address) noexcept {
  auto at = map.upper_bound(address);
  if (at == map.begin()) return nullptr;
  --at;
  return address < at->second->end ? at->second : nullptr;
}

block* find(const known_blocks& k, std::uintptr_t address) noexcept {
  block* b = find_in(k.small, address);
  if (b == nullptr) b = find_in(k.large, address);
  if (b == nullptr || b->covered) {
    if (block* const of_thread = find_in(k.threads, address)) b = of_thread;
  }
  return b;
}

}  // namespace

bool active() noexcept {
  static const bool is = std::getenv("KITH_RECORD_ADDRESSES") != nullptr;
  return is;
}

void add_block(const block& made) noexcept {
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  block_map& map = map_of(k, made.kind);
  if (&map == &k.threads) {
    cut_out(k, k.threads, made.begin, made.end);  // a thread's data may lie on its stack
    cut_out(k, k.small, made.begin, made.end, middle::covered);
    cut_out(k, k.large, made.begin, made.end, middle::covered);
  }
  insert(k, map, made);
}

void remove_block(const void* begin, block::what kind) noexcept {
  if (inside) return;
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  drop_all(k, map_of(k, kind), begin);
}

block take_block(const void* begin, block::what kind) noexcept {
  if (inside) return {};
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  const block* const b = drop_all(k, map_of(k, kind), begin);
  if (b == nullptr) return {};
  return part_of(*b, b->origin, b->origin + b->bytes);
}

void remove_of_thread(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  cut_out(k, k.threads, begin, end);
  cut_out(k, k.small, begin, end, middle::uncovered);
  cut_out(k, k.large, begin, end, middle::uncovered);
}

void remove_mapped(std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (inside) return;
  const recorder_section section;
  const std::lock_guard guard(known().lock);
  remove_mapped_locked(begin, end);
}

void remove_mapped_locked(std::uintptr_t begin, std::uintptr_t end) noexcept {
  known_blocks& k = known();
  cut_out(k, k.small, begin, end);
  cut_out(k, k.large, begin, end);
  cut_out(k, k.threads, begin, end);
}

void move_mapped_locked(std::uintptr_t from, std::size_t old_bytes, std::uintptr_t to, std::size_t bytes) noexcept {
  known_blocks& k = known();
  const std::size_t kept = std::min(old_bytes, bytes);
  if (from == to) {
    remove_mapped_locked(to + kept, to + std::max(old_bytes, bytes));
    return;
  }
  remove_mapped_locked(to, to + bytes);
  for (auto at = first_behind(k.large, from); at != k.large.end() && at->first < from + kept; ++at) {
    const block& b = *at->second;
    const std::uintptr_t begin = std::max(b.begin, from) - from + to, offset = std::max(b.begin, from) - b.origin;
    block moved = part_of(b, begin, std::min(b.end, from + kept) - from + to);
    moved.origin = begin - std::min(offset, begin);  // not below address 0
    moved.number = 0;
    moved.whole = nullptr;
    moved.covered = false;
    insert(k, k.large, moved);
  }
  remove_mapped_locked(from, from + old_bytes);
}

block* find_block(std::uintptr_t address) noexcept {
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  block* const b = find(k, address);
  if (b != nullptr) expect_number(k, *b);
  return b;
}

std::uintptr_t begin_of_block(std::uintptr_t address) noexcept {
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  const block* const b = find(k, address);
  return b == nullptr ? 0 : b->begin;
}

std::uint64_t next_outside(std::uint64_t where) noexcept {
  const recorder_section section;
  known_blocks& k = known();
  const std::lock_guard guard(k.lock);
  return k.outside[where]++;
}

spin_mutex& lock_of_blocks() noexcept { return known().lock; }

void for_each_touched(void (*each)(void* with, const block&), void* with) {
  known_blocks& k = known();
  for (std::size_t i = 0;; ++i) {
    const block* b = nullptr;
    {
      const recorder_section section;
      const std::lock_guard guard(k.lock);
      if (i == k.touched.size()) return;
      b = k.touched[i];
    }
    each(with, *b);
  }
}

}  // namespace kith::tracing
