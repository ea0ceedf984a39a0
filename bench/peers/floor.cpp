// The floor: what threads achieve without a runtime. In patterns each worker owns neighbouring points and runs them
// step by step. It spins on the flags of points that others own, and sets a flag after each of its own. The
// dependences are computed during the run, or prebuilt before the clock starts. In graphs one worker creates all
// tasks (floor_rings.hpp).
#include "floor_rings.hpp"
#include "serve.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace kith::bench;

/// The last step that a point has finished, plus one.
struct alignas(128) flag {
  std::atomic<int> finished{0};
};

/// One task of a worker, with the points of other workers that it waits for.
struct own_task {
  int point, step, waits;
  std::array<int, grid::radix> others;
};

/// A barrier at which all threads spin.
class meeting {
 public:
  explicit meeting(int threads) : threads_(threads) {}
  void arrive_and_wait(int round) {
    arrived_.fetch_add(1, std::memory_order_acq_rel);
    while (arrived_.load(std::memory_order_acquire) < round * threads_) relax();
  }

 private:
  int threads_;
  std::atomic<int> arrived_{0};
};

class floor_system {
 public:
  explicit floor_system(int workers) : workers_(workers) {}

  std::string version() const { return "flags by hand"; }
  bool can(bool prebuilt, bool pattern) const { return pattern || !prebuilt; }
  /// The most tasks that fit in one ring.
  std::int64_t live_limit() const { return static_cast<std::int64_t>(descriptor_ring::size); }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool prebuilt) {
    if constexpr (requires { program.shape; }) {
      return run_grid(program.shape, prebuilt, [&](const own_task&) { body.make()(); });
    } else {
      return run_in_rings(program, body, workers_, bind_to);
    }
  }

  /// Each task mixes the values of its predecessors, with one value for each step and point. True if the values equal
  /// those of a serial run.
  bool verify(const grid& g) {
    std::vector<std::uint64_t> got(static_cast<std::size_t>(g.width) * static_cast<std::size_t>(g.steps)),
        expected(got.size());
    auto at = [&](int step, int point) {
      return static_cast<std::size_t>(step) * static_cast<std::size_t>(g.width) + static_cast<std::size_t>(point);
    };
    auto compute = [&](std::vector<std::uint64_t>& values, int step, int point) {
      std::array<int, grid::radix> points{};
      const int n = g.dependences(step, point, points);
      std::uint64_t value = check_body::mix(at(step, point), 1);
      for (int i = 0; i < n; ++i) {
        value = check_body::mix(value, values[at(step - 1, points[static_cast<std::size_t>(i)])]);
      }
      values[at(step, point)] += value;  // the sum reveals a task that ran twice
    };
    for (int step = 0; step < g.steps; ++step) {
      for (int i = 0; i < g.count(step); ++i) compute(expected, step, g.first(step) + i);
    }
    for (bool prebuilt : {false, true}) {
      got.assign(got.size(), 0);
      run_grid(g, prebuilt, [&](const own_task& t) { compute(got, t.step, t.point); });
      if (got != expected) return false;
    }
    return true;
  }

 private:
  int owner_of(const grid& g, int point) const { return static_cast<int>(std::int64_t{point} * workers_ / g.width); }

  template <class Run>
  double run_grid(const grid& g, bool prebuilt, Run run) {
    std::vector<std::vector<own_task>> plans(static_cast<std::size_t>(workers_));
    for (int w = 0; prebuilt && w < workers_; ++w) {
      for_own_tasks(g, w, [&](const own_task& t) { plans[static_cast<std::size_t>(w)].push_back(t); });
    }
    std::vector<flag> flags(static_cast<std::size_t>(g.width));
    auto step = [&](const own_task& t) {
      for (int i = 0; i < t.waits; ++i) {
        const auto& of = flags[static_cast<std::size_t>(t.others[static_cast<std::size_t>(i)])].finished;
        while (of.load(std::memory_order_acquire) < t.step) relax();
      }
      run(t);
      flags[static_cast<std::size_t>(t.point)].finished.store(t.step + 1, std::memory_order_release);
    };
    meeting all(workers_);
    double from = 0, to = 0;
    auto work = [&](int worker) {
      bind_to(worker);
      all.arrive_and_wait(1);
      if (worker == 0) from = now_nanoseconds();
      if (prebuilt) {
        for (const own_task& t : plans[static_cast<std::size_t>(worker)]) step(t);
      } else {
        for_own_tasks(g, worker, step);
      }
      all.arrive_and_wait(2);
      if (worker == 0) to = now_nanoseconds();
    };
    std::vector<std::jthread> threads;
    for (int w = 0; w < workers_; ++w) threads.emplace_back(work, w);
    threads.clear();
    return to - from;
  }

  /// Computes what each task of a worker waits for, in order.
  template <class Take>
  void for_own_tasks(const grid& g, int worker, Take take) const {
    for (int step = 0; step < g.steps; ++step) {
      for (int point = g.first(step); point < g.first(step) + g.count(step); ++point) {
        if (owner_of(g, point) != worker) continue;
        std::array<int, grid::radix> points{};
        own_task t{point, step, 0, {}};
        const int n = g.dependences(step, point, points);
        for (int i = 0; i < n; ++i) {
          const int other = points[static_cast<std::size_t>(i)];
          if (owner_of(g, other) != worker) t.others[static_cast<std::size_t>(t.waits++)] = other;
        }
        take(t);
      }
    }
  }

  static void bind_to(int worker) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int seen = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &allowed) || seen++ != worker) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
      return;
    }
  }

  int workers_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  floor_system system(options.workers);
  return server(system).loop();
}
