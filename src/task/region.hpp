// Regions: named bytes, and the node that is their home.
//
// One table for each engine. A region is found by its first address and never moves or disappears; its index fits 32
// bits. Any thread may look up; the first look-up of an address takes a lock of its shard, later ones come from the
// scopes' trackers and take none.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "base/spin_mutex.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

class task;
struct placement;  // memory/placement.hpp

/// Named bytes. `home` is written by whoever places the region first; after that by the allocator (src/memory): when
/// pages were moved, and when memory was given back. One cache line.
struct alignas(64) region {
  static constexpr std::int32_t no_home = -1, several_homes = -2;

  const void* address = nullptr;
  atomic<std::uint64_t> bytes{0};  // the most that was named since the memory there was given out
  atomic<std::int32_t> home{no_home};
  atomic<std::int32_t> recorded{no_home};   // the home that a recording knows of
  atomic<const placement*> block{nullptr};  // the allocation it lies in; null: first touch decides, and nothing else
  atomic<bool> to_bind{false};              // once it has a home, whoever first writes it binds its pages there
  atomic<bool> promised{false};             // its home is where a policy sent a task; none that uses it has run yet

  /// Tasks of one scope with commutative access exclude each other: who waits while one of them holds the region.
  struct turn {
    const void* scope;
    task *first = nullptr, *last = nullptr;  // who wait, linked by set_next()
  };
  spin_mutex guard;  // of `turns`
  std::vector<turn> turns;

  /// None if it has none, or several.
  node_id home_node() const noexcept { return node_id(home.load(relaxed)); }
  /// Makes `n` the home unless there is one; true if it was placed now.
  bool place(node_id n) noexcept {
    std::int32_t none = no_home;
    return home.load(relaxed) == no_home && home.compare_exchange_strong(none, n.value, relaxed);
  }
};
static_assert(sizeof(region) == 64);

class region_table {
 public:
  region_table();
  ~region_table();
  /// The index (not 0) of the region that starts at `address`; made if there is none, and settled anew if so many bytes were
  /// not named before: part of an array, and then all of it. If it throws, a new one is not there. 0 for no bytes.
  std::uint32_t find(const void* address, std::uint64_t bytes);
  /// A region that is never looked for, and is known by its index alone: one more than that of the last one. Not settled.
  /// While nobody else uses the table.
  std::uint32_t append(const void* address, std::uint64_t bytes);
  region& operator[](std::uint32_t index) const noexcept {
    return chunks_[index / chunk_size].load(acquire)[index % chunk_size];  // acquire: pairs with make()
  }
  /// One more than the last index. While nobody else uses the table.
  std::uint32_t count() const noexcept { return used_; }

  /// Called for each new region before anybody can find it, and when more bytes of one are named. Set before the table is
  /// used.
  void settle_with(std::function<void(region&)> settle) { settle_ = std::move(settle); }
  /// Calls each(region) for those that begin in the range, in no order. Any thread; holds a lock: `each` makes no region.
  template <class Each>
  void for_each_in(const void* begin, std::uint64_t bytes, Each&& each) {
    std::lock_guard lock(growing_);
    if (bytes == 0 || used_ == 1) return;
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    const auto look = [&](const std::vector<std::uint32_t>& some) {
      for (std::uint32_t i : some) {
        region& r = (*this)[i];
        if (reinterpret_cast<std::uintptr_t>(r.address) - first < bytes) each(r);
      }
    };
    const std::uintptr_t low = first >> stretch_bits, high = (first + (bytes - 1)) >> stretch_bits;
    if (high - low >= beginning_in_.size()) {
      for (const auto& [stretch, some] : beginning_in_) look(some);
      return;
    }
    for (std::uintptr_t s = low; s <= high; ++s) {
      if (const auto at = beginning_in_.find(s); at != beginning_in_.end()) look(at->second);
    }
  }

 private:
  static constexpr std::uint32_t chunk_size = 1 << 12;
  static constexpr std::uint32_t chunks = 1 << 14;
  static constexpr std::size_t shards = 64;
  struct alignas(false_sharing_range) shard {
    std::mutex guard;
    std::unordered_map<const void*, std::uint32_t> index_of;
  };
  std::uint32_t make(const void* address, std::uint64_t bytes);
  std::uint32_t add(const void* address, std::uint64_t bytes);

  std::unique_ptr<atomic<region*>[]> chunks_;
  std::array<shard, shards> shards_;
  std::mutex growing_;
  std::uint32_t used_ = 1;
  static constexpr unsigned stretch_bits = 21;
  std::unordered_map<std::uintptr_t, std::vector<std::uint32_t>> beginning_in_;  // by stretch of addresses
  std::function<void(region&)> settle_;
};

}  // namespace kith
