// Which end of a node's queue to take from: the task that was queued first, or last.
//
// Not in the papers. The first is the fair choice: it leaves nothing behind that others wait for. But a node that goes over
// more data than its caches hold, again and again in the same order, finds of each task's data that it has just gone; what
// was queued last works on what has just been written. Which is faster is measured: how long a byte takes in tasks of a type
// that were taken from either end.
#pragma once

#include "policy/balanced_placement.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/shared_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith {

/// Shared by all workers, and updated as in task_times. Where nodes are of several machines the first is taken always: what
/// tasks wait for is the network, not the caches.
template <class World>
class hot_end {
 public:
  using worker = typename World::worker;

  /// For queues of another order than `fifo` there is nothing to choose.
  static constexpr std::array options{
      one_of("recent", "auto|off", "whether the task queued last is taken first, where that was measured to be faster"),
  };

  hot_end(const policy_context& s, queue_order order, const policy_options& given)
      : team_(s.workers),
        measures_(given.is("recent", "auto") && order == queue_order::fifo && team_.machines().size() == 1),
        kinds_(different),
        states_(static_cast<std::size_t>(team_.size())) {}

  /// Where the worker had better take its next task, if the one queued last is of this type, and so many wait at its node.
  queue_end choose(std::uint16_t type, std::int64_t waiting, worker& self) {
    state& mine = states_[self.id.index()];
    mine = {mine.takes, queue_end::first, false};
    if (!measures_) return mine.from;
    const bool hot = is_hot(kinds_[type % different]);
    if (waiting * (hot ? few_hot : few) <= team_.working_at(self.node)) return mine.from;
    const bool other = ++mine.takes % probe == 0;
    mine.from = hot != other ? queue_end::last : queue_end::first;
    mine.chosen = true;
    return mine.from;
  }
  /// What it runs now has not been taken there.
  void went_on(worker& self) { states_[self.id.index()].chosen = false; }

  /// As observer::ran().
  void timed(const task& t, worker& self, std::uint64_t nanoseconds) {
    const state& mine = states_[self.id.index()];
    if (!mine.chosen) return;
    mean& m = kinds_[t.type % different].taken[mine.from == queue_end::last ? 1 : 0];
    const float now = static_cast<float>(nanoseconds) / static_cast<float>(placed_bytes(t)), old = m.each.load(relaxed);
    const std::uint32_t n = std::min(m.samples.load(relaxed) + 1, enough);
    m.samples.store(n, relaxed);
    m.each.store(old + (now - old) / static_cast<float>(n), relaxed);
  }

 private:
  static constexpr std::size_t different = 256;  // types; those that fall together are averaged
  // The order matters less where many wait: more than a half, an eighth of a task for each worker.
  static constexpr std::int64_t few = 2, few_hot = 8;
  static constexpr std::uint32_t probe = 8;   // one take in so many is from the other end
  static constexpr std::uint32_t enough = 8;  // samples from either end; and the means run over so many
  // Hysteresis: taking the last one must be 1.25 times as fast to be chosen, and is kept while at least 0.8 times as fast.
  static constexpr float gain = 1.25F, stay = 0.8F;

  struct mean {
    typename World::template shared<float> each{0};  // nanoseconds a byte
    typename World::template shared<std::uint32_t> samples{0};
  };
  struct kind {
    std::array<mean, 2> taken;  // first, last
    typename World::template shared<bool> hot{false};
  };
  struct alignas(false_sharing_range) state {
    std::uint32_t takes = 0;
    queue_end from = queue_end::first;
    bool chosen = false;  // and there was a choice
  };

  static bool is_hot(kind& k) {
    const auto& [first, last] = k.taken;
    if (first.samples.load(relaxed) < enough || last.samples.load(relaxed) < enough) return false;
    const bool now = k.hot.load(relaxed);
    const bool then = first.each.load(relaxed) > (now ? stay : gain) * last.each.load(relaxed);
    if (then != now) k.hot.store(then, relaxed);
    return then;
  }

  const team& team_;
  bool measures_;
  std::vector<kind> kinds_;
  std::vector<state> states_;
};

}  // namespace kith
