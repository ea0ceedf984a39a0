// oneTBB in two ways: a flow graph, created while the clock runs and run once; and tasks of a task_group
// that decrement their successors' counters by hand, over a graph prebuilt in arrays and run repeatedly.
#include "callables.hpp"
#include "explicit_graph.hpp"
#include "serve.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include <deque>

namespace {

using namespace kith::bench;
namespace flow = oneapi::tbb::flow;

class onetbb_system {
 public:
  static constexpr bool nests = true;

  explicit onetbb_system(int workers)
      : limit_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers) {}

  std::string version() const { return TBB_runtime_version(); }
  bool can(bool, bool) const { return true; }
  std::int64_t live_limit() const { return 0; }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool prebuilt) {
    if constexpr (is_nested<Program>) {
      return by_nesting(program, body);
    }
    const explicit_graph<Body> graph(program, body);
    callables<Body> work(program, body);
    return prebuilt ? by_counters(graph, work, body) : by_flow_graph(graph, work, body);
  }

 private:
  template <class Body>
  double by_nesting(const nested& tree, Body& body) {
    return arena_.execute([&] {
      oneapi::tbb::task_group group;
      const double from = now_nanoseconds();
      run_nested(group, tree, 0, body);
      group.wait();
      return now_nanoseconds() - from;
    });
  }
  template <class Body>
  static void run_nested(oneapi::tbb::task_group& group, const nested& tree, std::int64_t i, const Body& body) {
    body.make()();
    tree.children(i,
                  [&](std::int64_t c) { group.run([&group, &tree, c, &body] { run_nested(group, tree, c, body); }); });
  }

  template <class Body>
  double by_flow_graph(const explicit_graph<Body>& graph, callables<Body>& work, Body& body) {
    using node = flow::continue_node<flow::continue_msg>;
    return arena_.execute([&] {
      body.creating();
      const double from = now_nanoseconds();
      flow::graph g;
      std::deque<node> nodes;
      for (std::size_t t = 0; t < graph.size(); ++t) {
        nodes.emplace_back(g, [&work, t](const flow::continue_msg&) { work.run(t); });
        for (auto p : graph.predecessors(t)) flow::make_edge(nodes[p], nodes.back());
      }
      body.created();
      for (std::size_t t = 0; t < graph.size(); ++t) {
        if (graph.predecessors(t).empty()) nodes[t].try_put({});
      }
      g.wait_for_all();
      return now_nanoseconds() - from;
    });
  }

  /// For each task, one counter of unfinished predecessors and one range of successors.
  struct counted {
    std::vector<std::atomic<std::uint32_t>> left;
    std::vector<std::uint32_t> first, successor;
  };

  template <class Body>
  double by_counters(const explicit_graph<Body>& graph, callables<Body>& work, Body& body) {
    body.creating();
    counted all = successors_of(graph);
    body.created();
    return arena_.execute([&] {
      oneapi::tbb::task_group group;
      const double from = now_nanoseconds();
      for (std::size_t t = 0; t < graph.size(); ++t) {
        all.left[t].store(static_cast<std::uint32_t>(graph.predecessors(t).size()), std::memory_order_relaxed);
      }
      for (std::size_t t = 0; t < graph.size(); ++t) {
        if (graph.predecessors(t).empty()) group.run([&, t] { chain(group, all, work, t); });
      }
      group.wait();
      return now_nanoseconds() - from;
    });
  }

  /// Runs a task, then one of the tasks that it made ready; spawns the others.
  template <class Body>
  static void chain(oneapi::tbb::task_group& group, counted& all, callables<Body>& work, std::size_t task) {
    constexpr std::size_t none = ~std::size_t{0};
    for (std::size_t next = task; next != none;) {
      const std::size_t t = next;
      next = none;
      work.run(t);
      for (std::uint32_t i = all.first[t]; i < all.first[t + 1]; ++i) {
        const std::size_t s = all.successor[i];
        if (all.left[s].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (next == none) {
          next = s;
        } else {
          group.run([&group, &all, &work, s] { chain(group, all, work, s); });
        }
      }
    }
  }

  template <class Body>
  static counted successors_of(const explicit_graph<Body>& graph) {
    counted c{std::vector<std::atomic<std::uint32_t>>(graph.size()), std::vector<std::uint32_t>(graph.size() + 2), {}};
    for (std::size_t t = 0; t < graph.size(); ++t) {
      for (auto p : graph.predecessors(t)) ++c.first[p + 2];
    }
    for (std::size_t i = 2; i < c.first.size(); ++i) c.first[i] += c.first[i - 1];
    c.successor.resize(c.first.back());
    for (std::size_t t = 0; t < graph.size(); ++t) {
      for (auto p : graph.predecessors(t)) c.successor[c.first[p + 1]++] = static_cast<std::uint32_t>(t);
    }
    return c;
  }

  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  onetbb_system system(options.workers);
  return server(system).loop();
}
