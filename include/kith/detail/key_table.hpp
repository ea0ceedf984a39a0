// Maps each key to its node. The table has shards, each with its own lock and map, so that while one grows only
// its users wait.
//
// Any worker may call find_or_add(). The other functions are for one thread while no other uses the table. A
// key's hash, comparison and copy may throw; the table is then unchanged.
#pragma once

#include <kith/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace kith::detail {

/// `Entry` has a member `task`, a task_ref. Items do not move.
template <class Key, class Entry>
class key_table {
 public:
  using item = std::pair<const Key, Entry>;

  struct found {
    item& at;
    bool is_new;
    std::uint64_t hash;
  };
  /// The key's item. If it is new, its task is what reserve() returned.
  template <class Reserve>
  found find_or_add(const Key& k, Reserve&& reserve) {
    const std::uint64_t hash = hash_of(k);
    shard& s = shard_of(hash);
    std::lock_guard lock(s.guard);
    const auto [at, is_new] = s.map.try_emplace(k);
    if (is_new) {
      try {
        at->second.task = reserve();
      } catch (...) {
        s.map.erase(at);
        throw;
      }
    }
    return {*at, is_new, hash};
  }
  /// Null if there is none.
  item* find(const Key& k) {
    shard& s = shard_of(hash_of(k));
    const auto at = s.map.find(k);
    return at == s.map.end() ? nullptr : &*at;
  }
  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const shard& s : shards_) sum += s.map.size();
    return sum;
  }
  template <class F>
  void for_each(F&& f) {
    for (shard& s : shards_) {
      for (item& i : s.map) f(i);
    }
  }

 private:
  static constexpr std::size_t shards = 64;
  struct alignas(128) shard {
    std::mutex guard;
    std::pmr::monotonic_buffer_resource memory;  // the map is only destroyed as a whole
    std::pmr::unordered_map<Key, Entry> map{&memory};
  };
  static std::uint64_t hash_of(const Key& k) { return static_cast<std::uint64_t>(std::hash<Key>()(k)); }
  // The map uses the hash's low digits, so the shard uses others.
  shard& shard_of(std::uint64_t hash) noexcept { return shards_[(hash * 0x9e3779b97f4a7c15u) >> 58]; }
  std::array<shard, shards> shards_;
};

}  // namespace kith::detail
