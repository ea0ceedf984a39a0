// OpenMP tasks with `depend`: compiled by gcc for libgomp, and by clang for libomp.
#include "cells.hpp"
#include "serve.hpp"

#include <omp.h>

#include <vector>

namespace {

using namespace kith::bench;

template <class Body>
struct depend_emitter {
  cell* cells;
  Body body;

  void task(std::int64_t x) {
    auto run = body.make(x);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x])
    run();
  }
  void task(std::int64_t x, std::int64_t a) {
    auto run = body.make(x, a);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x]) depend(in : cells[a])
    run();
  }
  void task(std::int64_t x, std::int64_t a, std::int64_t b) {
    auto run = body.make(x, a, b);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x]) depend(in : cells[a], cells[b])
    run();
  }
  void task(std::int64_t x, std::int64_t a, std::int64_t b, std::int64_t c) {
    auto run = body.make(x, a, b, c);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x]) depend(in : cells[a], cells[b], cells[c])
    run();
  }
  void task(std::int64_t x, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    auto run = body.make(x, a, b, c, d);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x]) \
    depend(in : cells[a], cells[b], cells[c], cells[d])
    run();
  }
  void task(std::int64_t x, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e) {
    auto run = body.make(x, a, b, c, d, e);
#pragma omp task default(none) firstprivate(run) depend(inout : cells[x]) \
    depend(in : cells[a], cells[b], cells[c], cells[d], cells[e])
    run();
  }
  void free_task() {
    auto run = body.make();
#pragma omp task default(none) firstprivate(run)
    run();
  }
  void reader(std::int64_t x) {
    auto run = body.make();
#pragma omp task default(none) firstprivate(run) depend(in : cells[x])
    run();
  }
};

/// A task of a tree.
template <class Body>
void run_nested(const nested tree, const std::int64_t i, Body body) {
  body.make()();
  tree.children(i, [tree, body](std::int64_t c) {
#pragma omp task default(none) firstprivate(tree, c, body)
    run_nested(tree, c, body);
  });
}

class openmp_system {
 public:
  static constexpr bool tracks_addresses = true, nests = true;
  explicit openmp_system(int workers) : workers_(workers) {}

  std::string version() const { return KITH_BENCH_OPENMP_VERSION; }
  bool can(bool prebuilt, bool) const { return !prebuilt; }
  /// Once 64 tasks for each thread are unfinished, libgomp runs a new task in its creator, which first
  /// waits for its dependences.
  std::int64_t live_limit() const { return KITH_BENCH_OPENMP_LIMIT * workers_; }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool) {
    std::vector<cell> cells = cells_of(program);
    double from = 0, to = 0;
#pragma omp parallel num_threads(workers_)
    {
#pragma omp barrier
#pragma omp single
      {
        body.creating();
        from = now_nanoseconds();
        if constexpr (is_nested<Program>) {
#pragma omp taskgroup
          run_nested(program, 0, body);
        } else {
          program.emit(depend_emitter<Body>{cells.data(), body});
        }
        body.created();
#pragma omp taskwait
        to = now_nanoseconds();
      }
    }
    return to - from;
  }

 private:
  int workers_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  openmp_system system(options.workers);
  return server(system).loop();
}
