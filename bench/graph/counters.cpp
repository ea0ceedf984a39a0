// The floor of graphs that run again: threads over arrays, without a runtime. A node has a counter of unfinished
// predecessors, and is called through a pointer, because in a graph the nodes differ. Each thread has a stack of ready
// nodes; a thread without any takes half of another's. Threads spin for the next run, and are bound to cores.
#include "graph_serve.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace {

using namespace kith::bench;

class threads;

struct counted_graph : graph_in_arrays {
  using graph_in_arrays::graph_in_arrays;
  void (*call)(void*, std::size_t) = nullptr;
  void* with = nullptr;
  std::vector<std::atomic<std::uint32_t>> left = std::vector<std::atomic<std::uint32_t>>(predecessors.size());
};

/// Ready nodes, guarded by a lock that is seldom contended. `own` is not guarded.
struct alignas(128) ready_nodes {
  std::vector<std::uint32_t> own;
  std::atomic<bool> hungry{false};  // another thread has nothing
  alignas(128) std::atomic_flag lock{};
  std::vector<std::uint32_t> shared;  // guarded by lock
  std::atomic<std::size_t> size{0};   // of shared
};

class threads {
 public:
  explicit threads(int workers) : ready_(static_cast<std::size_t>(workers)) {
    bind_to(0);
    for (int w = 1; w < workers; ++w)
      others_.emplace_back([this, w](const std::stop_token& stop) {
        bind_to(w);
        for (std::uint32_t seen = 0; !stop.stop_requested();) {
          if (round_.load(std::memory_order_acquire) == seen) {
            relax();
            continue;
          }
          ++seen;
          work(static_cast<std::size_t>(w));
          inside_.fetch_sub(1, std::memory_order_release);
        }
      });
  }

  void run(counted_graph& g) {
    graph_ = &g;
    // The thread that counts a counter down to zero resets it.
    left_.store(g.predecessors.size(), std::memory_order_relaxed);
    const std::size_t n = ready_.size();
    for (std::size_t w = 0; w < n; ++w) {
      const auto part = [&](std::size_t i) {
        return g.sources.begin() + static_cast<std::ptrdiff_t>(g.sources.size() * i / n);
      };
      ready_[n - 1 - w].own.assign(std::make_reverse_iterator(part(w + 1)), std::make_reverse_iterator(part(w)));
    }
    inside_.store(n - 1, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    work(0);
    while (inside_.load(std::memory_order_acquire) != 0) relax();
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void work(std::size_t self) {
    if (ready_.size() == 1) return run_all<true>(self);
    run_all<false>(self);
  }

  template <bool Alone>
  void run_all(std::size_t self) {
    counted_graph& g = *graph_;
    ready_nodes& mine = ready_[self];
    std::size_t ended = 0;
    std::uint32_t node = none;
    while (true) {
      if (node == none) {
        if (!mine.own.empty()) {
          node = mine.own.back();
          mine.own.pop_back();
        } else {
          if (ended != 0) left_.fetch_sub(std::exchange(ended, 0), std::memory_order_acq_rel);
          if (left_.load(std::memory_order_acquire) == 0) return;
          if ((node = take(self)) == none) {
            relax();
            continue;
          }
        }
      }
      g.call(g.with, node);
      ++ended;
      const std::uint32_t done = node;
      node = none;
      for (std::uint32_t i = g.first[done]; i < g.first[done + 1]; ++i) {
        const std::uint32_t s = g.successors[i];
        std::atomic<std::uint32_t>& left = g.left[s];
        if constexpr (Alone) {
          if (const std::uint32_t before = left.load(std::memory_order_relaxed); before != 1) {
            left.store(before - 1, std::memory_order_relaxed);
            continue;
          }
        } else if (left.load(std::memory_order_acquire) != 1 && left.fetch_sub(1, std::memory_order_acq_rel) != 1) {
          continue;
        }
        left.store(g.predecessors[s], std::memory_order_relaxed);
        if (node == none) {
          node = s;
        } else {
          mine.own.push_back(s);
        }
      }
      if (!Alone && mine.hungry.load(std::memory_order_relaxed)) share(mine);
    }
  }

  /// Offers the older half of the own nodes.
  static void share(ready_nodes& mine) {
    if (mine.own.empty()) return;
    mine.hungry.store(false, std::memory_order_relaxed);
    const auto half = mine.own.begin() + static_cast<std::ptrdiff_t>((mine.own.size() + 1) / 2);
    lock(mine);
    mine.shared.insert(mine.shared.end(), mine.own.begin(), half);
    mine.size.store(mine.shared.size(), std::memory_order_relaxed);
    unlock(mine);
    mine.own.erase(mine.own.begin(), half);
  }
  /// Takes all that a thread offers, its own too; asks threads that offer nothing.
  std::uint32_t take(std::size_t self) {
    ready_nodes& mine = ready_[self];
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      ready_nodes& victim = ready_[(self + i) % ready_.size()];
      if (victim.size.load(std::memory_order_relaxed) == 0) {
        if (i != 0 && !victim.hungry.load(std::memory_order_relaxed))
          victim.hungry.store(true, std::memory_order_relaxed);
        continue;
      }
      lock(victim);
      mine.own.insert(mine.own.end(), victim.shared.begin(), victim.shared.end());
      victim.shared.clear();
      victim.size.store(0, std::memory_order_relaxed);
      unlock(victim);
      if (mine.own.empty()) continue;
      const std::uint32_t node = mine.own.back();
      mine.own.pop_back();
      return node;
    }
    return none;
  }
  static void lock(ready_nodes& r) {
    while (r.lock.test_and_set(std::memory_order_acquire)) relax();
  }
  static void unlock(ready_nodes& r) { r.lock.clear(std::memory_order_release); }

  static void bind_to(int worker) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    static const cpu_set_t all = allowed;
    int seen = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &all) || seen++ != worker) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      return;
    }
  }

  std::vector<ready_nodes> ready_;
  counted_graph* graph_ = nullptr;
  alignas(128) std::atomic<std::size_t> left_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::size_t> inside_{0};
  std::vector<std::jthread> others_;
};

template <class Body>
class by_counters : public made_graph {
 public:
  template <class Program>
  by_counters(threads& t, const Program& program, Body body)
      : threads_(t), work_(program, body), graph_(explicit_graph<Body>(program, body)) {
    for (std::size_t i = 0; i < graph_.left.size(); ++i) graph_.left[i] = graph_.predecessors[i];
    graph_.with = &work_;
    graph_.call = [](void* work, std::size_t task) { static_cast<callables<Body>*>(work)->run(task); };
  }
  void run() override { threads_.run(graph_); }

 private:
  threads& threads_;
  callables<Body> work_;
  counted_graph graph_;
};

class counters_system {
 public:
  explicit counters_system(int workers) : threads_(workers) {}
  std::string version() const { return "counters by hand"; }
  template <class Program, class Body>
  std::unique_ptr<made_graph> make(const Program& program, Body body) {
    return std::make_unique<by_counters<Body>>(threads_, program, body);
  }

 private:
  threads threads_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  counters_system system(options.workers);
  return graph_server(system).loop();
}
