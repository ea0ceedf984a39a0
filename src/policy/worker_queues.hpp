// One queue for each worker, from which others may steal. Shared by `source` and `dfifo`.
#pragma once

#include "policy/home_queue.hpp"
#include "policy/queue_rounds.hpp"

#include <vector>

namespace kith {

template <class World>
class worker_queues {
 public:
  using worker = typename World::worker;

  worker_queues(const policy_context& context, queue_order order, bool steals)
      : steals_(steals), probes_(context.workers.size()) {
    for (int w = 0; w < context.workers.size(); ++w) {
      queues_.push_back(make_queue<World>(context, worker_id(w), order));
      if (steals) queues_.back()->add_thieves(context.workers.everybody(), 0);
    }
  }

  std::size_t size() const noexcept { return queues_.size(); }
  shared_queue<World>& operator[](std::size_t w) const noexcept { return *queues_[w]; }

  /// Takes from the worker's own queue first; then from the following workers' queues, one per call, until one
  /// has a task.
  poll_result next(worker& self) {
    const std::size_t place = probes_.place(self.id);
    shared_queue<World>& q = *queues_[(self.id.index() + place) % size()];
    task* t = place == 0 ? q.pop(self) : q.steal(self);
    return probes_.looked(self.id, t, steals_ ? size() : 1);
  }

 private:
  bool steals_;
  std::vector<home_queue<World>> queues_;
  queue_rounds probes_;
};

}  // namespace kith
