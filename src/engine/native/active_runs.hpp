// The runs of graphs (array_run.hpp) that are going on in an engine, and how a worker takes part in one of them: as it
// takes a half of a join (fork_join.cpp). N3 in array_run.hpp says how long a helper may touch a run.
#pragma once

#include "base/atomic.hpp"
#include "base/spin_mutex.hpp"

#include <kith/detail/half.hpp>

#include <cstdint>
#include <vector>

namespace kith::native {

class array_run;
class worker;

/// The runs of an engine that helpers may enter.
class active_runs {
 public:
  bool any() const noexcept { return count_.load(relaxed) != 0; }
  void add(array_run& r);
  void remove(array_run& r) noexcept;
  /// Enters a run that has work for the worker, and returns it. Null if there is none, or, unless `wait_for_lock`, if
  /// another thread holds the lock.
  array_run* enter(const worker& self, bool wait_for_lock) noexcept;

 private:
  atomic<std::uint32_t> count_{0};
  spin_mutex guard_;
  std::vector<array_run*> runs_;
};

/// A worker's part in a run of another worker, as the half that take_half() takes. The worker owns it until the engine
/// ends, because it is touched after the run is over.
class run_helper final : public detail::half {
 public:
  explicit run_helper(worker& w) noexcept : half(&help), worker_(w) { prepare(nullptr); }
  bool is_free() const noexcept { return in_ == nullptr; }
  void begin(array_run& in) noexcept;

 private:
  static void help(half& h) noexcept;
  worker& worker_;
  array_run* in_ = nullptr;
};

}  // namespace kith::native
