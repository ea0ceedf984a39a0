// Bounds how many chains of tasks a node runs at once, so that their data stays in its caches.
//
// Not in the papers. A chain is a sequence of tasks that one worker runs, each mostly on data of the one before. If all
// workers of a node run chains whose data together exceeds the node's last-level caches, a task may find its data
// evicted. With fewer chains, some workers are idle, but the data of the others stays. A trial finds out which is
// faster: one node, the scout, stays within its caches for some tasks, and its throughput in bytes is compared with
// that of a node before the trial. There is no trial for chains too short to be counted in it.
#pragma once

#include "policy/auto/chain_trial.hpp"
#include "policy/auto/placed_data.hpp"
#include "policy/auto/running_mean.hpp"
#include "policy/auto/shared_tables.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/type_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// Each worker calls for itself. Shared values are updated without synchronisation, as in task_times: if two
/// workers decide at once, both may begin, and a sample may be lost. A task costs a few loads and, if its chain
/// changes its size, one addition to a counter of its node. A worker's chain counts from begin_chain() or
/// try_continue() to end_chain(); refused tasks wait for end_chain().
template <class World>
class chain_bound {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      one_of("chains", "bound|free", "whether a node runs no more chains of tasks at once than its caches hold"),
  };

  chain_bound(const policy_context& context, const policy_options& given, const shared_tables<World>& tables)
      : team_(context.workers),
        tables_(tables),
        nodes_(static_cast<std::size_t>(team_.nodes())),
        states_(static_cast<std::size_t>(team_.size())),
        bounds_(given.is("chains", "bound")) {
    for (node_id n : team_.inhabited()) nodes_[n.index()].room = team_.cache_bytes(n);
  }

  /// Called when the worker's last task made `t` ready. Returns whether the worker may continue with `t` at once; if
  /// so, it must.
  bool try_continue(const task& t, worker& self) {
    worker_state& mine = states_[self.id.index()];
    const bool linked = mine.has_most_of(t);
    statistics_of(t).linked.add(linked);
    if (linked && !may_begin(t, self)) {
      statistics_of(t).cut.fetch_add(1, relaxed);
      mine.links = 0;  // so that it does not count as ended
      return false;
    }
    add_to_chain(t, self, linked ? mine.links + 1 : 0);
    return true;
  }
  /// Whether the worker may run `t`, which waits in a queue of its node or of another.
  bool may_begin(const task& t, const worker& self) const {
    return has_room(t, self.node, states_[self.id.index()].bytes);
  }
  /// Whether node n has room for `t` besides the chains that run there, not counting `less` bytes of them. Always true
  /// if nothing else runs there.
  bool has_room(const task& t, node_id n, std::uint64_t less = 0) const {
    const node& there = nodes_[n.index()];
    if (there.room == 0 || !is_bound(statistics_of(t), n)) return true;
    const std::uint64_t others = there.running.load(relaxed) - less;
    return others == 0 || others + std::max(less, chain_of(t)) <= there.room;
  }
  /// Whether the chains that run at node n have more data than its caches hold. False if their size is not known.
  bool exceed_caches(node_id n) const {
    const node& there = nodes_[n.index()];
    return there.room != 0 && there.running.load(relaxed) > there.room;
  }
  /// Called when the worker runs `t`.
  void begin_chain(const task& t, worker& self) {
    type_statistics& type = statistics_of(t);
    if (type.cut.load(relaxed) > 0) {
      type.cut.fetch_add(-1, relaxed);  // most likely it continues one of the chains that were cut
    } else {
      type.linked.add(false);
    }
    add_to_chain(t, self, 0);
  }
  /// Ends the worker's chain, if any. Must be called before the worker sleeps, or does anything else for long.
  void end_chain(worker& self) {
    worker_state& mine = states_[self.id.index()];
    if (mine.bytes == 0) return;
    count_links(mine);
    resize(mine, self, 0);
    mine.region_count = mine.links = 0;
  }
  /// Whether tasks may wait at node n because of the bound, and there is room now.
  bool freed(node_id n) const {
    const node& there = nodes_[n.index()];
    return (any_bound_.load(relaxed) || trial_.is_at(n)) && there.running.load(relaxed) < there.room;
  }

  /// As observer::ran(). Returns true if this ended the trial: tasks that wait at this node may begin.
  bool ran(const task& t, worker& self, std::uint64_t nanoseconds) {
    const worker_state& mine = states_[self.id.index()];
    const node& here = nodes_[self.node.index()];
    if (!bounds_ || mine.links == 0 || mine.bytes == 0 || here.room == 0) return false;
    type_statistics& type = statistics_of(t);
    const std::uint64_t running = here.running.load(relaxed);
    const bool fits = running <= here.room;
    const float chains = static_cast<float>(running) / static_cast<float>(mine.bytes);
    const float speed =
        chains * static_cast<float>(placed_bytes(t)) / static_cast<float>(std::max<std::uint64_t>(nanoseconds, 1));
    if (trial_.is_at(self.node)) return add_to_trial(type, mine.settled >= trial::warm_up_tasks ? speed : 0, self);
    if (fits || type.found.load(relaxed) != verdict::none) return false;
    type.unbounded_speed.add(speed);
    if (samples_.fetch_add(1, relaxed) + 1 == samples_per_worker * static_cast<std::uint32_t>(team_.size())) {
      samples_.store(0, relaxed);
      begin_trial(self.node, type, mine.bytes);
    }
    return false;
  }

 private:
  using trial = chain_trial<World>;
  static constexpr float mostly = 0.75F;                      // a mean chain of four tasks or more
  static constexpr std::uint32_t samples_per_worker = 4;      // before a trial: enough for four types
  static constexpr std::uint64_t max_workers_per_chain = 4;   // no trial if fewer than one worker in four would run
  static constexpr std::uint32_t tasks_until_size_known = 4;  // of a chain

  enum class verdict : std::uint8_t { none, free, bound };

  struct type_statistics {
    // Bytes of the last chain with a task of this type; 0: not known.
    typename World::template shared<std::uint64_t> chain{0};
    // Share of its tasks that lately continued a chain.
    running_share<World> linked{0};
    // Bytes per nanosecond that a node processes without a bound; 0: not known.
    running_mean<World> unbounded_speed;
    // Links of the chains that have ended with a task of this type; 0: none has.
    running_mean<World> links;
    // Waiting tasks that would have continued a chain.
    typename World::template shared<std::int32_t> cut{0};
    typename World::template shared<verdict> found{verdict::none};
  };
  struct alignas(false_sharing_range) node {
    typename World::template shared<std::uint64_t> running{0};  // bytes of the node's chains
    std::uint64_t room = 0;                                     // bytes of the caches; 0: not known
  };
  struct alignas(false_sharing_range) worker_state {
    std::uint64_t bytes = 0;    // of the chain, as counted in `running`
    std::uint64_t largest = 0;  // the most bytes of any of its tasks
    std::uint16_t last = 0;     // the type of its last task
    std::uint32_t links = 0;    // its tasks before this one
    std::uint32_t settled = 0;  // its tasks that began while the node's chains fitted
    std::array<std::uint32_t, 4> regions{};
    std::size_t region_count = 0;  // valid entries of `regions`: the first regions of its last task

    bool has_most_of(const task& t) const {
      std::uint64_t common = 0, all = 0;
      for (kept_access a : t.access_list()) {
        if (!has_home(a)) continue;
        all += a.bytes();
        common += std::find(regions.begin(), regions.begin() + region_count, a.region) != regions.begin() + region_count
                      ? a.bytes()
                      : 0;
      }
      return 2 * common >= all;
    }
    void remember_regions(const task& t) {
      region_count = 0;
      for (kept_access a : t.access_list()) {
        if (has_home(a) && region_count < regions.size()) regions[region_count++] = a.region;
      }
    }
  };

  const type_statistics& statistics_of(const task& t) const { return types_[t.type]; }
  type_statistics& statistics_of(const task& t) { return types_[t.type]; }
  /// The bytes that a chain with `t` counts for until its size is known: those of the last one with tasks of this type.
  std::uint64_t chain_of(const task& t) const {
    const std::uint64_t last_chain = statistics_of(t).chain.load(relaxed);
    return last_chain != 0 ? last_chain : placed_bytes(t);
  }
  bool is_bound(const type_statistics& type, node_id n) const {
    return trial_.is_at(n) ? type.linked.get() > mostly : type.found.load(relaxed) == verdict::bound;
  }
  /// The worker runs `t`, the next task of its chain after so many.
  void add_to_chain(const task& t, worker& self, std::uint32_t links) {
    worker_state& mine = states_[self.id.index()];
    if (links == 0) count_links(mine);
    mine.links = links;
    mine.last = t.type;
    resize(mine, self, size_with(t, mine));
    const node& here = nodes_[self.node.index()];
    mine.settled = links == 0 ? 0 : mine.settled + (here.running.load(relaxed) <= here.room ? 1 : 0);
    mine.remember_regions(t);
  }
  /// The bytes that the worker's chain counts for, now that `t` belongs to it.
  std::uint64_t size_with(const task& t, worker_state& mine) {
    const std::uint64_t own = tables_.own_bytes(t);
    mine.largest = mine.links == 0 ? own : std::max(mine.largest, own);
    auto& last_chain = statistics_of(t).chain;
    if (mine.links >= tasks_until_size_known) {
      last_chain.store(mine.largest, relaxed);
      return mine.largest;
    }
    const std::uint64_t expected = last_chain.load(relaxed) != 0 ? last_chain.load(relaxed) : own;
    return std::max(mine.links == 0 ? 0 : mine.bytes, expected);
  }
  /// Called when the worker's chain has ended by itself.
  void count_links(const worker_state& mine) {
    if (mine.links > 0) types_[mine.last].links.add(static_cast<float>(mine.links));
  }
  void resize(worker_state& mine, const worker& self, std::uint64_t bytes) {
    if (bytes != mine.bytes)
      nodes_[self.node.index()].running.fetch_add(bytes - std::exchange(mine.bytes, bytes), relaxed);
  }

  /// Begins a trial at node n with chains of this size, unless another is under way, or it would be in vain.
  void begin_trial(node_id n, type_statistics& type, std::uint64_t chain) {
    if (trial_.under_way() || type.linked.get() < mostly) return;
    if (type.links.get() != 0 && type.links.get() < trial::warm_up_tasks) return;  // they end before they could count
    if (nodes_[n.index()].room * max_workers_per_chain < chain * static_cast<std::uint64_t>(team_.working_at(n))) {
      type.found.store(verdict::free, relaxed);
      return;
    }
    trial_.begin(n);
  }
  /// Adds a task of the scout to the trial. `speed` is 0 if it does not count. True if that ended the trial.
  bool add_to_trial(const type_statistics& type, float speed, const worker& self) {
    const float before = type.unbounded_speed.get();
    const trial_result found = trial_.add(before != 0 ? speed / before : 0, team_.working_at(self.node));
    if (found == trial_result::none_yet) return false;
    const bool pays = found == trial_result::faster;
    for (type_statistics& each : types_) {
      if (each.unbounded_speed.get() != 0 && each.found.load(relaxed) == verdict::none)
        each.found.store(pays ? verdict::bound : verdict::free, relaxed);
    }
    if (pays) any_bound_.store(true, relaxed);
    trial_.end();
    return true;
  }

  const team& team_;
  const shared_tables<World>& tables_;
  type_table<type_statistics> types_;
  std::vector<node> nodes_;
  std::vector<worker_state> states_;
  const bool bounds_;
  typename World::template shared<bool> any_bound_{false};
  typename World::template shared<std::uint32_t> samples_{0};  // of unbounded_speed since the last trial
  trial trial_;
};

}  // namespace kith
