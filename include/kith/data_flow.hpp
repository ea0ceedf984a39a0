// Tasks over the elements of distributed arrays, ordered by what they access.
//
// docs/places.md, "Data-flow across places", is the tutorial. Beyond the ADS paper, whose activities are ordered by
// finish alone.
#pragma once

#include <kith/detail/flow_task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

struct data_flow_options {
  /// When this number of tasks have not ended, spawn() waits until half of them have, and runs other tasks meanwhile.
  /// At least 1. Fewer are under way: to each other place at most as many as its buffer has room for (place_options).
  std::uint64_t most_tasks = 4096;
  /// The bytes of other places' elements that a place keeps for further tasks.
  std::uint64_t cache_bytes = 256 << 20;
};

/// Tasks that read and write elements of distributed arrays, ordered as if they ran one after the other as they were
/// spawned. Each runs at the place that is named, else where most of the bytes are that it accesses (those of an
/// `inout` count twice; the first of several such places; without accesses, at the caller's place). Elements that the
/// place does not have are sent there before the task runs, and sent back after it. A place keeps copies, and gets
/// elements again only if a task of this data_flow has written them since.
///
/// Made, used and destroyed in one activity. Its tasks belong to the finish() around the place where it was made, which
/// it must not outlive; a finish() inside, around spawn(), does not wait for them. Until wait() returns, no other code
/// may use the elements, because copies are not updated by it. Not thread-safe.
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
  /// any code may use the elements, and tasks may be spawned again; not so after place_lost, when tasks may still run.
  /// Throws `error` without having waited if no stack is left, as place_future::wait().
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
      static_assert(call::parameters == sizeof...(Args),
                    "the function takes another number of arguments; give one for each of its parameters");
      static_assert(!call::is_coroutine, "the function of a data_flow's task cannot be a coroutine");
      constexpr bool of_arrays = !(detail::is_access<Args> || ...);
      static_assert(of_arrays,
                    "a task of a data_flow accesses elements of distributed arrays; write kith::in(array.range(first, "
                    "count)) or kith::in(array.element(i)), and pass other data as values");
      if constexpr (call::parameters == sizeof...(Args) && !call::is_coroutine && of_arrays)
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
    if constexpr (callable) call_at<detail::constant_function<&detail::run_flow_task<F, A...>>>(place, args...);
  }
  template <class run, class... Args>
  void call_at(std::optional<int> place, const Args&... args) {
    if constexpr (detail::is_remote_call<run, detail::flow_ticket, Args...>()) {
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
