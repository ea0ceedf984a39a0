// Taskflow's static graph, built once and run again.
#include "graph_serve.hpp"

#include <taskflow/taskflow.hpp>

namespace {

using namespace kith::bench;

template <class Body>
class flow : public made_graph {
 public:
  template <class Program>
  flow(tf::Executor& executor, const Program& program, Body body) : executor_(executor), work_(program, body) {
    const explicit_graph<Body> edges(program, body);
    std::vector<tf::Task> tasks;
    for (std::size_t t = 0; t < edges.size(); ++t) {
      tasks.push_back(graph_.emplace([this, t] { work_.run(t); }));
      for (auto p : edges.predecessors(t)) tasks[p].precede(tasks.back());
    }
  }
  void run() override { executor_.run(graph_).wait(); }

 private:
  tf::Executor& executor_;
  callables<Body> work_;
  tf::Taskflow graph_;
};

class taskflow_system {
 public:
  explicit taskflow_system(int workers) : executor_(static_cast<std::size_t>(workers)) {}
  std::string version() const { return tf::version(); }
  template <class Program, class Body>
  std::unique_ptr<made_graph> make(const Program& program, Body body) {
    return std::make_unique<flow<Body>>(executor_, program, body);
  }

 private:
  tf::Executor executor_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  taskflow_system system(options.workers);
  return graph_server(system).loop();
}
