// oneTBB's flow graph, built once and run again: its sources are put, and the graph is waited for.
#include "graph_serve.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

#include <deque>

namespace {

using namespace kith::bench;
namespace flow = oneapi::tbb::flow;

template <class Body>
class flow_graph : public made_graph {
 public:
  template <class Program>
  flow_graph(oneapi::tbb::task_arena& arena, const Program& program, Body body)
      : arena_(arena), work_(program, body), graph_(arena.execute([] { return std::make_unique<flow::graph>(); })) {
    const explicit_graph<Body> edges(program, body);
    for (std::size_t t = 0; t < edges.size(); ++t) {
      nodes_.emplace_back(*graph_, [this, t](const flow::continue_msg&) { work_.run(t); });
      for (auto p : edges.predecessors(t)) flow::make_edge(nodes_[p], nodes_.back());
      if (edges.predecessors(t).empty()) sources_.push_back(t);
    }
  }
  ~flow_graph() override { graph_->wait_for_all(); }
  void run() override {
    arena_.execute([this] {
      for (std::size_t s : sources_) nodes_[s].try_put({});
      graph_->wait_for_all();
    });
  }

 private:
  oneapi::tbb::task_arena& arena_;
  callables<Body> work_;
  std::unique_ptr<flow::graph> graph_;
  std::deque<flow::continue_node<flow::continue_msg>> nodes_;
  std::vector<std::size_t> sources_;
};

class onetbb_system {
 public:
  explicit onetbb_system(int workers)
      : limit_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers) {}
  std::string version() const { return TBB_runtime_version(); }
  template <class Program, class Body>
  std::unique_ptr<made_graph> make(const Program& program, Body body) {
    return std::make_unique<flow_graph<Body>>(arena_, program, body);
  }

 private:
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  onetbb_system system(options.workers);
  return graph_server(system).loop();
}
