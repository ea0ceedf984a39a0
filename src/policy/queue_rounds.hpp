// Where each worker looks when it goes round the queues, one look per call of next(). Shared by node_queues and
// worker_queues.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "queue/poll_result.hpp"

#include <cstddef>
#include <vector>

namespace kith {

class queue_rounds {
 public:
  explicit queue_rounds(int workers) : at_(static_cast<std::size_t>(workers)) {}

  /// The place in the worker's round where it looks next. 0: its own queue, with which the round begins.
  std::size_t place(worker_id w) const noexcept { return at_[w.index()].next; }
  /// The answer of next() after a look there, which has found `t` or nothing. The round has so many queues. It ends
  /// with a task, or after the last queue.
  poll_result looked(worker_id w, task* t, std::size_t queues) noexcept {
    std::size_t& next = at_[w.index()].next;
    next = t != nullptr || next + 1 >= queues ? 0 : next + 1;
    return poll_result::at(t, next == 0 ? poll_result::empty : poll_result::retry);
  }

 private:
  struct alignas(false_sharing_range) cursor {
    std::size_t next = 0;
  };
  std::vector<cursor> at_;  // by worker
};

}  // namespace kith
