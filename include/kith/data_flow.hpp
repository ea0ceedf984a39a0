// Tasks over the elements of distributed arrays, ordered by what they access.
//
// docs/places.md, "Data-flow across places", is the tutorial. Beyond the ADS paper, whose activities are ordered by
// finish alone.
#pragma once

#include <kith/access.hpp>
#include <kith/activity.hpp>
#include <kith/detail/flow_cache.hpp>
#include <kith/distributed_array.hpp>
#include <kith/task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

struct data_flow_options {
  /// From so many tasks on that have not ended, spawn() waits until half of them have, and runs other tasks meanwhile.
  /// At least 1. Fewer are under way: to each other place as many as its buffer has room for (place_options).
  std::uint64_t most_tasks = 4096;
  /// The bytes of other places' elements that a place keeps for further tasks.
  std::uint64_t cache_bytes = 256 << 20;
};

namespace detail {

/// An access of a task that is being declared.
struct flow_request {
  std::uint64_t array = 0, first = 0, count = 0;
  mode how = mode::in;
  std::uint64_t read = 0, written = 0;  // versions
};

/// The order of the tasks, at the place that spawns them.
class flow_graph {
 public:
  static std::shared_ptr<flow_graph> make(const data_flow_options&);
  virtual ~flow_graph() = default;

  /// What its copies are kept under, until wait().
  virtual std::uint64_t number() = 0;
  /// Fills in the versions. Throws `error` if an access that writes overlaps another one.
  virtual void declare(std::span<flow_request> accesses) = 0;
  /// The task with these accesses, which were declared last.
  virtual void submit(int place, const remote_function& f, packed_arguments message,
                      std::span<const flow_request> accesses) = 0;
  virtual void wait() = 0;
  /// Nobody spawns or waits any more.
  virtual void leave() noexcept = 0;
  virtual const data_flow_options& options() const noexcept = 0;
};

template <class A>
inline constexpr bool is_flow_access = false;
template <class T, mode How, bool Many>
inline constexpr bool is_flow_access<flow_access<T, How, Many>> = true;

/// What identifies a task's copies, and how many of them a place keeps.
struct flow_ticket {
  std::uint64_t flow = 0, cache_bytes = 0;
};

/// An argument of a running task: a value, or elements.
template <class A>
class flow_argument {
 public:
  explicit flow_argument(A& value) noexcept : value_(value) {}

  void fetch(const flow_ticket&, std::vector<std::shared_ptr<remote_result>>&) const noexcept {}
  void take() const noexcept {}
  A&& pass() const noexcept { return std::move(value_); }
  void store(std::vector<std::shared_ptr<remote_result>>&) const noexcept {}
  void keep(const flow_ticket&) const noexcept {}

 private:
  A& value_;
};

template <class T, mode How, bool Many>
class flow_argument<flow_access<T, How, Many>> {
 public:
  explicit flow_argument(flow_access<T, How, Many>& what) noexcept : what_(what) {}

  /// Asks other places for elements that this one has no copy of. `waits` gets what must end before take().
  void fetch(const flow_ticket& t, std::vector<std::shared_ptr<remote_result>>& waits) {
    direct_ = array_internals::in_a_row(what_.array, what_.first, what_.count);
    if (How == mode::out || what_.count == 0 || !direct_.empty()) return;
    copy_ = flow_caches()->template find_or_make<range_copy<T>>(key(t), what_.read, bytes(), t.cache_bytes, [&] {
      return std::make_shared<range_copy<T>>(what_.array, what_.first, what_.count);
    });
    waits.insert(waits.end(), copy_->parts().begin(), copy_->parts().end());
  }
  void take() {
    if (!direct_.empty() || what_.count == 0) return;
    if constexpr (How == mode::out) {
      own_.resize(what_.count);
    } else if constexpr (How == mode::inout) {
      const std::span<const T> read = copy_->values();
      own_.assign(read.begin(), read.end());
      copy_.reset();
    }
  }
  typename flow_access<T, How, Many>::parameter pass() {
    const auto all = elements();
    if constexpr (Many) {
      return all;
    } else {
      return all.front();
    }
  }
  /// Sends what the task has written to the places that it belongs to.
  void store(std::vector<std::shared_ptr<remote_result>>& waits) {
    if (How == mode::in || own_.empty()) return;
    for (const int p : array_internals::owners_of(what_.array, what_.first, what_.count))
      waits.push_back(array_internals::tell<T>(what_.array, p, what_.first, own_));
  }
  void keep(const flow_ticket& t) {
    if (How == mode::in || own_.empty()) return;
    flow_caches()->put(key(t), what_.written, bytes(), t.cache_bytes,
                       std::make_shared<range_copy<T>>(what_.array, what_.first, std::move(own_)));
  }

 private:
  flow_cache::key key(const flow_ticket& t) const noexcept {
    return {t.flow, array_internals::number(what_.array), what_.first, what_.count};
  }
  std::size_t bytes() const noexcept { return what_.count * sizeof(T); }
  auto elements() {
    if constexpr (How == mode::in) {
      return direct_.empty() && copy_ ? copy_->values() : std::span<const T>(direct_);
    } else {
      return direct_.empty() ? std::span<T>(own_) : direct_;
    }
  }

