// Finds tables: regions that so many tasks use, without one waiting for another (they only read them, or update them
// concurrently), that it is cheaper to have them in the caches of all nodes than to run all these tasks at one.
//
// To have a region of T bytes in the caches of P nodes moves P T bytes, whatever the number of tasks. To run the tasks
// where the region is moves their other data there. So a region is a table once the tasks that use it, and were placed
// since it was written last, have P T bytes of other data. It must stay in the caches meanwhile: if as many bytes of
// other such regions were named since its last use as the caches of a node have, counting begins anew. (Each row of a
// matrix is used in each iteration, but there are too many.) A table attracts no task (balanced_placement.hpp), does
// not move (moved_data.hpp), counts for no chain (chain_bound.hpp), and a worker need not leave what it has just
// written to read one at its home. When a table is written, its next version is one from the beginning, too, unless
// the last one turned out not to be.
#pragma once

#include "policy/auto/placed_data.hpp"
#include "policy/auto/running_mean.hpp"
#include "policy/contract/policy.hpp"
#include "policy/type_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace kith {

/// All workers share it and update it without synchronisation: a table may be recognised some tasks late. It keeps the
/// last region for each of 256 remainders, so it may miss a table. It writes only if something has changed.
template <class World>
class shared_tables {
 public:
  explicit shared_tables(const policy_context& context)
      : nodes_(context.workers.inhabited().size()), room_(least_cache(context.workers)) {}

  /// Called before the task is placed.
  void counts(const task& t) {
    const std::optional<kept_access> most = largest_shared(t);
    if (!most) return;
    const std::uint64_t other = traffic_bytes(t) - weight_of(most->how) * most->bytes();
    if (other == 0) return;  // wherever it runs, it moves nothing but the region
    slot& at = slot_of(*most);
    std::uint64_t use = at.use.load(relaxed);
    const std::uint32_t named = named_.load(relaxed), since = named - at.named.load(relaxed);
    if (region_of(use) != most->region || since > room_) {
      use = about(most->region, 0, false);
      named_.store(named + kilobytes(most->bytes()), relaxed);
    }
    if (const std::uint32_t now = named_.load(relaxed); at.named.load(relaxed) != now) at.named.store(now, relaxed);
    if (!pays(use, *most)) use = about(most->region, other_of(use) + kilobytes(other), was_table(use));
    if (use != at.use.load(relaxed)) at.use.store(use, relaxed);
  }
  /// Called when a worker begins the task.
  void begins(const task& t) {
    for (kept_access a : t.access_list()) {
      if (has_home(a) && !may_share(a)) begin_version(a);
    }
    if (const std::optional<kept_access> most = largest_shared(t)) types_[t.type].add(is_table(*most));
  }

  /// Whether the region is a table to a task that has this access to it.
  bool is_table(const kept_access& a) const {
    if (!may_share(a)) return false;
    const std::uint64_t use = slot_of(a).use.load(relaxed);
    return region_of(use) == a.region && is_one(use, a);
  }
  /// The bytes of the task's data that can have a home, without its table.
  std::uint64_t own_bytes(const task& t) const {
    const std::uint64_t all = placed_bytes(t);
    const std::optional<kept_access> most = largest_shared(t);
    return most && is_table(*most) ? all - most->bytes() : all;
  }
  /// Whether most tasks of this type that began lately had a table as most of their data.
  bool mostly_uses_tables(std::uint16_t type) const { return types_[type].get() >= 0.5F; }

 private:
  struct slot {
    // The region; the kilobytes of the other data of its users, up to the first that made it a table; and whether the
    // version before was one.
    typename World::template shared<std::uint64_t> use{0};
    typename World::template shared<std::uint32_t> named{0};  // the value of named_ at its last use
  };
  struct share : running_share<World> {
    share() : running_share<World>(0) {}
  };

  static std::uint64_t about(std::uint32_t region, std::uint32_t other, bool was_table) noexcept {
    return std::uint64_t{region} << 32 | std::uint64_t{other & most_other} << 1 | (was_table ? 1 : 0);
  }
  static constexpr std::uint32_t most_other = std::numeric_limits<std::int32_t>::max();
  static std::uint32_t region_of(std::uint64_t use) noexcept { return static_cast<std::uint32_t>(use >> 32); }
  static std::uint32_t other_of(std::uint64_t use) noexcept { return static_cast<std::uint32_t>(use) >> 1; }
  static bool was_table(std::uint64_t use) noexcept { return (use & 1) != 0; }
  static std::uint32_t kilobytes(std::uint64_t bytes) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / 1024, most_other / 2));
  }

  bool is_one(std::uint64_t use, const kept_access& a) const noexcept { return was_table(use) || pays(use, a); }
  /// Whether the other data of its users is worth having it at all nodes.
  bool pays(std::uint64_t use, const kept_access& a) const noexcept {
    return std::uint64_t{other_of(use)} * 1024 >= nodes_ * a.bytes();
  }

  static bool may_share(const kept_access& a) noexcept { return a.how == mode::in || a.how == mode::concurrent; }
  /// Called when a task begins that writes the region.
  void begin_version(const kept_access& a) {
    slot& at = slot_of(a);
    const std::uint64_t use = at.use.load(relaxed);
    if (region_of(use) != a.region) return;
    const bool is_table = other_of(use) == 0 ? was_table(use) : pays(use, a);
    if (const std::uint64_t next = about(a.region, 0, is_table); next != use) at.use.store(next, relaxed);
  }
  /// The access that others may have at the same time and that is most of the task's data, if there is one.
  static std::optional<kept_access> largest_shared(const task& t) {
    std::uint64_t all = 0;
    std::optional<kept_access> most;
    for (kept_access a : t.access_list()) {
      if (!has_home(a)) continue;
      all += a.bytes();
      if (may_share(a) && (!most || a.bytes() > most->bytes())) most = a;
    }
    return most && 2 * most->bytes() > all ? most : std::nullopt;
  }
  /// Kilobytes of the smallest node's caches.
  static std::uint32_t least_cache(const team& workers) {
    std::uint32_t least = most_other;
    for (node_id n : workers.inhabited()) {
      if (const std::uint64_t bytes = workers.cache_bytes(n); bytes != 0) least = std::min(least, kilobytes(bytes));
    }
    return least;
  }
  slot& slot_of(const kept_access& a) { return slots_[a.region % slots_.size()]; }
  const slot& slot_of(const kept_access& a) const { return slots_[a.region % slots_.size()]; }

  std::uint64_t nodes_;
  std::uint32_t room_;
  typename World::template shared<std::uint32_t> named_{0};  // kilobytes of all regions that were counted anew; wraps
  std::array<slot, 256> slots_{};
  type_table<share> types_;
};

}  // namespace kith
