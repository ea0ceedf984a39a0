// Tasks that start when their arguments have been delivered, one by one, by other tasks.
#pragma once

#include <kith/detail/argument.hpp>
#include <kith/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace kith {

/// What was delivered to a task, for functions that take their arguments by number. Valid while the task runs.
class arguments {
 public:
  /// The number of arguments that schedule() was given.
  std::size_t size() const noexcept { return all_.size(); }
  /// The value of argument `number`. Throws kith::error if that is a reference, or a value of another type.
  template <class T>
  T value(std::size_t number) const {
    return get<T>(number);
  }
  /// The object that argument `number` refers to: delivered by an access to one object. `T` is const for an object
  /// that is only read. Throws kith::error if the argument is anything else.
  template <class T>
  T& object(std::size_t number) const {
    return *get<T*>(number);
  }
  /// The same for an access to several objects.
  template <class T>
  std::span<T> range(std::size_t number) const {
    return get<std::span<T>>(number);
  }

 private:
  friend struct detail::argument_internals;
  explicit arguments(std::span<const detail::argument> all) noexcept : all_(all) {}
  template <class T>
  T get(std::size_t number) const {
    return detail::value_in<T>(detail::checked_argument(all_, number, detail::argument_type_of<T>));
  }

  std::span<const detail::argument> all_;
};

namespace detail {

/// Only a running task has `arguments`.
struct argument_internals {
  static arguments make(std::span<const argument> all) noexcept { return arguments(all); }
};

/// The closure of a task that waits for arguments. Gives the record back when it is destroyed.
template <class F>
struct pending_body {
  F f;
  record_holder record;
  void operator()() {
    const std::span<const argument> all = arguments_of(*record.get());
    if constexpr (std::is_invocable_v<F&, std::span<const argument>>) {
      f(all);
    } else {
      f(argument_internals::make(all));
    }
  }
};

}  // namespace detail

/// Names a task that waits for arguments. A value of 16 bytes, which may itself be delivered. Thread-safe.
class pending_task {
 public:
  pending_task() = default;
  /// Gives the task its argument `number`, from 0 on. `what` is
  ///  - an access (kith::in(x), kith::inout(x), ...): a reference to data that the task uses. Its deliverer, and the
  ///    number of bytes that it names, tell policies where to run the task (`token`, `reference`). It orders nothing:
  ///    the data may be used from the delivery on;
  ///  - kith::pass_through(access): a reference that the task only hands on. Policies do not see it;
  ///  - or a value, trivially copyable, of 16 bytes at most.
  /// The task becomes ready with its last argument. Called by the task that made the pending_tasks, or by a task that
  /// belongs to them; each argument once. Throws kith::error otherwise, if there is no such argument, and if the
  /// function takes another type there.
  /// Source: Token and Reference scheduling, section 2: tasks, argument slots, references used and passed through.
  template <class T>
  void deliver(std::size_t number, const T& what) const {
    detail::deliver(record_, generation_, number, detail::argument_of(what));
  }

 private:
  friend class pending_tasks;
  pending_task(detail::pending_record* record, std::uint32_t generation) noexcept
      : record_(record), generation_(generation) {}
  detail::pending_record* record_ = nullptr;
  std::uint32_t generation_ = 0;
};

/// The store of tasks that wait for arguments, and the group (kith::group) that they run in. One task makes it,
/// schedules tasks, waits for them and destroys it. Its tasks, and their descendants, may schedule further ones, and
/// deliver arguments to all of them. No other order exists between them.
///
/// Cost: a task costs what one of a group costs, three acquisitions of a lock of the store, and one of its own lock for
/// each argument. The constructor throws `error` if the thread runs no task. Source: Token and Reference scheduling,
/// section 2.
class pending_tasks {
 public:
  pending_tasks();
  /// Waits. Tasks that miss arguments do not run; their error, and any other that wait() did not throw, goes to the
  /// enclosing scope.
  ~pending_tasks();
  pending_tasks(const pending_tasks&) = delete;
  pending_tasks& operator=(const pending_tasks&) = delete;

  /// Makes a task of a function and as many arguments as it has parameters: `T&` for an object, `std::span<T>` for
  /// several, anything else for a value. `options` are a task_type or `name`, `color`, `node`, `priority`, `work`. A
  /// task without arguments is ready at once. Throws as group::spawn() does.
  template <class F, class... Options>
    requires detail::has_parameters<F>
  pending_task schedule(F&& f, const Options&... options) {
    using parameters = detail::parameters_in<std::decay_t<F>>;
    return make(detail::typed_call<std::decay_t<F>>{std::forward<F>(f)}, parameters::types(), parameters::count,
                options...);
  }
  /// The same for a function that takes `const kith::arguments&`, and this number of them (65535 at most).
  template <class F, class... Options>
    requires std::is_invocable_v<std::decay_t<F>&, const arguments&>
  pending_task schedule(F&& f, std::size_t number_of_arguments, const Options&... options) {
    return make(std::decay_t<F>(std::forward<F>(f)), nullptr, number_of_arguments, options...);
  }
  /// Waits until all tasks have run, and throws their first exception. The store can then be used again. Throws `error`
  /// if the running task did not make the store, and if tasks are left whose arguments no task can deliver any more
  /// (these are dropped); the error names them.
  void wait();
  /// Tasks that have not started will not run. Thread-safe, as is cancelled().
  void cancel() noexcept;
  bool cancelled() const noexcept { return tasks_.cancelled(); }

 private:
  template <class F, class... Options>
  pending_task make(F&& f, const detail::argument_types* types, std::size_t count, const Options&... options) {
    static_assert((detail::hint<Options> && ...),
                  "pending_tasks::schedule() takes a function and options; data comes by pending_task::deliver()");
    detail::record_holder record = detail::take_record(*store_, types, count);
    detail::filled_group tasks(*tasks_.scope_, "pending_tasks::schedule()");
    tasks.admit(0, 0);
    using body = detail::pending_body<std::decay_t<F>>;
    detail::pending_record* const at = record.get();
    const detail::draft d = detail::begin(tasks, detail::task_room(sizeof(body), alignof(body), count));
    try {
      ::new (d.closure) body{std::forward<F>(f), std::move(record)};
    } catch (...) {
      detail::abandon(tasks, d);
      throw;
    }
    return {at, detail::hold(tasks, d, &detail::code_of<body>, detail::declaration<Options...>(options...).all(), *at)};
  }

  group tasks_;
  std::unique_ptr<detail::pending_store> store_;
};

/// Marks a delivered reference as one that the task does not use itself (pending_task::deliver).
template <class P>
detail::passed_reference<P> pass_through(const access<P>& a) noexcept {
  return {detail::internals::parameter(a)};
}

}  // namespace kith
