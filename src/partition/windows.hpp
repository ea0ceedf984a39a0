// Windows of tasks: collected as tasks are created, partitioned by a job, kept until each task has its node.
//
// RIP paper, section 4.3. A task that is created joins the open window. The window is closed when it is full, at a
// wait, when the throttle holds up a creator, or when a worker starves while the window does not grow. A job partitions
// the closed windows, one after the other. A task that is ready before its part is known waits in the temporary queue;
// the job takes it from there.
//
// Any worker may call anything but release(), which the job calls. Invariants:
//  W1  All state is under the lock, which is held only briefly. The job takes its window out, partitions it without the
//      lock, and then notes the parts of a few tasks at a time.
//  W2  A task is known from add() until its part is passed on, once: by answer_for() or by release(). Its slot is not
//      used again before that.
//  W3  At most one job is submitted. Windows are partitioned in their order, so that fixed vertices have parts.
//  W4  While tasks of the open window wait, a worker that finds nothing to do does not sleep, but counts its
//      searches in vain: starves().
#pragma once

#include "events/event.hpp"
#include "partition/byte_flow.hpp"
#include "partition/partition.hpp"
#include "queue/job.hpp"
#include "queue/starvation_watch.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::partition {

struct window_rules {
  std::size_t size = 0;            // of a window; 0: found automatically
  std::size_t first = 0;           // more tasks in the first window
  std::size_t intersection = 0;    // tasks of the previous window that are fixed vertices
  bool half_intersection = false;  // half of the previous window instead
  bool moving = false;             // windows follow each other; else there is only one
  method first_method = method::scotch, next_method = method::greedy;
};

template <class World>
class windows final : public job<typename World::worker> {
 public:
  using worker = typename World::worker;
  /// Queues a ready task whose part is known. A part of -1: partitioning failed.
  using release_call = std::function<void(task&, std::int32_t part, worker& self)>;

  /// With size 0, a window ends when its data was written this often on average (by bytes): once to initialise
  /// it, and in two rounds of work on it. It must have a few tasks for each worker.
  static constexpr double enough_writes = 3;
  static constexpr std::size_t most_tasks = 1 << 14;
  /// A window that does not grow is closed after this many searches of one worker in vain.
  static constexpr std::uint32_t most_failed_searches = 1024;

  windows(window_rules rules, targets onto, const region_table& regions, int workers, worker_set everybody,
          release_call release)
      : rules_(rules),
        onto_(std::move(onto)),
        least_(4 * static_cast<std::size_t>(workers)),
        everybody_(std::move(everybody)),
        release_(std::move(release)),
        flow_(regions),
        watches_(static_cast<std::size_t>(workers)) {}

  /// Must be called when a task is created.
  void add(task& t, worker& self) {
    if (over_.load(relaxed)) return;
    const std::lock_guard lock(guard_);
    if (over_.load(relaxed)) return;
    const std::int64_t number = created_.load(relaxed);
    created_.store(number + 1, relaxed);
    known_.insert_or_assign(&t, known{number, unknown_part});
    known_count_.store(known_.size(), relaxed);
    open_.tasks.push_back(&t);
    flow_.add(number, open_.first, t.access_list(), [&](std::int64_t before, std::int64_t weight) {
      if (before >= open_.first) open_.edges.push_back({open_.index_of(before), open_.index_of(number), weight});
    });
    if (is_full()) {
      if (full_ == 0) full_ = rules_.size != 0 ? rules_.size : open_.tasks.size();
      close_window(self);
    }
  }

  /// Must be called when no further tasks are to be expected for a while.
  void close(worker& self) {
    if (over_.load(relaxed) || created_.load(relaxed) == closed_until_.load(relaxed)) return;
    const std::lock_guard lock(guard_);
    if (!over_.load(relaxed) && open_.added() != 0) close_window(self);
  }

