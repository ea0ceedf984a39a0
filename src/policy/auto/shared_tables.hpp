// Finds tables: regions that are most of a task's data, and that tasks on several nodes use without one waiting for
// another: they only read them, or update them concurrently.
//
// A table that is read is in a node's caches once, whatever the number of tasks that read it. One that is updated moves
// with each update, wherever the tasks run. So a table attracts no task that has other data (balanced_placement.hpp),
// and a worker need not leave what it has just written to read one at its home. When a table is written, its next
// version counts as one, too, unless one node alone has used it when it is written again.
#pragma once

#include "policy/auto/placed_data.hpp"
#include "policy/auto/running_mean.hpp"
#include "policy/contract/policy.hpp"
#include "policy/type_table.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace kith {

/// All workers share it and update it without synchronisation: a table may be recognised one task late. It keeps the
/// last region for each of 256 remainders, so it may miss a table. It writes only if something has changed.
template <class World>
class shared_tables {
 public:
  using worker = typename World::worker;

  explicit shared_tables(const policy_context& context) : team_(context.workers) {}

  /// Called when the worker begins the task.
  void begins(const task& t, const worker& self) {
    for (kept_access a : t.access_list()) {
      if (has_home(a) && !may_share(a)) begin_version(a);
    }
    const std::optional<kept_access> most = largest_shared(t);
    if (!most) return;
    auto& kept = slot_of(*most);
    const std::uint64_t before = kept.load(relaxed);
    const bool known = before >> 32 == most->region;
    if (!known || (before & worker_mask) == nobody) {
      const std::uint64_t left = known ? before & was_table : 0;
      kept.store(std::uint64_t{most->region} << 32 | left | static_cast<std::uint32_t>(self.id.value), relaxed);
      types_[t.type].add(false);
      return;
    }
    std::uint64_t now = before;
    if (const worker_id first(static_cast<std::int32_t>(before & worker_mask)); first != self.id)
      now |= several_workers | (team_.node_of(first) != self.node ? several_nodes : 0);
    if (now != before) kept.store(now, relaxed);
    // That one node alone reads a region tells nothing: its tasks may have been sent there because of it.
    if (now & several_nodes) types_[t.type].add(true);
  }
  /// Whether the task, which has this access, uses a table there: several nodes use this version of the region, or used
  /// the last one, and most of what tasks of its type share are tables.
  bool is_table(const kept_access& a, const task& t) const {
    if (!may_share(a) || !are_in_all_caches(t.type)) return false;
    const std::uint64_t kept = slot_of(a).load(relaxed);
    return kept >> 32 == a.region && (kept & (several_nodes | was_table)) != 0;
  }
  /// The bytes of the task's data that can have a home, without its table.
  std::uint64_t own_bytes(const task& t) const {
    const std::uint64_t all = placed_bytes(t);
    const std::optional<kept_access> most = largest_shared(t);
    if (!most) return all;
    const std::uint64_t kept = slot_of(*most).load(relaxed);
    return kept >> 32 == most->region && kept & (several_workers | was_table) ? all - most->bytes() : all;
  }
  /// Whether most of what tasks of this type share are tables of several nodes, not data that is read once. True until
  /// some have begun.
  bool are_in_all_caches(std::uint16_t type) const { return types_[type].get() >= 0.5F; }

 private:
  // A slot has the region, the first worker that uses this version of it (or nobody), and what is known of the others.
  static constexpr std::uint64_t several_workers = 1U << 31, several_nodes = 1U << 30, was_table = 1U << 29;
  static constexpr std::uint64_t worker_mask = was_table - 1, nobody = worker_mask;

  using slot = typename World::template shared<std::uint64_t>;
  struct share : running_share<World> {  // so that the first reader of each of several tables does not decide
    share() : running_share<World>(1) {}
  };

  static bool may_share(const kept_access& a) noexcept { return a.how == mode::in || a.how == mode::concurrent; }
  /// Called when a task begins that writes the region.
  void begin_version(const kept_access& a) {
    auto& kept = slot_of(a);
    const std::uint64_t before = kept.load(relaxed);
    if (before >> 32 != a.region || (before & worker_mask) == nobody) return;
    kept.store(std::uint64_t{a.region} << 32 | ((before & several_nodes) != 0 ? was_table : 0) | nobody, relaxed);
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
  slot& slot_of(const kept_access& a) { return slots_[a.region % slots_.size()]; }
  const slot& slot_of(const kept_access& a) const { return slots_[a.region % slots_.size()]; }

  const team& team_;
  std::array<slot, 256> slots_{};
  type_table<share> types_;
};

}  // namespace kith
