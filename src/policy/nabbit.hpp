// `nabbit`: random stealing of groups, without colors.
//
// NabbitC paper, section II; also the baseline of its evaluation. A group of tasks that became ready together is
// halved again and again. The other halves wait in the worker's deque. Thieves take the largest half of a random
// victim.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/random_victims.hpp"
#include "queue/group_deque.hpp"

namespace kith {

template <class World>
class nabbit final : public policy<World> {
 public:
  using worker = typename World::worker;

  [[gnu::cold]] static void explain(explainer& e) {
    e.say_of_policy("tasks that became ready together are groups, of which thieves take halves");
    e.say_queue("its own deque");
  }

  static constexpr policy_entry about{
      .name = "nabbit",
      .paper = "NabbitC",
      .section = "II",
      .summary = "groups of tasks that became ready together, random stealing",
      .options = {},
      .explain = explain,
  };

  nabbit(const policy_context& context, const policy_options&)
      : deques_(context.workers.size(), 0, [&](worker_id w) { return context.memory_of(w); }),
        victims_(context.workers, context.seed) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }
  bool leaves_short_tasks() const override { return true; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    if (keeps_one(why)) return deques_.push_rest(tasks, self, {}, no_color);
    deques_.push(tasks, self, no_color);
    return nullptr;
  }

  poll_result next(worker& self) override {
    if (task* t = deques_.pop(self, {})) return poll_result::got(*t);
    if (victims_.none()) return {poll_result::empty};
    task* t = nullptr;
    if (deques_.steal(t, victims_.draw(self.id), self, {}, -1, false, [] { return true; }) == steal_result::got)
      return victims_.found(self.id, *t);
    return victims_.failed(self.id, deques_);
  }

 private:
  static color_number no_color(const task&) noexcept { return -1; }

  group_deques<World> deques_;
  random_victims victims_;
};

}  // namespace kith
