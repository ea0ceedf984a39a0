// Runtime-informed partitioning. Shared by `rip-dep` and `rip-mw`.
//
// RIP paper, section 4.3. The first tasks form a window, whose graph is partitioned onto the nodes. A task of a
// window runs on its part's node, every other task where `dep` would put it. Data gets its home from the first
// task that is placed, as under `dep`. With one node nothing is partitioned (one_node.hpp). partition/windows.hpp says
// when windows close.
#pragma once

#include "partition/windows.hpp"
#include "policy/contract/policy.hpp"
#include "policy/easy_placement.hpp"
#include "policy/node_queues.hpp"
#include "policy/partition_targets.hpp"

#include <optional>

namespace kith {

template <class World>
class rip : public policy<World>, public observer<World> {
 public:
  using worker = typename World::worker;

  typename policy<World>::data_needs needs() const override { return {.homes = queues_.size() > 1}; }
  bool leaves_short_tasks() const override { return queues_.size() == 1; }
  kith::observer<World>* observer() noexcept override { return windows_ ? this : nullptr; }
  typename kith::observer<World>::subscriptions subscribes_to() const override { return {.created = true}; }

  void created(task& t, worker& self) override { windows_->add(t, self); }
  void waiting(worker& self) override {
    if (windows_) windows_->close(self);
  }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) {
      using answer = typename partition::windows<World>::answer;
      std::int32_t part = -1;
      const answer a = windows_ ? windows_->answer_for(*t, self, part) : answer::unknown_task;
      if (a != answer::held) queue_placed(*t, part, self);
    }
    return nullptr;
  }

  poll_result next(worker& self) override {
    const poll_result polled = queues_.next(self);
    if (polled.kind == poll_result::empty && windows_ && windows_->starves(self)) return {poll_result::watch, nullptr};
    return polled;
  }

 protected:
  /// The options of both policies.
  static constexpr auto common_options = joined(
      std::array{number_or("window", "auto", 1, 1 << 24,
                           "tasks that are partitioned together; auto: until data was written "
                           "three times in the mean"),
                 number("first", 0, 0, 1 << 24, "additional tasks in the first window"),
                 one_of("partitioner", "scotch|greedy", "what partitions the first window: SCOTCH, or graph growing")},
      node_queues<World>::options);

  rip(const policy_context& context, const policy_options& given, partition::window_rules rules)
      : queues_(context, given), place_(context) {
    using partition::method;
    rules.first_method = partition::available(given.word("partitioner", {method::scotch, method::greedy}));
    const partition::targets onto = targets_on(context.workers);
    if (std::ranges::count_if(onto.capacity, [](std::int32_t c) { return c != 0; }) < 2) return;
    windows_.emplace(rules, onto, context.regions, context.workers.size(), context.workers.everybody(),
                     [this](task& t, std::int32_t part, worker& self) { queue_placed(t, part, self); });
  }

  static partition::window_rules first_window(const policy_options& given) {
    partition::window_rules rules;
    rules.size = static_cast<std::size_t>(given.number_or_word("window").value_or(0));
    rules.first = static_cast<std::size_t>(given.number("first"));
    return rules;
  }

 private:
  void queue_placed(task& t, std::int32_t part, worker& self) {
    if (part < 0) {
      queues_[place_(t, self)].push(t, self);
      return;
    }
    const node_id chosen(part);
    place_.settle(t, chosen, self);
    self.meter(event::task_partitioned, {});
    queues_[chosen].push(t, self);
  }

  node_queues<World> queues_;
  easy_placement<World> place_;
  std::optional<partition::windows<World>> windows_;
};

}  // namespace kith
