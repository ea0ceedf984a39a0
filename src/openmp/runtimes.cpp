#include "openmp/runtimes.hpp"

#include "api/implementation.hpp"
#include "base/environment.hpp"
#include "base/fork.hpp"
#include "base/variables.hpp"
#include "openmp/fatal.hpp"
#include "openmp/icv.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace kith::openmp {

namespace {

struct spare_runtime {
  int workers;
  std::thread::id last_used_by;  // none: a thread that has ended
  std::unique_ptr<runtime> it;
};

/// Its lock is held over fork(), and a child begins with none: it has the parent's memory, but not its threads.
class spare_runtimes {
 public:
  spare_runtimes() { keep_over_fork(lock_); }

  /// One of this size: that which the thread has had last, so that its teams keep their threads' variables, else the
  /// newest that no other thread has had, because its workers may still be awake. Null if there is none.
  std::unique_ptr<runtime> take(int workers) {
    const std::lock_guard guard(lock_);
    forget_inherited();
    std::size_t best = spare_.size();
    for (std::size_t i = spare_.size(); i-- > 0;) {
      if (spare_[i].workers != workers) continue;
      if (spare_[i].last_used_by == std::this_thread::get_id()) {
        best = i;
        break;
      }
      if (best == spare_.size() && spare_[i].last_used_by == std::thread::id()) best = i;
    }
    return best != spare_.size() ? remove(best) : nullptr;
  }

  /// Called by a thread that ends: others may have what it has had.
  void release_of_thread() noexcept {
    const std::lock_guard guard(lock_);
    for (spare_runtime& s : spare_) {
      if (s.last_used_by == std::this_thread::get_id()) s.last_used_by = {};
    }
  }

  /// Keeps the runtime. Returns those that are no longer kept: the oldest, if all together have too many workers.
  std::vector<std::unique_ptr<runtime>> give(std::unique_ptr<runtime> it, int workers) {
    std::vector<std::unique_ptr<runtime>> dropped;
    const std::lock_guard guard(lock_);
    forget_inherited();
    if (closed_) {
      leave(std::move(it));
      return dropped;
    }
    spare_.push_back({workers, std::this_thread::get_id(), std::move(it)});
    workers_ += workers;
    while (workers_ > most_workers_ && spare_.size() > 1) dropped.push_back(remove(0));
    return dropped;
  }

  /// Ends them, when the process ends; recordings are written then. Those that are lent out stay as they are.
  void close() {
    std::vector<spare_runtime> ended;
    {
      const std::lock_guard guard(lock_);
      forget_inherited();
      closed_ = true;
      ended = std::exchange(spare_, {});
    }
    for (spare_runtime& s : ended) s.it.reset();
  }

 private:
  static int processors_times(int factor) noexcept {
    return factor * static_cast<int>(std::thread::hardware_concurrency());  // reads a file
  }

  std::unique_ptr<runtime> remove(std::size_t i) {
    std::unique_ptr<runtime> found = std::move(spare_[i].it);
    workers_ -= spare_[i].workers;
    spare_.erase(spare_.begin() + static_cast<std::ptrdiff_t>(i));
    return found;
  }
  static void leave(std::unique_ptr<runtime> it) noexcept { [[maybe_unused]] runtime* const left = it.release(); }

  void forget_inherited() noexcept {
    if (std::exchange(forks_, forks()) == forks()) return;
    spare_.clear();  // their destructors do nothing
    workers_ = 0;
  }

  std::mutex lock_;
  std::uint32_t forks_ = forks();
  std::vector<spare_runtime> spare_;
  int workers_ = 0;  // of all of them
  const int most_workers_ = std::max(64, processors_times(4));
  bool closed_ = false;
};

/// Made before main(), because threads may fork while others would make it. Never destroyed, because threads may still
/// open regions while the process ends.
spare_runtimes& spare = *new spare_runtimes;

struct releases_at_end {
  bool has_had_one = false;
  ~releases_at_end() {
    if (has_had_one) spare.release_of_thread();
  }
};
thread_local releases_at_end of_thread;

struct closes_at_exit {
  ~closes_at_exit() { spare.close(); }
} const at_exit;

runtime_options options_for(int workers) {
  runtime_options o;
  o.workers = workers;
  o.oversubscribe = true;
  constexpr int looks_if_active = 1'000'000;
  if (const std::size_t bytes = stack_bytes_of_workers(); bytes != 0) o.stack_bytes = bytes;
  if (the_settings().waits_actively) o.spin = looks_if_active;
  // Members wait for each other, so all of them must be awake.
  if (!value_of(var::awake)) o.awake = 0;
  return o;
}

}  // namespace

std::size_t stack_bytes_of_workers() noexcept {
  constexpr std::int64_t least = std::int64_t{1} << 20;
  const std::int64_t set = the_settings().stack_bytes;
  return set != 0 ? static_cast<std::size_t>(std::max(set, least)) : 0;
}

lent_runtime::lent_runtime(int workers) noexcept : workers_(workers) {
  of_thread.has_had_one = true;
  try {
    std::unique_ptr<runtime> found = spare.take(workers);
    if (!found) {
      found = std::make_unique<runtime>(options_for(workers));
      if (native::engine& e = runtime::implementation::engine_of(*found); e.policy.has_gate())
        die("the policy `replay` imposes an order of tasks, and cannot run the members of a team; choose another one");
    }
    it_ = found.release();
  } catch (const std::exception& e) {
    die(e.what());
  }
}

lent_runtime::~lent_runtime() { spare.give(std::unique_ptr<runtime>(it_), workers_); }

}  // namespace kith::openmp
