// One queue for each worker, from which others may steal. Shared by `source` and `dfifo`.
#pragma once

#include "policy/home_queue.hpp"
#include "queue/poll_result.hpp"

#include <vector>

namespace kith {

template <class World>
class worker_queues {
 public:
  using worker = typename World::worker;

  worker_queues(const policy_context& s, queue_order order, bool steals)
      : steals_(steals), probes_(static_cast<std::size_t>(s.workers.size())) {
    for (int w = 0; w < s.workers.size(); ++w) {
      queues_.push_back(make_queue<World>(s, worker_id(w), order));
      if (steals) queues_.back()->add_thieves(s.workers.everybody(), 0);
    }
  }

  std::size_t size() const noexcept { return queues_.size(); }
  shared_queue<World>& operator[](std::size_t w) const noexcept { return *queues_[w]; }

  /// Takes from the worker's own queue first; then from the following workers' queues, one per call, until one
  /// has a task.
  poll_result next(worker& self) {
    std::size_t& probe = probes_[self.id.index()].next;
    shared_queue<World>& q = *queues_[(self.id.index() + probe) % size()];
    task* t = probe == 0 ? q.pop(self) : q.steal(self);
    probe = t != nullptr || !steals_ || probe + 1 == size() ? 0 : probe + 1;
    return poll_result::at(t, probe == 0 ? poll_result::empty : poll_result::retry);
  }

 private:
  struct alignas(false_sharing_range) cursor {
    std::size_t next = 0;  // 0: the worker's own queue; k: the queue of the k-th worker after it
  };
  bool steals_;
  std::vector<home_queue<World>> queues_;
  std::vector<cursor> probes_;
};

}  // namespace kith
