// `fifo`, `lifo`, `random`: one queue for all workers.
//
// fifo: MIR's `central` (thesis ch. 3, artifact) and the baseline FIFO of hardware scheduling (Token and Reference
// scheduling, section 4). lifo: MIR's `central-stack`, its default. random: the same paper's Random, any ready task.
// Every task passes one lock: meant for comparison, not for speed.
//
// organisation=deques is the proposed hardware of that paper for fifo and random: a queue for each core, used at its
// ends. A fifo core takes the older end of its own queue, and a core without tasks the oldest end of all; so a task may
// leave before an older one of another core. random chooses the queue of a task, and the end that leaves, at random.
#pragma once

#include "base/rng.hpp"
#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/organisation.hpp"
#include "queue/shared_queue.hpp"

#include <cstdint>
#include <type_traits>

namespace kith {

/// For organisation=deques: the older a task, the higher its affinity to all cores.
template <class World>
class age_affinity : public plain_affinity<World> {
 public:
  struct task_affinity {
    std::uint64_t number;  // in ready order
  };
  age_affinity(const policy_context& /*s*/, const policy_options& /*given*/) {}

  task_affinity affinity_of(const task& /*t*/, const typename World::worker& /*self*/) {
    return {counted_.fetch_add(1, relaxed)};
  }
  static double at(const task_affinity& h, worker_id /*core*/) {
    constexpr auto all = std::uint64_t{1} << 53;  // numbers below are exact
    return static_cast<double>(all - h.number);
  }
  static double planned(const task_affinity& /*h*/, worker_id /*core*/) { return 0; }

 private:
  typename World::template shared<std::uint64_t> counted_{0};
};

/// For organisation=deques: an affinity that is drawn again at each look.
template <class World>
class chance_affinity : public plain_affinity<World> {
 public:
  struct task_affinity {};
  chance_affinity(const policy_context& context, const policy_options& /*given*/)
      : random_(context.seed, purpose::placement, 0) {}

  static task_affinity affinity_of(const task& /*t*/, const typename World::worker& /*self*/) { return {}; }
  double at(const task_affinity& /*h*/, worker_id /*core*/) { return static_cast<double>(random_.next() >> 11); }
  double planned(const task_affinity& h, worker_id core) { return at(h, core); }

 private:
  rng random_;
};

template <class World, queue_order Order>
class central final : public policy<World> {
 public:
  using worker = typename World::worker;
  using affinity = std::conditional_t<Order == queue_order::random, chance_affinity<World>, age_affinity<World>>;

  static constexpr std::string_view own_organisation = "global";
  static constexpr std::array options{
      one_of("organisation", "global|deques", "one queue; or one for each core, of which only the ends are looked at"),
      cap_option,
  };

  [[gnu::cold]] static void explain(explainer& e) {
    if (e.options.has("organisation") && e.options.is("organisation", "deques")) {
      e.say_of_policy("a queue for each core; " + e.worker_text(e.facts.worker) + " asked and took " +
                      (Order == queue_order::random ? "any end of its queue" : "the older end of its queue") +
                      " (or, if that was empty, of all queues)");
      return;
    }
    e.say_of_policy("one queue for all workers; " + e.worker_text(e.facts.worker) +
                    " asked when it was this task's turn");
  }

  static constexpr policy_entry about =
      Order == queue_order::fifo   ? policy_entry{.name = "fifo",
                                                  .paper = "MIR",
                                                  .section = "ch. 3 (central)",
                                                  .summary = "one queue, first in first out",
                                                  .options = options,
                                                  .explain = explain}
      : Order == queue_order::lifo ? policy_entry{.name = "lifo",
                                                  .paper = "MIR",
                                                  .section = "ch. 3 (central-stack)",
                                                  .summary = "one queue, last in first out",
                                                  .options = {},
                                                  .explain = explain}
                                   : policy_entry{.name = "random",
                                                  .paper = "HW",
                                                  .section = "4",
                                                  .summary = "one queue, any ready task",
                                                  .options = options,
                                                  .explain = explain};

  central(const policy_context& context, const policy_options&)
      : ready_(context.workers.everybody(), Order, {}, context.seed) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    ready_.push(tasks, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return poll_result::at(ready_.pop(self), poll_result::empty); }

 private:
  shared_queue<World> ready_;
};

}  // namespace kith
