// The floor of `dag`: one creator writes a descriptor of 64 bytes for each task into a ring of the worker that is to
// run it, in the order of creation; the edges are given. A worker runs its ring in order. It spins on the flags of the
// predecessors that others run, and sets a flag for each of its own tasks. No queue, no stealing, no counters.
#pragma once

#include "explicit_graph.hpp"
#include "serve.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace kith::bench {

/// The worker that runs the task which writes that cell: bands of columns for a wavefront, so that few edges cross; a
/// column in turn for Cholesky, whose last columns have the most tasks; any even deal for tasks without data.
inline int owner_of(const wavefront& p, std::int64_t cell, int workers) {
  return static_cast<int>(cell % p.n * workers / p.n);
}
inline int owner_of(const cholesky& p, std::int64_t cell, int workers) {
  return static_cast<int>(cell % p.n % workers);
}
template <class Program>
int owner_of(const Program&, std::int64_t task, int workers) {
  return static_cast<int>(task % workers);
}

struct alignas(64) descriptor {
  static constexpr std::size_t most_edges = 4, most_bytes = 32;
  void (*run)(const descriptor&);
  std::uint32_t task, edges;
  std::uint32_t waits[most_edges];
  alignas(8) std::byte callable[most_bytes];
};
static_assert(sizeof(descriptor) == 64);

/// One writer, one reader. Each keeps a copy of the other's end, so that it seldom reads the other's line.
class descriptor_ring {
 public:
  static constexpr std::uint64_t size = 1024;

  // ---- the creator
  descriptor* place() {
    if (made_ - known_run_ == size) known_run_ = run_.load(std::memory_order_acquire);
    return made_ - known_run_ == size ? nullptr : &slots_[made_ % size];
  }
  void publish() { shown_.store(++made_, std::memory_order_release); }
  // ---- the worker
  const descriptor* oldest() {
    if (known_made_ == at_) known_made_ = shown_.load(std::memory_order_acquire);
    return known_made_ == at_ ? nullptr : &slots_[at_ % size];
  }
  void pop() { run_.store(++at_, std::memory_order_release); }

 private:
  std::unique_ptr<descriptor[]> slots_{new descriptor[size]};
  alignas(128) std::uint64_t made_ = 0, known_run_ = 0;
  alignas(128) std::atomic<std::uint64_t> shown_{0};
  alignas(128) std::uint64_t at_ = 0, known_made_ = 0;
  alignas(128) std::atomic<std::uint64_t> run_{0};
};

class ring_workers {
 public:
  ring_workers(int workers, std::size_t tasks) : rings_(static_cast<std::size_t>(workers)), done_(tasks) {}

  int workers() const { return static_cast<int>(rings_.size()); }

  /// Called by the creator, which is worker 0. It runs tasks of its own ring when a ring is full.
  template <class F>
  void create(int owner, std::span<const std::uint32_t> edges, const F& f) {
    static_assert(sizeof(F) <= descriptor::most_bytes && std::is_trivially_copyable_v<F>);
    if (edges.size() > descriptor::most_edges) throw std::runtime_error("the floor has no task with so many edges");
    descriptor_ring& to = rings_[static_cast<std::size_t>(owner)];
    descriptor* d = to.place();
    while (d == nullptr) {
      if (!run_one(0)) relax();
      d = to.place();
    }
    d->run = [](const descriptor& mine) { (*std::launder(reinterpret_cast<const F*>(mine.callable)))(); };
    d->task = created_++;
    d->edges = static_cast<std::uint32_t>(edges.size());
    std::ranges::copy(edges, d->waits);
    new (d->callable) F(f);
    to.publish();
  }
  void no_more() { all_created_.store(true, std::memory_order_release); }

  /// Runs the worker's tasks until all have run.
  void work(int worker) {
    for (;;) {
      if (run_one(worker)) continue;
      if (all_created_.load(std::memory_order_acquire) && !run_one(worker)) {
        if (rings_[static_cast<std::size_t>(worker)].oldest() == nullptr) return;
      }
      relax();
    }
  }

 private:
  /// Runs the oldest task of the worker; false if there is none, or it has to wait.
  bool run_one(int worker) {
    descriptor_ring& ring = rings_[static_cast<std::size_t>(worker)];
    const descriptor* const d = ring.oldest();
    if (d == nullptr) return false;
    for (std::uint32_t i = 0; i < d->edges; ++i) {
      if (done_[d->waits[i]].load(std::memory_order_acquire) == 0) return false;
    }
    d->run(*d);
    done_[d->task].store(1, std::memory_order_release);
    ring.pop();
    return true;
  }

  std::vector<descriptor_ring> rings_;
  std::vector<std::atomic<std::uint8_t>> done_;  // by task
  std::uint32_t created_ = 0;
  std::atomic<bool> all_created_{false};
};

/// Gives each task that a program emits to its owner.
template <class Program, class Body>
struct ring_emitter {
  const Program& program;
  const explicit_graph<Body>& graph;
  ring_workers& to;
  Body body;
  std::size_t next = 0;

  template <class... In>
  void task(std::int64_t x, In... in) {
    add(owner_of(program, x, to.workers()), body.make(x, in...));
  }
  void free_task() { add(owner_of(program, static_cast<std::int64_t>(next), to.workers()), body.make()); }
  void reader(std::int64_t) { free_task(); }

 private:
  template <class F>
  void add(int owner, const F& f) {
    to.create(owner, graph.predecessors(next++), f);
  }
};

/// Nanoseconds from the first creation to the last end. `bind` is called by each thread with its number.
template <class Program, class Body, class Bind>
double run_in_rings(const Program& program, Body body, int workers, const Bind& bind) {
  const explicit_graph<Body> graph(program, body);
  ring_workers rings(workers, static_cast<std::size_t>(program.tasks()));
  std::atomic<int> ready{0}, ended{0};
  std::vector<std::jthread> threads;
  for (int w = 1; w < workers; ++w) {
    threads.emplace_back([&, w] {
      bind(w);
      ready.fetch_add(1);
      rings.work(w);
      ended.fetch_add(1);
    });
  }
  double took = 0;
  threads.emplace_back([&] {
    bind(0);
    while (ready.load() != workers - 1) relax();
    body.creating();
    const double from = now_nanoseconds();
    program.emit(ring_emitter<Program, Body>{program, graph, rings, body});
    body.created();
    rings.no_more();
    rings.work(0);
    while (ended.load() != workers - 1) relax();
    took = now_nanoseconds() - from;
  });
  threads.clear();
  return took;
}

}  // namespace kith::bench
