// One queue for each worker, from which others may steal: what `source` and `dfifo` have in common.
#pragma once

#include "policy/home_queue.hpp"
#include "queue/look.hpp"

#include <vector>

namespace kith {

template <class World>
class worker_queues {
 public:
  using worker = typename World::worker;

  worker_queues(const surroundings& s, queue_order order, bool steals)
      : steals_(steals), probes_(static_cast<std::size_t>(s.workers.size())) {
    for (int w = 0; w < s.workers.size(); ++w) {
      queues_.push_back(make_queue<World>(s, worker_id(w), order));
      if (steals) queues_.back()->add_thieves(s.workers.everybody(), 0);
    }
  }

  std::size_t size() const noexcept { return queues_.size(); }
  shared_queue<World>& operator[](std::size_t w) const noexcept { return *queues_[w]; }

  /// The worker's own queue first; then, one a call, the following workers' until one has a task.
  look next(worker& by) {
    std::size_t& probe = probes_[by.id.index()].next;
    shared_queue<World>& q = *queues_[(by.id.index() + probe) % size()];
    task* t = probe == 0 ? q.pop(by) : q.steal(by);
    probe = t != nullptr || !steals_ || probe + 1 == size() ? 0 : probe + 1;
    return look::at(t, probe == 0 ? look::empty : look::retry);
  }

 private:
  struct alignas(apart) cursor {
    std::size_t next = 0;  // 0: the own queue; k: that of the k-th worker after it
  };
  bool steals_;
  std::vector<home_queue<World>> queues_;
  std::vector<cursor> probes_;
};

}  // namespace kith
