// The main loop of a child of `kith-bench graph`: graphs that are made once, and run again and again. Lines as in
// protocol.hpp:
//
//   hello                      ok 0 0 <version>
//   dag <case> 0 <size> 0 0    ok <nanoseconds of one run, after another> <nodes>
//   check <case> 0 <size> 0 0  ok 0 <nodes>; runs it twice, and compares with the sequential program, twice
//   quit                       (the child ends)
#pragma once

#include "bodies.hpp"
#include "callables.hpp"
#include "dags.hpp"
#include "explicit_graph.hpp"
#include "kernel.hpp"
#include "serve.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith::bench {

/// A graph that was made, to be run any number of times.
class made_graph {
 public:
  made_graph() = default;
  virtual ~made_graph() = default;
  made_graph(const made_graph&) = delete;
  made_graph& operator=(const made_graph&) = delete;
  virtual void run() = 0;
};

/// A graph in arrays, for a system that is told the edges. successors[first[t]..first[t+1]-1] wait for t.
struct graph_in_arrays {
  std::vector<std::uint32_t> first, successors, predecessors, sources;

  template <class Body>
  explicit graph_in_arrays(const explicit_graph<Body>& graph) : first(graph.size() + 2), predecessors(graph.size()) {
    for (std::size_t t = 0; t < graph.size(); ++t) {
      predecessors[t] = static_cast<std::uint32_t>(graph.predecessors(t).size());
      if (predecessors[t] == 0) sources.push_back(static_cast<std::uint32_t>(t));
      for (auto p : graph.predecessors(t)) ++first[p + 2];
    }
    for (std::size_t i = 2; i < first.size(); ++i) first[i] += first[i - 1];
    successors.resize(first.back());
    for (std::size_t t = 0; t < graph.size(); ++t) {
      for (auto p : graph.predecessors(t)) successors[first[p + 1]++] = static_cast<std::uint32_t>(t);
    }
    first.pop_back();
  }
};

/// `System::make(program, body)` returns a std::unique_ptr<made_graph>.
template <class System>
class graph_server {
 public:
  explicit graph_server(System& s) : system_(s) {}

  int loop() {
    return answer_requests([this](const request& q) { return handle(q); });
  }

 private:
  reply handle(const request& q) {
    if (q.what == verb::hello) return {true, 0, 0, system_.version()};
    if (q.subject == "wavefront") return on(q, wavefront{q.size});
    if (q.subject == "cholesky") return on(q, cholesky{q.size});
    if (q.subject == "independent") return on(q, independent{q.size});
    return {false, 0, 0, "not offered by this system"};
  }

  template <class Program>
  reply on(const request& q, const Program& program) {
    if (q.what == verb::check) return check(program);
    if (made_of_ != q.subject + std::to_string(q.size)) {  // one at a time, so that memory does not affect the time
      made_.reset();
      made_ = system_.make(program, empty_body{});
      made_of_ = q.subject + std::to_string(q.size);
    }
    made_->run();  // other systems ran meanwhile, and a graph that runs many times has its arrays in the caches
    const double from = now_nanoseconds();
    made_->run();
    return {true, now_nanoseconds() - from, program.tasks(), ""};
  }

  template <class Program>
  reply check(const Program& program) {
    std::vector<std::uint64_t> expected(static_cast<std::size_t>(program.cells()), 7), got = expected;
    std::atomic<std::int64_t> free_expected{0}, free_got{0};
    const std::unique_ptr<made_graph> graph = system_.make(program, check_body{got.data(), &free_got});
    for (int again = 0; again < 2; ++again) {
      program.emit(serial_emitter<check_body>{{expected.data(), &free_expected}});
      graph->run();
      if (free_expected != free_got) return {false, 0, 0, "not every task ran once"};
      if (expected != got) return {false, 0, 0, "the results differ from the sequential program's"};
    }
    return {true, 0, program.tasks(), ""};
  }

  System& system_;
  std::string made_of_;
  std::unique_ptr<made_graph> made_;
};

}  // namespace kith::bench
