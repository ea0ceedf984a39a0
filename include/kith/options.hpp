// What can be said of a task beside its accesses: its name, its place, what it waits for.
#pragma once

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace kith {

/// Names a task that was created. A value of 8 bytes; stays valid after the task has ended (waiting for an
/// ended task is no wait).
struct task_ref {
  std::uint64_t value = 0;
};

/// A kind of task, known by its name in statistics and recordings. Make one for each kernel, usually static:
/// `static const kith::task_type gemm{"gemm"};`. At most 65535 in a process. Thread-safe.
class task_type {
 public:
  explicit task_type(const char* name);
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_;
};

/// A name for a single task: tasks of equal names are of one type, made when the name is first used (the bound on types
/// holds). Thread-safe; looks the name up under a lock. Where speed matters, use a task_type.
class name {
 public:
  explicit name(const std::string& text);
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_ = 0;
};

/// The worker whose data the task uses. A hint, honoured by the policy `nabbitc`; remote accesses are counted by it.
struct color {
  int value;
};
/// The memory node that the task should run on, 0 to 254; on a machine with fewer it wraps. A hint, honoured by the
/// policy `socket`.
struct node {
  int value;
};
/// What the task costs, in nanoseconds of computing, where a program knows. Kept in recordings; a dry recording
/// (runtime_options::dry) takes it for the run itself.
struct work {
  double nanoseconds;
};
/// A few levels. Honoured by the policies that say so in `kith policies`.
enum class priority : std::uint8_t { normal, high, low };
/// The task starts after `task` has ended. Both must be children of the same parent, or `task` an earlier task
/// of an enclosing scope: an edge to something that waits for this task never ends. Both must be of the same runtime, which
/// is not checked; wait for the future of a task of another one. Behind a future: `kith::after{f.task()}`.
struct after {
  task_ref task;
};

/// Accesses whose number is known only when the program runs. The task's function gets no parameters for them.
class access_list {
 public:
  template <class P>
  void add(const access<P>& a) {
    records_.push_back(detail::internals::record(a));
  }
  std::span<const detail::access_record> records() const noexcept { return records_; }

 private:
  std::vector<detail::access_record> records_;
};

namespace detail {

/// The task starts after all of these.
struct after_all {
  std::span<const task_ref> tasks;
};

struct hints {
  std::int32_t color = -1;
  std::int16_t node = -1;
  std::uint16_t type = 0;
  std::uint8_t priority = 0;
  double work = -1;  // nanoseconds; negative: not said
};

inline void apply(hints& h, color c) noexcept { h.color = c.value; }
inline void apply(hints& h, node n) {
  if (n.value < 0 || n.value > 254) throw error("kith::node{" + std::to_string(n.value) + "}: expected 0 to 254");
  h.node = static_cast<std::int16_t>(n.value);
}
inline void apply(hints& h, work w) {
  if (!(w.nanoseconds >= 0 && w.nanoseconds < 1e18)) throw error("kith::work: expected nanoseconds, 0 or more");
  h.work = w.nanoseconds;
}
inline void apply(hints& h, priority p) noexcept { h.priority = static_cast<std::uint8_t>(p); }
inline void apply(hints& h, const task_type& t) noexcept { h.type = t.number(); }
inline void apply(hints& h, const name& n) noexcept { h.type = n.number(); }

template <class T, class... Kinds>
concept one_of = (std::is_same_v<T, Kinds> || ...);
/// What changes a task's hints.
template <class T>
concept hint = one_of<T, color, node, work, priority, task_type, name>;
/// What orders a task.
template <class T>
concept order = is_access<T> || one_of<T, access_list, after, after_all>;
/// What spawn() takes beside the function.
template <class T>
concept option = hint<T> || order<T>;

}  // namespace detail

}  // namespace kith
