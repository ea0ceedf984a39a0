// Long work of a policy, that some worker does between tasks: worker.submit(job, audience).
//
// A policy keeps the job alive until it has run, and submits it again only after that, or at the end of run() itself, which may
// then be entered by another worker before it has returned; several jobs may run at once. In
// simulated time a job takes what size() says, and its effect comes at the end of that.
#pragma once

#include "base/worker_set.hpp"

#include <cstddef>
#include <cstdint>

namespace kith {

/// What a job is about, and what it costs.
struct job_size {
  std::size_t tasks = 0;
  std::size_t dependences = 0;
  std::uint64_t nanoseconds = 0;
};

template <class Worker>
class job {
 public:
  job() = default;
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  virtual ~job() = default;
  /// Asked by whoever is about to run it.
  virtual job_size size() const = 0;
  /// Throws nothing.
  virtual void run(Worker& self) = 0;

 private:
  template <class W>
  friend void set_next(job<W>&, job<W>*) noexcept;
  template <class W>
  friend job<W>* get_next(const job<W>&) noexcept;
  job* next_ = nullptr;  // where it waits for its turn
};

template <class Worker>
void set_next(job<Worker>& j, job<Worker>* next) noexcept {
  j.next_ = next;
}
template <class Worker>
job<Worker>* get_next(const job<Worker>& j) noexcept {
  return j.next_;
}

}  // namespace kith
