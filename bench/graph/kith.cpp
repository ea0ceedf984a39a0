// Kith's graphs that run again: captured tasks (KITH_BENCH_WAY captured), a loop whose body creates the tasks anew
// (repeat), and a static graph, which is told the edges (static).
#include "cells.hpp"
#include "graph_serve.hpp"

#include <kith/kith.hpp>

#include <string_view>

namespace {

using namespace kith::bench;

/// Creates a program's tasks by kith::spawn, with accesses to its cells.
template <class Body>
struct spawning {
  Body body;
  char* cells;  // only their addresses are used

  template <class... In>
  void task(std::int64_t x, In... in) {
    kith::spawn(body.make(x, in...), kith::inout(cells[x]), kith::in(cells[in])...);
  }
  void free_task() { kith::spawn(body.make()); }
  void reader(std::int64_t x) { kith::spawn(body.make(), kith::in(cells[x])); }
};

template <class Program, class Body>
class captured : public made_graph {
 public:
  captured(kith::runtime& rt, const Program& p, Body b)
      : rt_(rt), program_(p), body_(b), cells_(static_cast<std::size_t>(p.cells())) {
    rt_.run([this] { graph_.capture([this] { create(); }); });
  }
  void run() override {
    rt_.run([this] {
      if constexpr (std::string_view(KITH_BENCH_WAY) == "repeat") {
        graph_.repeat([this] { create(); });
      } else {
        graph_.run();
      }
    });
  }

 private:
  void create() { program_.emit(spawning<Body>{body_, cells_.data()}); }
  kith::runtime& rt_;
  const Program program_;
  const Body body_;
  std::vector<char> cells_;
  kith::captured_graph graph_;
};

template <class Body>
class told : public made_graph {
 public:
  template <class Program>
  told(kith::runtime& rt, const Program& program, Body body) : rt_(rt), work_(program, body) {
    const explicit_graph<Body> edges(program, body);
    for (std::size_t t = 0; t < edges.size(); ++t) {
      const auto n = graph_.add([this, t] { work_.run(t); });
      for (auto p : edges.predecessors(t)) graph_.edge(p, n);
    }
  }
  void run() override {
    rt_.run([this] { graph_.run(); });
  }

 private:
  kith::runtime& rt_;
  callables<Body> work_;
  kith::static_graph graph_;
};

class kith_system {
 public:
  explicit kith_system(int workers) : rt_({.workers = workers}) {}
  std::string version() const { return KITH_VERSION; }
  template <class Program, class Body>
  std::unique_ptr<made_graph> make(const Program& program, Body body) {
    if constexpr (std::string_view(KITH_BENCH_WAY) == "static") {
      return std::make_unique<told<Body>>(rt_, program, body);
    } else {
      return std::make_unique<captured<Program, Body>>(rt_, program, body);
    }
  }

 private:
  kith::runtime rt_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  kith_system system(options.workers);
  return graph_server(system).loop();
}