  enum class answer : std::uint8_t { placed, held, unknown_task };
  /// Must be called when the task is ready. placed: `part` is its part. held: it waits, and release() follows.
  /// unknown_task: it is in no window.
  answer answer_for(task& t, worker& self, std::int32_t& part) {
    if (known_count_.load(relaxed) == 0) return answer::unknown_task;
    bool first = false;
    {
      const std::lock_guard lock(guard_);
      const auto at = known_.find(&t);
      if (at == known_.end()) return answer::unknown_task;
      part = at->second.part;
      if (part != unknown_part) {
        forget(at);
        return answer::placed;
      }
      held_.push_back(&t);
      first = held_count_.load(relaxed) == 0;
      held_count_.store(held_.size(), relaxed);
    }
    if (first) self.ring(everybody_);  // W4: wakes workers, so that one calls starves()
    return answer::held;
  }

  /// Called by a worker that has nothing else to do. True if it must look again, because tasks of the open
  /// window wait.
  bool starves(worker& self) {
    if (held_count_.load(relaxed) == 0 || over_.load(relaxed)) return false;
    const std::int64_t now = created_.load(relaxed);
    if (now == closed_until_.load(relaxed)) return false;
    if (!watches_[self.id.index()].starves(static_cast<std::uint64_t>(now), most_failed_searches)) return true;
    close(self);
    return false;
  }

  job_size size() const override {
    const std::lock_guard lock(guard_);
    return next_size_;
  }

  void run(worker& self) override {
    window w;
    std::vector<std::int32_t> fixed;
    {
      const std::lock_guard lock(guard_);
      w = std::move(closed_.front());
      closed_.pop_front();
      fixed = std::move(last_parts_);
    }
    std::vector<std::int32_t> parts = part(w, std::move(fixed));
    const bool done = !parts.empty();
    for (std::size_t i = w.fixed; i < w.tasks.size();) {
      const std::lock_guard lock(guard_);
      for (const std::size_t until = std::min(i + at_a_time, w.tasks.size()); i < until; ++i) {
        const auto at = known_.find(w.tasks[i]);
        if (at != known_.end() && at->second.number == w.first + static_cast<std::int64_t>(i))
          at->second.part = done ? parts[i] : -1;
      }
    }
    {
      const std::lock_guard lock(guard_);
      last_parts_ = std::move(parts);  // before the next window is submitted
    }
    if (done) self.meter(event::window_partitioned, {});
    for (bool first = true;; first = false) {
      std::array<std::pair<task*, std::int32_t>, at_a_time> go;
      std::size_t count = 0;
      {
        const std::lock_guard lock(guard_);
        count = take_held(go);
        if (first) {
          busy_ = false;
          submit_next(self);
        }
      }
      if (count == 0) return;
      for (std::size_t i = 0; i < count; ++i) release_(*go[i].first, go[i].second, self);
    }
  }

 private:
  static constexpr std::int32_t unknown_part = -2;
  static constexpr std::size_t at_a_time = 256;  // tasks that the job handles in one hold of the lock

  struct known {
    std::int64_t number;  // from the start of the runtime: more than 32 bits in a long run
    std::int32_t part;
  };
  using known_map = std::unordered_map<const task*, known>;  // only looked up, never walked through
  struct window {
    std::int64_t first = 0;  // number of its first task
    std::size_t fixed = 0;   // this many tasks at its start are fixed
    std::vector<const task*> tasks;
    std::vector<edge> edges;  // ends are indices into `tasks`
    std::int32_t index_of(std::int64_t number) const noexcept { return static_cast<std::int32_t>(number - first); }
    std::size_t added() const noexcept { return tasks.size() - fixed; }
  };

  void forget(typename known_map::const_iterator at) {
    known_.erase(at);
    known_count_.store(known_.size(), relaxed);
  }
  std::size_t intersection(std::size_t window_tasks) const {
    if (!rules_.moving) return 0;
    const std::size_t wanted = rules_.half_intersection ? window_tasks / 2 : rules_.intersection;
    return std::min({wanted, window_tasks, full_ == 0 ? window_tasks : full_ - 1});
  }

