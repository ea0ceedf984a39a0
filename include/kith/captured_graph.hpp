// Tasks that are created once and run many times: captured graphs, and loops whose body creates the same tasks each
// time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace kith {

/// The tasks that a function creates, kept with the order that their accesses give them, to be run any number of times.
///
/// A run does not create tasks, does not look dependences up, and does not ask the policy: workers count predecessors
/// down in arrays, run a node that is ready next, and take the rest from each other. Tasks that nodes create are
/// ordinary ones. A run makes ordinary tasks of all nodes, so that everything that observes tasks sees them, in these
/// cases:
///  - the run is recorded, dry, or under the policy `replay`;
///  - a node has a priority;
///  - on a machine with several memory nodes, the first run of a runtime: the policy decides where each node runs, and
///    later runs keep it at that memory node. Its workers go first; others help when they find nothing else.
///
/// Nodes are run again with the function objects that the capture made, and with what these hold: a captured reference
/// names the same object, a captured value is as the last run left it. Data that a node uses must still exist. If it
/// was freed and allocated again, capture again, or use repeat(). A captured body is not executed again; what it does
/// besides creating tasks happens once.
///
/// Commutative accesses keep the order of creation. A node takes about 150 bytes besides its function, an access 12, a
/// region 24, an edge 12. One thread uses a graph at a time; different graphs may run side by side.
class captured_graph {
 public:
  captured_graph();
  ~captured_graph();
  /// A moved-from graph is empty, and can capture again.
  captured_graph(captured_graph&&) noexcept;
  captured_graph& operator=(captured_graph&&) noexcept;

  /// Calls `body()` and keeps the tasks that it creates with kith::spawn, instead of running them; drops those that
  /// were kept before. `spawn` takes what it always takes; kith::after must name a task of the same body. Must be
  /// called inside a task or `runtime::run`. Throws what the body throws, after which the graph is empty; and
  /// kith::error if the body calls kith::wait(), creates tasks with futures (kith::async, then, when_all), makes, fills
  /// or waits for a group, or runs a graph (kith::explore() too), if accesses cross, or if the graph is running. Joins,
  /// loops and forks of coroutines in the body are plain calls, and the tasks that they create are kept.
  template <class F>
  void capture(F&& body) {
    if constexpr (is_body<F>()) execute(&body, call<F>, false);
  }

  /// Runs every node once, in the order of their accesses, and waits for all. Must be called inside a task or
  /// `runtime::run`. Throws the first exception of a node or of a task that it created; nodes that have not started are
  /// then skipped, and the graph can be run again. kith::cancel() in a node skips them without an exception. Throws
  /// kith::error if the graph is running already.
  void run();

  /// Calls `body()` again, which creates the tasks again, and runs them. While they have the same functions, options
  /// and regions as those that are kept, only their function objects are replaced. A region may be at another address
  /// than before, if the whole body names it there. From the first difference on, the rest is captured anew, and true
  /// is returned. Errors are those of capture() and run().
  template <class F>
  bool repeat(F&& body) {
    bool changed = false;
    if constexpr (is_body<F>()) changed = execute(&body, call<F>, true);
    run();
    return changed;
  }

  /// On several memory nodes: the next run makes tasks, and the policy decides again where nodes run. Call it when data
  /// has moved to other memory nodes.
  void place_again() noexcept;

  /// The number of tasks that were captured, and (edges) of dependences between them. 0 before the first capture.
  std::size_t nodes() const noexcept;
  std::size_t edges() const noexcept;

 private:
  struct content;
  template <class F>
  static constexpr bool is_body() {
    constexpr bool value = std::is_invocable_v<F&>;
    static_assert(
        value, "argument 1 of captured_graph::capture (repeat) cannot be called without arguments; write [&] { ... }");
    return value;
  }
  template <class F>
  static void call(void* body) {
    std::invoke(*static_cast<std::remove_reference_t<F>*>(body));
  }
  bool execute(const void* body, void (*call)(void*), bool again);
  content& present();
  std::unique_ptr<content> content_;
};

/// Calls `body()`, or `body(i)` with i from 0 to times-1, and waits each time for the tasks that it creates. For loops
/// whose body creates the same tasks on the same regions each time, with other values: captured_graph::repeat says how
/// they are kept, and what happens if they are not the same. Must be called inside a task or `runtime::run`. Throws the
/// errors of captured_graph::capture and run; the loop ends then.
template <class F>
void repeat(std::size_t times, F&& body) {
  static_assert(std::is_invocable_v<F&> || std::is_invocable_v<F&, std::size_t>,
                "argument 2 of repeat can be called neither without arguments nor with the number of the iteration; "
                "write [&] { ... } or [&](std::size_t i) { ... }");
  captured_graph tasks;
  for (std::size_t i = 0; i < times; ++i) {
    if constexpr (std::is_invocable_v<F&, std::size_t>) {
      tasks.repeat([&] { body(i); });
    } else if constexpr (std::is_invocable_v<F&>) {
      tasks.repeat(body);
    }
  }
}

}  // namespace kith
