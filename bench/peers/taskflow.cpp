// Taskflow in two ways of creating tasks while the clock runs: dependent tasks, created one by one as the graph runs
// (KITH_BENCH_WAY "async"), or a static graph, built and then run once ("static"). Graphs that are built before the
// clock and run again are those of `kith-bench graph`.
#include "callables.hpp"
#include "explicit_graph.hpp"
#include "serve.hpp"

#include <taskflow/taskflow.hpp>

#include <string_view>
#include <vector>

namespace {

using namespace kith::bench;

/// The handle of the task that wrote a cell last, and, where the order is checked, of those that have read it since.
template <class Body>
class async_emitter {
 public:
  async_emitter(tf::TaskGroup& group, std::int64_t cells, Body body)
      : group_(group),
        writers_(static_cast<std::size_t>(cells)),
        readers_(Body::checks ? writers_.size() : 0),
        body_(body) {}

  template <class... In>
  void task(std::int64_t x, In... in) {
    tf::AsyncTask& writer = writers_[static_cast<std::size_t>(x)];
    if constexpr (Body::checks) {
      std::vector<tf::AsyncTask>& readers = readers_[static_cast<std::size_t>(x)];
      std::vector<tf::AsyncTask> before{writer, writers_[static_cast<std::size_t>(in)]...};
      before.insert(before.end(), readers.begin(), readers.end());
      readers.clear();
      writer = group_.silent_dependent_async(body_.make(x, in...), before.begin(), before.end());
      (readers_[static_cast<std::size_t>(in)].push_back(writer), ...);
    } else {
      writer = group_.silent_dependent_async(body_.make(x, in...), writer, writers_[static_cast<std::size_t>(in)]...);
    }
  }
  void free_task() { group_.silent_async(body_.make()); }
  void reader(std::int64_t x) { group_.silent_dependent_async(body_.make(), writers_[static_cast<std::size_t>(x)]); }

 private:
  tf::TaskGroup& group_;
  std::vector<tf::AsyncTask> writers_;
  std::vector<std::vector<tf::AsyncTask>> readers_;
  Body body_;
};

class taskflow_system {
 public:
  explicit taskflow_system(int workers) : executor_(static_cast<std::size_t>(workers)) {}
  std::string version() const { return std::string(tf::version()) + " " KITH_BENCH_WAY; }
  bool can(bool prebuilt, bool) const { return !prebuilt; }
  std::int64_t live_limit() const { return 0; }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool) {
    if constexpr (std::string_view(KITH_BENCH_WAY) == "async") return by_async_tasks(program, body);
    return by_static_graph(program, body);
  }

 private:
  /// A worker creates the tasks, then runs what is left of them.
  template <class Program, class Body>
  double by_async_tasks(const Program& program, Body& body) {
    double took = 0;
    const auto create_and_run = [&] {
      tf::TaskGroup group = executor_.task_group();
      async_emitter<Body> emitter(group, program.cells(), body);
      body.creating();
      const double from = now_nanoseconds();
      program.emit(emitter);
      body.created();
      group.corun();
      took = now_nanoseconds() - from;
    };
    executor_.async(create_and_run).get();
    return took;
  }
  template <class Program, class Body>
  double by_static_graph(const Program& program, Body& body) {
    const explicit_graph<Body> edges(program, body);
    callables<Body> work(program, body);
    body.creating();
    const double from = now_nanoseconds();
    tf::Taskflow graph;
    std::vector<tf::Task> tasks;
    tasks.reserve(edges.size());
    for (std::size_t t = 0; t < edges.size(); ++t) {
      tasks.push_back(graph.emplace([&work, t] { work.run(t); }));
      for (auto p : edges.predecessors(t)) tasks[p].precede(tasks.back());
    }
    body.created();
    executor_.run(graph).wait();
    return now_nanoseconds() - from;
  }

  tf::Executor executor_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  taskflow_system system(options.workers);
  return server(system).loop();
}
