// How a task is made: its closure is built in memory from the library, then it is submitted.
#pragma once

#include <kith/access.hpp>
#include <kith/detail/call_check.hpp>
#include <kith/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

enum class action : std::uint8_t {
  run,
  discard,   // destroys the closure of a task that has ended or will not run
  rehearse,  // runs the closure so that it can be run again; only for calibration
  fail,      // the task ran, then one of its children failed with std::current_exception()
};
enum class outcome : std::uint8_t {
  ended,      // the closure is destroyed
  held,       // the closure ran; discard it when the task has ended, that is, after its children
  again,      // the task has named what else it waits for (node_phase); run it again after that
  generated,  // as ended; the task has made further tasks (node_phase)
  unable,  // nothing was done: the closure cannot be rehearsed (running it changes it), or no future takes the failure
};
using task_code = outcome (*)(void* closure, action);

/// Memory for the closure of a new task.
struct draft {
  void* task;
  void* closure;
};

/// The room that a task needs for its closure and its accesses.
struct task_room {
  static constexpr std::size_t slot_bytes = 64, access_bytes = 12;
  /// What the slot has room for. For the rest, a block of the heap is taken.
  enum class slot : std::uint8_t {
    none,     // the closure is too large
    closure,  // the accesses would be too many, and none takes turns: not every engine keeps such accesses
    all,
  };

  /// For accesses that are not known yet.
  constexpr task_room(std::size_t closure_bytes, std::size_t closure_align, std::size_t number_of_accesses) noexcept
      : bytes(static_cast<std::uint32_t>(closure_bytes)),
        align(static_cast<std::uint32_t>(closure_align)),
        accesses(static_cast<std::uint32_t>(number_of_accesses)),
        fits(closure_fits(number_of_accesses * access_bytes) ? slot::all : slot::none) {}
  constexpr task_room(std::size_t closure_bytes, std::size_t closure_align,
                      std::span<const access_record> declared) noexcept
      : task_room(closure_bytes, closure_align, declared.size()) {
    if (fits == slot::all || !closure_fits(0)) return;
    for (const access_record& a : declared) {
      if (a.how == mode::commutative) return;
    }
    fits = slot::closure;
  }

  std::uint32_t bytes, align;  // of the closure
  std::uint32_t accesses;
  slot fits;

 private:
  constexpr bool closure_fits(std::size_t beside) const noexcept {
    return bytes + beside <= slot_bytes && align <= alignof(std::max_align_t);
  }
};

/// What a task declares besides its closure.
struct declared {
  constexpr declared() noexcept = default;
  constexpr declared(std::span<const access_record> by_access, std::span<const task_ref> by_task,
                     const hints& said) noexcept
      : accesses(by_access), before(by_task), h(said) {
    h.accesses = by_access.size() & 15;
  }

  std::span<const access_record> accesses;
  std::span<const task_ref> before;
  hints h;
};

class scope;
/// Names the scope that new tasks of this thread belong to: that of the running task's children.
struct running_task {};

/// The same scope. Throws if the thread runs no task.
scope& current_scope();
/// Begins a task and returns the room for its closure. The caller must then call exactly one of submit() and
/// abandon(). Throws if the thread runs no task.
draft begin(running_task, task_room);
draft begin(scope&, task_room);
task_ref submit(draft, task_code, const declared&);
void abandon(draft) noexcept;

/// A group in which the running task creates a task. The running task owns the group or belongs to it.
class filled_group {
 public:
  /// `called`: the function that the user called, for errors.
  explicit filled_group(scope& tasks, const char* called = "group::spawn()") noexcept
      : tasks_(tasks), called_(called) {}
  /// Throws unless the running task may create a task with these numbers of accesses and predecessors. Must be
  /// called first.
  void admit(std::size_t accesses, std::size_t predecessors);
  scope& tasks() const noexcept { return tasks_; }
  /// The worker (native::worker) that runs the creating task if that belongs to the group; null if the owner
  /// creates.
  void* member() const noexcept { return member_; }

 private:
  scope& tasks_;
  const char* called_;
  void* member_ = nullptr;
};
draft begin(const filled_group&, task_room);
task_ref submit(const filled_group&, draft, task_code, const declared&);
void abandon(const filled_group&, draft) noexcept;

/// The code of every task whose closure has type F. A closure that throws is also held.
template <class F>
outcome code_of(void* closure, action what) {
  F& f = *std::launder(static_cast<F*>(closure));
  if (what == action::run) [[likely]] {
    f();
    return std::is_trivially_destructible_v<F> ? outcome::ended : outcome::held;
  }
  if (what == action::discard) {
    f.~F();
    return outcome::ended;
  }
  if (what == action::rehearse) {
    if constexpr (std::is_invocable_v<const F&>) {
      std::as_const(f)();
      return outcome::held;
    }
  } else if constexpr (requires { f.take_late_failure(); }) {
    if (f.take_late_failure()) return outcome::ended;
  }
  return outcome::unable;
}