  flow_access<T, How, Many>& what_;
  std::span<T> direct_;                  // where they are, if they lie in a row here
  std::shared_ptr<range_copy<T>> copy_;  // else, if they are read
  std::vector<T> own_;                   // else, if they are written
};

/// Waits in a coroutine until a result has come, which may be a failure.
struct until_ended {
  const std::shared_ptr<remote_result>& result;

  bool await_ready() const noexcept { return result->ended.done(); }
  void await_suspend(std::coroutine_handle<> suspended) const {
    const std::shared_ptr<remote_result> kept = result;  // *this may end in then()
    kept->then(resumption(suspended));
  }
  void await_resume() const noexcept {}
};

/// Throws the first failure of results that have come.
inline void expect_values(const std::vector<std::shared_ptr<remote_result>>& results) {
  for (const auto& r : results)
    if (r->failure) std::rethrow_exception(r->failure);
}

/// Calls f() and waits for the tasks that it has created, which use what this function's caller has, also if f()
/// throws.
template <class F>
void call_with_tasks(const F& f) {
  std::exception_ptr thrown;
  const auto attempt = [&thrown](const auto& step) {
    try {
      step();
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  };
  attempt(f);
  attempt([] { kith::wait(); });
  if (thrown) std::rethrow_exception(thrown);
}

/// A task at the place where it runs: gets what it reads, calls F, and sends what that has written.
template <class F, class... A>
activity<void> run_flow_task(flow_ticket ticket, A... arguments) {
  std::tuple<flow_argument<A>...> all{flow_argument<A>(arguments)...};
  std::vector<std::shared_ptr<remote_result>> waits;
  const auto for_each = [&all](const auto& step) { std::apply([&](auto&... one) { (step(one), ...); }, all); };
  for_each([&](auto& one) { one.fetch(ticket, waits); });
  for (std::size_t i = 0; i < waits.size(); ++i)
    co_await until_ended{waits[i]};  // all, so that none comes after the end
  expect_values(waits);
  for_each([](auto& one) { one.take(); });
  call_with_tasks([&all] { std::apply([](auto&... one) { static_cast<void>(F{}(one.pass()...)); }, all); });
  waits.clear();
  for_each([&](auto& one) { one.store(waits); });
  for (std::size_t i = 0; i < waits.size(); ++i) co_await until_ended{waits[i]};
  expect_values(waits);
  for_each([&](auto& one) { one.keep(ticket); });
}

/// What the task's place is told of an argument: an access as it is, a value as F's parameter.
template <class F, std::size_t I, class Argument>
struct flow_parameter {
  using values = typename signature_of<F>::type::values;
  using type = std::tuple_element_t<I, values>;
};
template <class F, std::size_t I, class T, mode How, bool Many>
struct flow_parameter<F, I, flow_access<T, How, Many>> {
  using type = flow_access<T, How, Many>;
};

/// What F gets of an argument.
template <class A>
struct flow_passed {
  using type = A&&;
};
template <class T, mode How, bool Many>
struct flow_passed<flow_access<T, How, Many>> {
  using type = typename flow_access<T, How, Many>::parameter;
};

}  // namespace detail

/// Tasks that read and write elements of distributed arrays, ordered as if they ran one after the other as they were
/// spawned. Each runs at the place that is named, else where most of the bytes are that it accesses (those of an
/// `inout` count twice; the first of several such places; without accesses, here). Elements that the place does not
/// have are sent there before the task runs, and sent back after it. A place keeps copies, and gets elements again only
/// if a task of this data_flow has written them since.
///
/// Made, used and destroyed in one activity. Its tasks belong to the finish() around the place where it was made, which
/// it must not outlive; a finish() inside, around spawn(), does not wait for them. Until wait() returns, nothing else
/// may use the elements, because copies are not told of it. Not thread-safe.
class data_flow {
 public:
  /// Throws `error` if no activity runs on this thread, or for a wrong option.
  explicit data_flow(const data_flow_options& options = {}) : graph_(detail::flow_graph::make(options)) {}
  /// Does not wait. A failure that wait() has not thrown goes to the finish() around this activity.
  ~data_flow() { graph_->leave(); }
  data_flow(const data_flow&) = delete;
  data_flow& operator=(const data_flow&) = delete;

  /// Spawns a task that calls F. An argument is kith::in, out or inout of array.range() or array.element(), in
  /// any number and overlap, of which F gets a std::span or a reference, to const elements for `in`; or a value, which
  /// is sent as an argument of place_ref::spawn(). Elements of `out` have any value before, and F must write all of
  /// them; use `inout` where it writes some. F is no coroutine; it may create tasks, which the task waits for. What F
  /// returns is dropped. Throws `error` if an access that writes overlaps another one of the task, and as
  /// place_future::wait() if it has to wait (data_flow_options::most_tasks); the task is spawned then. Else it returns
  /// at once. Cost, at another place: an activity with its result; an activity for each place that has elements of
  /// which there is no copy, and one for each that gets elements.
  template <auto F, class... Args>
  void spawn(const Args&... args) {
    submit<detail::constant_function<F>>(std::nullopt, args...);
  }
  template <class F, class... Args>
  void spawn(F, const Args&... args) {
    submit<F>(std::nullopt, args...);
  }
  /// The same at a place: flow.at(p).spawn(...). Throws `error` unless 0 <= place < places().
  auto at(int place) { return placed{*this, kith::at(place).number()}; }