  bool is_full() {
    const std::size_t now = open_.tasks.size();
    if (full_ != 0) return now >= full_;
    if (rules_.size != 0) return now >= rules_.size + (open_.first == 0 ? rules_.first : 0);
    return now >= most_tasks || (now >= least_ && flow_.times_written() >= enough_writes);
  }

  void close_window(worker& self) {
    const std::int64_t until = created_.load(relaxed);
    closed_until_.store(until, relaxed);
    window next;
    if (rules_.moving) {
      next.fixed = intersection(open_.tasks.size());
      next.first = until - static_cast<std::int64_t>(next.fixed);
      next.tasks.assign(open_.tasks.end() - static_cast<std::ptrdiff_t>(next.fixed), open_.tasks.end());
      flow_.count_anew();
    } else {
      over_.store(true, relaxed);
      flow_.clear();
    }
    closed_.push_back(std::exchange(open_, std::move(next)));
    if (!busy_) submit_next(self);
  }

  /// Submits the job for the first closed window, if there is one.
  void submit_next(worker& self) {
    if (closed_.empty()) return;
    const window& w = closed_.front();
    next_size_ = {
        w.tasks.size(), w.edges.size(),
        expected_nanoseconds(w.first == 0 ? rules_.first_method : rules_.next_method, w.tasks.size(), w.edges.size())};
    busy_ = true;
    self.submit(*this, everybody_);
  }

  /// Takes the first held tasks whose parts are known, as many as there is room for. Returns how many.
  std::size_t take_held(std::span<std::pair<task*, std::int32_t>> room) {
    std::size_t count = 0;
    std::erase_if(held_, [&](task* t) {
      if (count == room.size()) return false;
      const auto at = known_.find(t);
      if (at->second.part == unknown_part) return false;
      room[count++] = {t, at->second.part};
      forget(at);
      return true;
    });
    held_count_.store(held_.size(), relaxed);
    return count;
  }

  /// Partitions the window: returns the part of each of its tasks, in their order. Empty if partitioning failed; the
  /// tasks then go where their data is. Called without the lock.
  std::vector<std::int32_t> part(window& w, std::vector<std::int32_t> fixed) const noexcept {
    try {
      const graph g = graph_of(std::vector<std::int32_t>(w.tasks.size(), 1), std::move(w.edges));
      if (w.fixed != 0) {
        const std::size_t had = std::min(fixed.size(), w.fixed);  // 0 after a window that could not be partitioned
        fixed.erase(fixed.begin(), fixed.end() - static_cast<std::ptrdiff_t>(had));
        fixed.resize(had == 0 ? 0 : w.tasks.size(), -1);
      } else {
        fixed.clear();
      }
      return parts_of({g, onto_, fixed}, w.first == 0 ? rules_.first_method : rules_.next_method);
    } catch (const std::exception& e) {
      say_failure(e);
      return {};
    }
  }

  const window_rules rules_;
  const targets onto_;
  const std::size_t least_;
  const worker_set everybody_;
  const release_call release_;

  mutable typename World::mutex guard_;
  window open_;
  std::deque<window> closed_;  // closed and not yet taken by the job
  bool busy_ = false;          // the job is submitted, or at work
  job_size next_size_{};       // of the window for which the job was submitted
  std::size_t full_ = 0;       // the size of windows after the first; 0: not known yet
  byte_flow flow_;
  known_map known_;
  std::vector<std::int32_t> last_parts_;  // of the window partitioned last
  std::vector<task*> held_;               // the temporary queue
  std::vector<starvation_watch> watches_;
  // Written under the lock, read without it:
  typename World::template shared<bool> over_{false};  // no more windows
  typename World::template shared<std::int64_t> created_{0};
  typename World::template shared<std::int64_t> closed_until_{0};
  typename World::template shared<std::size_t> known_count_{0}, held_count_{0};
};

}  // namespace kith::partition