/// f bound to the parameters of its accesses, if it takes them; else f itself.
template <class F, class... P>
auto bind_parameters(F&& f, P... p) {
  using body = std::decay_t<F>;
  constexpr bool any = sizeof...(P) != 0;
  if constexpr (any && std::is_invocable_v<const body&, decltype(detail::parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() { return std::invoke(f, detail::parameter(p)...); };
  } else if constexpr (any && std::is_invocable_v<body&, decltype(detail::parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() mutable { return std::invoke(f, detail::parameter(p)...); };
  } else {
    return body(std::forward<F>(f));
  }
}

template <class... Args>
auto bind_accesses(auto&& f, const Args&... args) {
  [[maybe_unused]] auto pick = []<class A>(const A& a) {
    if constexpr (is_access<A>) {
      return std::make_tuple(internals::parameter(a));
    } else {
      return std::tuple<>();
    }
  };
  return std::apply([&](auto... p) { return detail::bind_parameters(std::forward<decltype(f)>(f), p...); },
                    std::tuple_cat(pick(args)...));
}

/// A list of items. The arguments' types give its length, or (`Open`) only their values do.
template <class T, std::size_t Most, bool Open>
struct gathered {
  T items[Most + 1];
  std::size_t count = 0;
  void add(const T& item) noexcept { items[count++] = item; }
  std::span<const T> all() const noexcept { return {items, count}; }
};
template <class T, std::size_t Most>
struct gathered<T, Most, true> {
  std::vector<T> items;
  void add(const T& item) { items.push_back(item); }
  std::span<const T> all() const noexcept { return items; }
};

/// What a task declares, gathered from the arguments of spawn().
template <class... Args>
struct declaration {
  template <class... Kinds>
  static constexpr std::size_t number = (std::size_t{0} + ... + std::size_t{one_of<Args, Kinds...>});
  static constexpr std::size_t accesses = (std::size_t{0} + ... + std::size_t{is_access<Args>});

  gathered<access_record, accesses, number<access_list> != 0> records;
  gathered<task_ref, number<after>, number<after_all> != 0> before;
  declared what;

  explicit declaration(const Args&... args) {
    // Stored directly and at once: the library reads the hints as one word, right after they were written.
    what.h = first_hints();
    (add(args), ...);
    what.accesses = records.all();
    what.before = before.all();
    if constexpr (number<access_list> != 0) what.h.accesses = what.accesses.size() & 15;
  }
  const declared& all() const noexcept { return what; }
  static constexpr hints first_hints() noexcept {
    hints h;
    h.accesses = accesses & 15;
    return h;
  }

  template <class P>
  void add(const access<P>& a) {
    records.add(internals::record(a));
  }
  void add(const access_list& l) {
    for (const access_record& r : l.records()) records.add(r);
  }
  void add(after a) { before.add(a.task); }
  void add(const after_all& a) {
    for (task_ref t : a.tasks) before.add(t);
  }
  template <hint H>
  void add(const H& said) {
    detail::apply(what.h, said);
  }
};

/// The declaration of a task that declares nothing: one object for all such tasks.
template <>
struct declaration<> {
  static constexpr declared nothing{};
  static const declared& all() noexcept { return nothing; }
};

/// `In` is running_task, a scope that the caller owns, or a filled_group. Inlined, so that what the arguments
/// declare is stored once, where submit() reads it.
template <class In, class F, class... Args>
[[gnu::always_inline]] inline task_ref create(In&& in, F&& closure, const Args&... args) {
  using body = std::decay_t<F>;
  constexpr bool fills = std::is_same_v<std::decay_t<In>, filled_group>;
  const declaration<Args...> gathered(args...);
  const declared& what = gathered.all();
  if constexpr (fills) in.admit(what.accesses.size(), what.before.size());
  const draft d = detail::begin(in, task_room(sizeof(body), alignof(body), what.accesses));
  try {
    ::new (d.closure) body(std::forward<F>(closure));
  } catch (...) {
    if constexpr (fills) {
      detail::abandon(in, d);
    } else {
      abandon(d);
    }
    throw;
  }
  if constexpr (fills) {
    return detail::submit(in, d, &code_of<body>, what);
  } else {
    return detail::submit(d, &code_of<body>, what);
  }
}

}  // namespace detail

}  // namespace kith