  /// Waits until all tasks have ended, and runs other tasks meanwhile. Throws the first failure, as place_error
  /// (std::bad_alloc if there was no memory to send a task); tasks that had not been started then never run. Afterwards
  /// the elements may be used by anything, and tasks be spawned again; not so after place_lost, when tasks may still
  /// run. Throws `error` without having waited if no stack is left, as place_future::wait().
  void wait() { graph_->wait(); }

 private:
  struct placed {
    data_flow& flow;
    int place;

    template <auto F, class... Args>
    void spawn(const Args&... args) const {
      flow.submit<detail::constant_function<F>>(place, args...);
    }
    template <class F, class... Args>
    void spawn(F, const Args&... args) const {
      flow.submit<F>(place, args...);
    }
  };

  template <class F, class... Args>
  void submit(std::optional<int> place, const Args&... args) {
    if constexpr (!detail::stateless<F>) {
      static_assert(
          detail::stateless<F>,
          "a place runs functions that all places know: write flow.spawn<function>(arguments...), or a lambda "
          "without captures whose parameters have types");
    } else {
      using call = typename detail::signature_of<F>::type;
      static_assert(call::parameters == sizeof...(Args), "the function takes another number of arguments");
      static_assert(!call::is_coroutine, "the function of a data_flow's task cannot be a coroutine");
      if constexpr (call::parameters == sizeof...(Args) && !call::is_coroutine)
        submit<F>(place, std::index_sequence_for<Args...>(), args...);
    }
  }
  template <class F, std::size_t... I, class... Args>
  void submit(std::optional<int> place, std::index_sequence<I...>, const Args&... args) {
    submit_as<F, typename detail::flow_parameter<F, I, Args>::type...>(place, args...);
  }
  template <class F, class... A, class... Args>
  void submit_as(std::optional<int> place, const Args&... args) {
    constexpr bool callable = std::is_invocable_v<F, typename detail::flow_passed<A>::type...>;
    static_assert(
        callable,
        "the function cannot be called with these arguments; it gets a std::span<const T> of kith::in of a range, a "
        "std::span<T> of out and inout, a const T& or T& of an element, and values");
    using run = detail::constant_function<&detail::run_flow_task<F, A...>>;
    if constexpr (callable && detail::is_remote_call<run, detail::flow_ticket, Args...>()) {
      std::vector<detail::flow_request> requests;
      std::vector<std::uint64_t> bytes;
      (request(requests, bytes, !place, args), ...);
      if (!place) {
        const auto most = std::ranges::max_element(bytes);
        place = most == bytes.end() || *most == 0 ? here() : static_cast<int>(most - bytes.begin());
      }
      graph_->declare(requests);
      std::size_t next = 0;
      const detail::flow_ticket ticket{graph_->number(), graph_->options().cache_bytes};
      using known = detail::registered<run>;
      // Braces, so that the accesses get their versions in order.
      const std::tuple<decltype(with_versions(args, requests, next))...> versioned{
          with_versions(args, requests, next)...};
      detail::packed_arguments message = std::apply(
          [&](const auto&... a) { return known::call::pack(detail::header_bytes, ticket, a...); }, versioned);
      graph_->submit(*place, known::entry, std::move(message), requests);
    }
  }
  template <class Argument>
  static void request(std::vector<detail::flow_request>& all, std::vector<std::uint64_t>& bytes, bool count,
                      const Argument& a) {
    if (bytes.empty()) bytes.resize(static_cast<std::size_t>(places()));
    if constexpr (detail::is_flow_access<Argument>) {
      detail::array_internals::check(a.array);
      all.push_back({detail::array_internals::number(a.array), a.first, a.count, Argument::how});
      if (!count) return;
      const std::uint64_t size = sizeof(typename Argument::element) * (Argument::how == mode::inout ? 2 : 1);
      for (const int p : detail::array_internals::owners_of(a.array, a.first, a.count))
        bytes[static_cast<std::size_t>(p)] += size * detail::array_internals::count_at(a.array, p, a.first, a.count);
    }
  }
  template <class Argument>
  static decltype(auto) with_versions(const Argument& a, const std::vector<detail::flow_request>& all,
                                      std::size_t& next) {
    if constexpr (detail::is_flow_access<Argument>) {
      Argument versioned = a;
      versioned.read = all[next].read;
      versioned.written = all[next].written;
      ++next;
      return versioned;
    } else {
      return static_cast<const Argument&>(a);
    }
  }

  std::shared_ptr<detail::flow_graph> graph_;
};

}  // namespace kith
