// What a task declares besides its accesses: its name, its node, what it waits for.
#pragma once

#include <kith/access.hpp>
#include <kith/detail/has_task.hpp>
#include <kith/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith {

/// Names a task that was created. An 8-byte value. Stays valid after the task has ended; waiting for an ended
/// task returns at once.
struct task_ref {
  std::uint64_t value = 0;
};

/// A kind of task, known by its name in statistics and recordings. Make one for each kernel, usually static:
/// `static const kith::task_type gemm{"gemm"};`. A process may have at most 65535. Thread-safe.
class task_type {
 public:
  /// Copies the name. Throws `error` for one type more than the process may have.
  explicit task_type(const char* name);
  /// The number of the type in recordings: types are numbered in the order in which they are made.
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_;
};

/// A name for a single task. Tasks with equal names are of one type, which is made when the name is first used
/// and counts towards the limit on types. Thread-safe; looks the name up under a lock. Where speed matters, use a
/// task_type.
class name {
 public:
  /// Throws `error` for one type more than the process may have.
  explicit name(const std::string& text);
  /// The number of the type of this name.
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_ = 0;
};

/// The worker whose data the task uses. A hint that the policy `nabbitc` honours. A task that has one counts
/// itself as remote if it runs on another node than that worker's (statistics).
struct color {
  int value;
};
/// The memory node that the task should run on, 0 to 254; on a machine with fewer nodes it wraps. A hint that the
/// policy `socket` honours.
struct node {
  int value;
};
/// The cost of the task, in nanoseconds of computing, if the program knows it. Kept in recordings; a dry recording
/// (runtime_options::dry) uses it instead of running the task.
struct work {
  double nanoseconds;
};
/// The order in which ready tasks are run. All policies but `replay` honour it. Tasks that run at their creation
/// (runtime_options::inline_limit) are not part of it.
enum class priority : std::uint8_t { normal, high, low };
/// The task starts after `task` has ended. Both must be children of the same parent, or `task` must be an earlier task
/// of an enclosing scope. An edge from a task that itself waits for this one is a deadlock. Both must belong to the
/// same runtime, which is not checked; for a task of another runtime, wait for its future. For the task of a future:
/// `kith::after{f.task()}`.
struct after {
  task_ref task;

  /// A task, or the task of a future. Throws `error` for a future without one.
  template <class T>
  explicit after(const T& t) : task(task_of(t)) {}

 private:
  template <class T>
  static task_ref task_of(const T& t) {
    static_assert(std::is_convertible_v<const T&, task_ref> || detail::has_task<T>,
                  "kith::after takes neither a task nor a future; write kith::after{task} with what spawn, async or "
                  "submit returned");
    if constexpr (detail::has_task<T>) {
      if (!t.valid()) throw error("kith::after: no task behind the future (it was moved from, taken, or never set)");
      return t.task();
    } else if constexpr (std::is_convertible_v<const T&, task_ref>) {
      return t;
    } else {
      return {};
    }
  }
};

/// Accesses whose number is known only when the program runs. The task's function gets no parameters for these.
class access_list {
 public:
  template <class P>
  void add(const access<P>& a) {
    records_.push_back(detail::internals::record(a));
  }
  /// Rejects an argument that is no access, at compile time, with a message that says what to write.
  template <class T>
  void add(const T&) {
    static_assert(sizeof(T) == 0,
                  "argument 1 of access_list::add is not an access; write kith::in(x), kith::out(x) or kith::inout(x)");
  }
  std::span<const detail::access_record> records() const noexcept { return records_; }

 private:
  std::vector<detail::access_record> records_;
};

}  // namespace kith
