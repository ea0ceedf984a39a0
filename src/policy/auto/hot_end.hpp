// Chooses the end of a node's queue to take from: the task queued first, or last.
//
// Not in the papers. The first is the fair choice, because tasks that others wait for are not left behind. But if a
// node goes repeatedly, in the same order, over more data than its caches hold, each task finds that its data was just
// evicted, while the task queued last uses data that was just written. Which end is faster is measured: the time per
// byte of a type's tasks, for each end.
#pragma once

#include "policy/auto/placed_data.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/type_table.hpp"
#include "queue/shared_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith {

/// All workers share it, and update it without synchronisation, as in task_times. If the nodes belong to several
/// machines, the first task is always taken: tasks then wait for the network, not for the caches.
template <class World>
class hot_end {
 public:
  using worker = typename World::worker;

  /// Only queues of the order `fifo` have a choice.
  static constexpr std::array options{
      one_of("recent", "auto|off", "whether the task queued last is taken first, where that was measured to be faster"),
  };

  hot_end(const policy_context& context, queue_order order, const policy_options& given)
      : team_(context.workers),
        measures_(given.is("recent", "auto") && order == queue_order::fifo && team_.machines().size() == 1),
        states_(static_cast<std::size_t>(team_.size())) {}

  /// The end from which the worker should take its next task, if the task queued last has this type and
  /// `waiting` tasks are queued at its node.
  queue_end choose(std::uint16_t type, std::int64_t waiting, worker& self) {
    state& mine = states_[self.id.index()];
    mine = {mine.takes, queue_end::first, false};
    if (!measures_) return mine.from;
    const bool hot = is_hot(types_[type]);
    if (waiting * (hot ? few_hot : few) <= team_.working_at(self.node)) return mine.from;
    const bool other = ++mine.takes % probe == 0;
    mine.from = hot != other ? queue_end::last : queue_end::first;
    mine.chosen = true;
    return mine.from;
  }
  /// Called when the worker runs a task that was not taken from the chosen end.
  void note_unmeasured(worker& self) { states_[self.id.index()].chosen = false; }

  /// Called when the task's body has ended, with the time that it took (observer::ran()).
  void ran(const task& t, worker& self, std::uint64_t nanoseconds) {
    const state& mine = states_[self.id.index()];
    if (!mine.chosen) return;
    mean& m = types_[t.type].taken[mine.from == queue_end::last ? 1 : 0];
    const float now = static_cast<float>(nanoseconds) / static_cast<float>(placed_bytes(t)), old = m.each.load(relaxed);
    const std::uint32_t n = std::min(m.samples.load(relaxed) + 1, enough);
    m.samples.store(n, relaxed);
    m.each.store(old + (now - old) / static_cast<float>(n), relaxed);
  }

 private:
  // There is a choice only while more than 1/2 task per worker waits, or, for a type that is hot, more than 1/8.
  static constexpr std::int64_t few = 2, few_hot = 8;
  static constexpr std::uint32_t probe = 8;   // one task in 8 is taken from the other end
  static constexpr std::uint32_t enough = 8;  // samples needed from each end, and the length of the running means
  // Hysteresis: the last end is chosen when it is 1.25 times as fast, and kept while it is at least 0.8 times as
  // fast.
  static constexpr float gain = 1.25F, stay = 0.8F;

  struct mean {
    typename World::template shared<float> each{0};  // nanoseconds a byte
    typename World::template shared<std::uint32_t> samples{0};
  };
  struct type_statistics {
    std::array<mean, 2> taken;  // first, last
    typename World::template shared<bool> hot{false};
  };
  struct alignas(false_sharing_range) state {
    std::uint32_t takes = 0;
    queue_end from = queue_end::first;
    bool chosen = false;  // the task was taken from `from`, and there was a choice
  };

  static bool is_hot(type_statistics& type) {
    const auto& [first, last] = type.taken;
    if (first.samples.load(relaxed) < enough || last.samples.load(relaxed) < enough) return false;
    const bool now = type.hot.load(relaxed);
    const bool then = first.each.load(relaxed) > (now ? stay : gain) * last.each.load(relaxed);
    if (then != now) type.hot.store(then, relaxed);
    return then;
  }

  const team& team_;
  bool measures_;
  type_table<type_statistics> types_;
  std::vector<state> states_;
};

}  // namespace kith
