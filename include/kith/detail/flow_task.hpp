// How a task of a data_flow runs at its place: it fetches the data that it reads, calls its function, and stores the
// data that the function has written.
#pragma once

#include <kith/access.hpp>
#include <kith/activity.hpp>
#include <kith/detail/flow_cache.hpp>
#include <kith/distributed_array.hpp>
#include <kith/task.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace kith {

struct data_flow_options;

}  // namespace kith

namespace kith::detail {

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

  /// The number under which its copies are kept, until wait().
  virtual std::uint64_t number() = 0;
  /// Fills in the versions. Throws `error` if an access that writes overlaps another one.
  virtual void declare(std::span<flow_request> accesses) = 0;
  /// Submits the task with these accesses, which were declared last.
  virtual void submit(int place, const remote_function& f, packed_arguments message,
                      std::span<const flow_request> accesses) = 0;
  virtual void wait() = 0;
  /// Called when the data_flow is destroyed: there will be no further spawn or wait.
  virtual void leave() noexcept = 0;
  virtual const data_flow_options& options() const noexcept = 0;
};

/// Identifies a task's copies, and says how many bytes of them a place keeps.
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

  /// Asks other places for elements of which this one has no copy. Adds to `waits` what must end before take().
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
  std::span<T> direct_;                  // the elements, if this place has them in a row
  std::shared_ptr<range_copy<T>> copy_;  // else, if they are read
  std::vector<T> own_;                   // else, if they are written
};

/// Waits in a coroutine until a result has arrived, which may be a failure.
struct until_ended {
  const std::shared_ptr<remote_result>& result;

  bool await_ready() const noexcept { return result->ended.done(); }
  void await_suspend(std::coroutine_handle<> suspended) const {
    const std::shared_ptr<remote_result> kept = result;  // *this may end in then()
    kept->then(resumption(suspended));
  }
  void await_resume() const noexcept {}
};

/// Throws the first failure of results that have arrived.
inline void expect_values(const std::vector<std::shared_ptr<remote_result>>& results) {
  for (const auto& r : results)
    if (r->failure) std::rethrow_exception(r->failure);
}

/// Calls f() and waits for the tasks that it has created, also if f() throws, because they use data of this function's
/// caller.
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

/// A task at the place where it runs: fetches what it reads, calls F, and sends what F has written.
template <class F, class... A>
activity<void> run_flow_task(flow_ticket ticket, A... arguments) {
  std::tuple<flow_argument<A>...> all{flow_argument<A>(arguments)...};
  std::vector<std::shared_ptr<remote_result>> waits;
  const auto for_each = [&all](const auto& step) { std::apply([&](auto&... one) { (step(one), ...); }, all); };
  for_each([&](auto& one) { one.fetch(ticket, waits); });
  for (std::size_t i = 0; i < waits.size(); ++i)
    co_await until_ended{waits[i]};  // all, so that none arrives after the end
  expect_values(waits);
  for_each([](auto& one) { one.take(); });
  detail::call_with_tasks([&all] { std::apply([](auto&... one) { static_cast<void>(F{}(one.pass()...)); }, all); });
  waits.clear();
  for_each([&](auto& one) { one.store(waits); });
  for (std::size_t i = 0; i < waits.size(); ++i) co_await until_ended{waits[i]};
  expect_values(waits);
  for_each([&](auto& one) { one.keep(ticket); });
}

/// The form in which an argument is sent to the task's place: an access as it is, a value as F's parameter.
template <class F, std::size_t I, class Argument>
struct flow_parameter {
  using values = typename signature_of<F>::type::values;
  using type = std::tuple_element_t<I, values>;
};
template <class F, std::size_t I, class T, mode How, bool Many>
struct flow_parameter<F, I, flow_access<T, How, Many>> {
  using type = flow_access<T, How, Many>;
};

/// The form in which F receives an argument.
template <class A>
struct flow_passed {
  using type = A&&;
};
template <class T, mode How, bool Many>
struct flow_passed<flow_access<T, How, Many>> {
  using type = typename flow_access<T, How, Many>::parameter;
};

}  // namespace kith::detail
