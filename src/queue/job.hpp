// Long work of a policy, which a worker runs between tasks: worker.submit(job, audience).
//
// The policy must keep the job alive until it has run. It may submit the job again only after that, or at the end of
// run(); in the latter case another worker may enter run() before the first call returns. Several jobs may run at
// once. In simulated time a job takes as long as size() says, and takes effect at the end of that time.
#pragma once

#include "base/worker_set.hpp"

#include <cstddef>
#include <cstdint>

namespace kith {

/// The size and the cost of a job.
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
  /// Called by the worker that is about to run the job.
  virtual job_size size() const = 0;
  /// Must not throw.
  virtual void run(Worker& self) = 0;

 private:
  template <class W>
  friend void set_next(job<W>&, job<W>*) noexcept;
  template <class W>
  friend job<W>* get_next(const job<W>&) noexcept;
  job* next_ = nullptr;  // link in the list of waiting jobs
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
