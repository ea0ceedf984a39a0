#include "ping_pong.hpp"

#include "kernel.hpp"
#include "memory.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace kith::bench {

namespace {

void bind_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);  // if refused, measures unbound, which is still useful
}

struct alignas(128) line {
  std::atomic<long> value{0};
};

constexpr double measuring_ns = 7e6;
constexpr double batch_trips = 64;

/// Plays round trips in small batches for about `measuring_ns`. Returns the one-way time of the median
/// batch, so that a preemption does not count.
double play(line& mine, line& other) {
  std::vector<double> batches;
  const double until = now_nanoseconds() + measuring_ns;
  long trip = 0;
  for (double from = now_nanoseconds(); from < until;) {
    for (int i = 0; i < batch_trips; ++i) {
      mine.value.store(++trip, std::memory_order_release);
      while (other.value.load(std::memory_order_acquire) != trip) {
      }
    }
    const double to = now_nanoseconds();
    batches.push_back((to - from) / (2 * batch_trips));
    from = to;
  }
  mine.value.store(-1, std::memory_order_release);
  std::nth_element(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2), batches.end());
  return batches[batches.size() / 2];
}

}  // namespace

std::string_view name_of(distance d) {
  switch (d) {
    case distance::near: return "near";
    case distance::mid: return "mid";
    case distance::far: return "far";
  }
  return "?";
}

distance distance_of(double one_way_ns) {
  return one_way_ns < 35 ? distance::near : one_way_ns < 100 ? distance::mid : distance::far;
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &set)) cores.push_back(c);
  }
  return cores;
}

machine_state measure_machine(const std::vector<int>& cores) {
  machine_state state{0, 0};
  if (cores.size() < 2) {
    state.iteration_ns = nanoseconds_per_iteration();
    return state;
  }
  line ping, pong;
  double there = 0, here = 0;
  std::thread partner([&] {
    bind_to(cores[1]);
    for (long seen = 0; seen >= 0;) {
      const long now = ping.value.load(std::memory_order_acquire);
      if (now != seen) pong.value.store(seen = now, std::memory_order_release);
    }
    there = nanoseconds_per_iteration();
  });
  std::thread self([&] {
    bind_to(cores[0]);
    state.one_way_ns = play(ping, pong);
    here = nanoseconds_per_iteration();
  });
  self.join();
  partner.join();
  state.iteration_ns = std::min(here, there);
  return state;
}

}  // namespace kith::bench
