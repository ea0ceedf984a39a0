#include "machine/scheduler_probe.hpp"

#include "base/sleepers.hpp"
#include "machine/measure.hpp"
#include "machine/memory_probe.hpp"
#include "queue/native/world.hpp"
#include "queue/own_deque.hpp"

#include <kith/kith.hpp>

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace kith::tools {

namespace {

constexpr int tasks = 100000;
double each(double seconds, int count = tasks) { return std::max(0.1, seconds / count * 1e9); }

/// With one worker: creating a task, one more access, taking and running a task, a predecessor of a node.
void measure_runtime(scheduler_costs& c) {
  runtime_options o;
  o.workers = 1;
  o.throttle = 0;
  o.policy = "steal";
  runtime rt(o);
  std::vector<double> data(4096);
  double create = 1e30, with_access = 1e30, run = 1e30, explored = 1e30;
  for (int r = 0; r < repeats; ++r) {
    rt.run([&] {
      create = std::min(create, seconds_of([] {
                          for (int i = 0; i < tasks; ++i) spawn([] {});
                        }));
      run = std::min(run, seconds_of([] { kith::wait(); }));
      with_access = std::min(with_access, seconds_of([&] {
                               for (int i = 0; i < tasks; ++i)
                                 spawn([] {}, kith::in(data[static_cast<std::size_t>(i) % data.size()]));
                             }));
      kith::wait();
      struct chain {
        using key = int;
        void predecessors(int k, keys<int>& all) const {
          if (k > 0) all.add(k - 1);
        }
        void compute(int) const {}
      } g;
      explored = std::min(explored, seconds_of([&] { explore(g, tasks / 10); }) * 10);
    });
  }
  c.create = std::max(0.1, each(create) - c.push);
  c.dependence = each(with_access - create);
  c.pop = each(run);
  c.explore = each(explored - create - run);
}

/// A deque as policies use it, of tasks that are never run.
class bare_deque {
 public:
  bare_deque() : parked_(2), tasks_(size) {
    for (task& t : tasks_) t.type = 1;
  }
  void push_all(native::worker_view& self) {
    for (task& t : tasks_) deque_.push(t, self);
  }
  void pop_all(native::worker_view& self) {
    while (deque_.pop(self) != nullptr) {
    }
  }
  /// Steals one task after the other until none is left. Touches each stolen task, as running it would.
  void steal_all(native::worker_view& self) {
    std::uint64_t sum = 0;
    for (task* t = nullptr; sum < size;) {
      if (deque_.steal(t, self) != steal_result::got) return;
      sum += t->type;
      t->payload[0] = std::byte{1};
    }
  }
  steal_result look(native::worker_view& self) {
    task* t = nullptr;
    return deque_.steal(t, self);
  }
  task& any() noexcept { return tasks_.front(); }
  void push(task& t, native::worker_view& self) { deque_.push(t, self); }
  void pop(native::worker_view& self) { static_cast<void>(deque_.pop(self)); }  // tasks_ keeps the task
  sleepers& parked() noexcept { return parked_; }

  static constexpr std::size_t size = 4096;

 private:
  sleepers parked_;
  own_deque<native::world> deque_{worker_id(0), worker_set::all(2)};
  std::vector<task> tasks_;
};

/// The owner's side: a push.
void measure_push(int cpu, scheduler_costs& c) {
  std::jthread([&] {
    bind_to(cpu);
    bare_deque deque;
    native::worker_view me(worker_id(0), node_id(0), deque.parked());
    double least = 1e30;
    for (int r = 0; r < 20; ++r) {
      least = std::min(least, seconds_of([&] { deque.push_all(me); }));
      deque.pop_all(me);
    }
    c.push = each(least, bare_deque::size);
  }).join();
}

/// The thief's side: a futile look while the owner works on its deque, and a theft.
void measure_theft(int owner, int thief, scheduler_costs& c) {
  bare_deque deque;
  std::atomic<int> step{0};  // even: the owner's turn
  constexpr int rounds = 20;
  std::atomic<bool> looks{false};
  double looked = 1e30, stole = 1e30;
  std::jthread other([&] {
    bind_to(owner);
    native::worker_view me(worker_id(0), node_id(0), deque.parked());
    for (int r = 0; r < rounds; ++r) {
      deque.push_all(me);
      step.store(2 * r + 1, std::memory_order_release);
      while (step.load(std::memory_order_acquire) != 2 * r + 2) {
      }
    }
    // The owner is busy with tasks of some hundred nanoseconds, which it finds itself.
    while (!looks.load(std::memory_order_acquire)) {
      deque.push(deque.any(), me);
      deque.pop(me);
      const auto until = clock_type::now() + std::chrono::nanoseconds(300);
      while (clock_type::now() < until) {
      }
    }
  });
  bind_to(thief);
  native::worker_view me(worker_id(1), node_id(0), deque.parked());
  for (int r = 0; r < rounds; ++r) {
    while (step.load(std::memory_order_acquire) != 2 * r + 1) {
    }
    stole = std::min(stole, seconds_of([&] { deque.steal_all(me); }));
    step.store(2 * r + 2, std::memory_order_release);
  }
  constexpr int attempts = 200;
  for (int r = 0; r < rounds * 10; ++r) {
    looked = std::min(looked, seconds_of([&] {
                        for (int a = 0; a < attempts; ++a) static_cast<void>(deque.look(me));
                      }));
  }
  looks.store(true, std::memory_order_release);
  other.join();
  c.attempt = each(looked, attempts);
  c.steal = std::max(0.1, each(stole, bare_deque::size) - c.attempt);
}

/// The time from a push until a worker that was asleep runs the task.
double wake_ns() {
  runtime_options o;
  o.workers = 2;
  o.spin = 0;
  runtime rt(o);
  std::vector<double> waits;
  rt.run([&] {
    for (int r = 0; r < 50; ++r) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::atomic<std::int64_t> started{0};
      const auto begin = clock_type::now();
      spawn([&] { started = (clock_type::now() - begin).count(); });
      while (started == 0) {
      }
      waits.push_back(static_cast<double>(started.load()));
      kith::wait();
    }
  });
  std::ranges::sort(waits);
  return waits[waits.size() / 2];
}

}  // namespace

measured_scheduler measure_scheduler(int first, int second) {
  measured_scheduler m;
  measure_push(first, m.costs);
  measure_runtime(m.costs);
  if (second < 0) {
    m.costs.attempt = m.costs.steal = m.costs.wake = m.costs.push;
    return m;
  }
  std::jthread([&] { measure_theft(first, second, m.costs); }).join();
  m.costs.wake = wake_ns();
  m.line_ns = line_ns(first, second);
  return m;
}

std::string text_of(const scheduler_costs& c) {
  return fmt::format(
      "[scheduler]\ncreate = {:.1f}\ndependence = {:.1f}\npush = {:.1f}\npop = {:.1f}\nattempt = {:.1f}\nsteal = "
      "{:.1f}\nwake = {:.0f}\nexplore = {:.1f}\n",
      c.create, c.dependence, c.push, c.pop, c.attempt, c.steal, c.wake, c.explore);
}

std::string source_of(const measured_scheduler& m) {
  if (m.line_ns == 0)
    return "measured: spawn, wait, explore and the deque on one worker; what takes two cores is taken for a push";
  return fmt::format(
      "measured: spawn, wait and explore on one worker, the deque on two cores (a line between them takes {:.0f} ns); "
      "the least of several runs, for wake the median",
      m.line_ns);
}

}  // namespace kith::tools
