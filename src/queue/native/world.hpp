// The world of real threads, for queue blocks and policies.
#pragma once

#include "base/spin_mutex.hpp"
#include "queue/native/deque.hpp"
#include "queue/native/worker.hpp"

namespace kith::native {

struct world {
  using worker = worker_view;
  using mutex = spin_mutex;
  template <class T>
  using shared = atomic<T>;  // a value that several workers read and write
  template <class T>
  using deque = work_deque<T>;
};

}  // namespace kith::native
