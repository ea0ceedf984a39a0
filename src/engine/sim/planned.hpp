// The policy that follows a plan. It needs the whole program in advance, so it is not in policy/list.cpp.
//
// A core takes the first of its ready tasks. A core without any takes the last task of the core with the most, if the
// plan lets cores help, and else waits.
#pragma once

#include "engine/sim/plan.hpp"
#include "engine/sim/world.hpp"
#include "policy/contract/policy.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

namespace kith::sim {

class planned final : public policy<sequential::world> {
 public:
  planned(const policy_context& context, const plan& p)
      : plan_(p), everybody_(context.workers.everybody()), queues_(static_cast<std::size_t>(context.workers.size())) {
    for (int w = 0; w < context.workers.size(); ++w) alone_.push_back(worker_set::only(worker_id(w)));
  }

  data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) {
      const std::int32_t n = as_policy_task(*t).number();
      const auto i = static_cast<std::size_t>(n);
      const std::int32_t core = i < plan_.core.size() ? plan_.core[i] : -1;
      const bool known = core >= 0 && static_cast<std::size_t>(core) < queues_.size();
      const std::size_t to = known ? static_cast<std::size_t>(core) : self.id.index();
      queues_[to].emplace(known ? plan_.rank[i] : 0, n, t);
      self.meter(event::push, worker_id(static_cast<int>(to)));
      if (!self.ring(alone_[to]) && plan_.helps) self.ring(everybody_);
    }
    return nullptr;
  }

  poll_result next(worker& self) override {
    queue& mine = queues_[self.id.index()];
    if (!mine.empty()) {
      self.meter(event::pop, self.id);
      return take(mine, mine.begin());
    }
    const auto longest = std::ranges::max_element(queues_, {}, &queue::size);
    if (!plan_.helps || longest->empty()) return {poll_result::empty};
    self.meter(event::steal, worker_id(static_cast<int>(longest - queues_.begin())));
    return take(*longest, std::prev(longest->end()));
  }

 private:
  using queue = std::set<std::tuple<double, std::int32_t, task*>>;

  static poll_result take(queue& from, queue::iterator at) {
    task* const t = std::get<task*>(*at);
    from.erase(at);
    return poll_result::got(*t);
  }

  const plan& plan_;
  worker_set everybody_;
  std::vector<worker_set> alone_;  // by worker: only that one
  std::vector<queue> queues_;      // by worker
};

}  // namespace kith::sim
