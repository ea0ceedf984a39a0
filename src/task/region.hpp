// Regions: named bytes, and the node that is their home.
//
// One table for each engine. A region is found by its first address and never moves or disappears; its index fits 32
// bits. Any thread may look up; the first look-up of an address takes a lock of its shard, later ones come from the
// scopes' trackers and take none.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace kith {

class task;

/// Named bytes. `home` is written once for each placement, by whoever places the region first.
struct region {
  const void* address = nullptr;
  std::uint64_t bytes = 0;
  atomic<std::int32_t> home{-1};

  /// Tasks of one scope with commutative access exclude each other: who waits while one of them holds the region.
  struct turn {
    const void* scope;
    std::vector<task*> next;
  };
  std::mutex guard;  // of `turns`
  std::vector<turn> turns;

  node_id home_node() const noexcept { return node_id(home.load(relaxed)); }
  /// Makes `n` the home unless there is one; true if it was placed now.
  bool place(node_id n) noexcept {
    std::int32_t none = -1;
    return home.load(relaxed) < 0 && home.compare_exchange_strong(none, n.value, relaxed);
  }
};

class region_table {
 public:
  region_table();
  ~region_table();
  /// The index (not 0) of the region that starts at `address`; made, with this length, if there is none.
  std::uint32_t find(const void* address, std::uint64_t bytes);
  region& operator[](std::uint32_t index) const noexcept {
    return chunks_[index / chunk_size].load(acquire)[index % chunk_size];  // acquire: pairs with make()
  }
  /// One more than the last index. While nobody else uses the table.
  std::uint32_t count() const noexcept { return used_; }

 private:
  static constexpr std::uint32_t chunk_size = 1 << 12;
  static constexpr std::uint32_t chunks = 1 << 14;
  static constexpr std::size_t shards = 64;
  struct alignas(apart) shard {
    std::mutex guard;
    std::unordered_map<const void*, std::uint32_t> index_of;
  };
  std::uint32_t make(const void* address, std::uint64_t bytes);

  std::unique_ptr<atomic<region*>[]> chunks_;
  std::array<shard, shards> shards_;
  std::mutex growing_;
  std::uint32_t used_ = 1;
};

}  // namespace kith
