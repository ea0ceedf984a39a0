// Regions: named bytes, and the node that is their home.
//
// Each engine has one table. A region is found by its first address, and never moves or disappears; its index
// fits 32 bits. Any thread may look up. The first look-up of an address takes the lock of its shard; later ones
// use the scopes' trackers and take no lock.
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
struct page_map;  // memory/page_map.hpp

/// Named bytes. `home` is written by the thread that first places the region; after that by src/memory, when
/// pages were moved or memory was given back, and where a home is found to be elsewhere. One cache line.
struct alignas(64) region {
  static constexpr std::int16_t no_home = -1, several_homes = -2;
  static constexpr std::int16_t not_overwritten = -2;
  static constexpr std::uint8_t stays = 255;  // of `remote_uses`: its pages could not be moved

  const void* address = nullptr;
  atomic<std::uint64_t> bytes{0};  // the most bytes named since the memory there was allocated
  atomic<std::int16_t> home{no_home};
  atomic<std::int16_t> recorded{no_home};  // the home that the recording has
  atomic<std::uint8_t> remote_uses{0};     // for `auto`: by tasks of other nodes, in a row; or `stays`
  atomic<bool> move_asked{false};          // a policy asks: its pages go where the next task that uses it runs
  atomic<bool> to_bind{false};             // once it has a home, its first writer binds its pages there
  atomic<bool> promised{false};            // a policy has sent a task there, but no task has used it yet
  atomic<const page_map*> block{nullptr};  // the allocation that contains it; null: only first touch decides its home
  atomic<std::int16_t> writer{-1};  // the worker that last began a task that writes it, if the policy asks; -1: none
  // For `auto`: twice the node of the last task that overwrote it away from its home (-2: none has), and 1 more if it
  // was most of the data of a task.
  atomic<std::int16_t> overwritten{not_overwritten};

  /// The tasks of one scope that have commutative access: one holds the region, and the others wait.
  struct turn {
    const void* scope;
    task *first = nullptr, *last = nullptr;  // waiting tasks, linked by set_next()
  };
  spin_mutex guard;  // protects `turns`
  std::vector<turn> turns;

  /// The node as `home` and `recorded` have it.
  static std::int16_t number_of(node_id n) noexcept { return static_cast<std::int16_t>(n.value); }
  /// The home; none if the region has none, or several.
  node_id home_node() const noexcept { return node_id(home.load(relaxed)); }
  /// Whether a policy has asked that its pages move. Only once: the caller moves them.
  bool take_move_request() noexcept { return move_asked.load(relaxed) && move_asked.exchange(false, relaxed); }
  /// Makes `n` the home unless there is one already; true if this call placed it.
  bool set_home(node_id n) noexcept {
    std::int16_t expected = no_home;
    return home.load(relaxed) == no_home && home.compare_exchange_strong(expected, number_of(n), relaxed);
  }
  /// Called when the memory there is new, or gone. `map` is its allocation (null: none of the engine's); `binds`: its
  /// first writer binds it. No task has used it.
  void reset(const page_map* map, bool binds, std::int16_t new_home) noexcept {
    block.store(map, relaxed);
    to_bind.store(binds, relaxed);
    promised.store(false, relaxed);
    writer.store(-1, relaxed);
    overwritten.store(not_overwritten, relaxed);
    remote_uses.store(0, relaxed);
    move_asked.store(false, relaxed);
    home.store(new_home, relaxed);
  }
};
static_assert(sizeof(region) == 64);

class region_table {
 public:
  region_table();
  ~region_table();
  /// The index (not 0) of the region that starts at `address`. Makes the region if there is none. Settles it again if
  /// more bytes are named than before (part of an array, and then all of it). Returns 0 for 0 bytes. If it throws, no
  /// region was made.
  std::uint32_t find(const void* address, std::uint64_t bytes);
  /// Adds a region that find() does not find; its index is one more than that of the last region. Does not
  /// settle it. No other thread may be using the table.
  std::uint32_t append(const void* address, std::uint64_t bytes);
  region& operator[](std::uint32_t index) const noexcept {
    return chunks_[index / chunk_size].load(acquire)[index % chunk_size];  // acquire: pairs with append()
  }
  /// One more than the last index. No other thread may be using the table.
  std::uint32_t count() const noexcept { return used_; }

  /// `settle` is called for each new region before any thread can find it, and when more bytes of one are
  /// named. Must be set before the table is used.
  void settle_with(std::function<void(region&)> settle) { settle_ = std::move(settle); }
  /// Calls each(region) for the regions that begin in the range, in no particular order. Thread-safe. Holds a
  /// lock, so `each` must make no region.
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
  std::unordered_map<std::uintptr_t, std::vector<std::uint32_t>> beginning_in_;  // by stretch of 2^21 addresses
  std::function<void(region&)> settle_;
};

}  // namespace kith
