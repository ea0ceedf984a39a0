// One queue for each worker, from which others may steal: what `source` and `dfifo` have in common.
#pragma once

#include "policy/team.hpp"
#include "queue/look.hpp"
#include "queue/shared_queue.hpp"

#include <memory>
#include <vector>

namespace kith {

template <class World>
class worker_queues {
 public:
  using worker = typename World::worker;

  worker_queues(const team& workers, queue_order order, bool steals)
      : steals_(steals), probes_(static_cast<std::size_t>(workers.size())) {
    for (int w = 0; w < workers.size(); ++w) {
      queues_.push_back(std::make_unique<shared_queue<World>>(worker_set::only(worker_id(w)), order, worker_id(w)));
      if (steals) queues_.back()->add_thieves(workers.everybody(), 0);
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
  std::vector<std::unique_ptr<shared_queue<World>>> queues_;
  std::vector<cursor> probes_;
};

}  // namespace kith
