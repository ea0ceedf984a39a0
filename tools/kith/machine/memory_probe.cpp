#include "machine/memory_probe.hpp"

#include "machine/measure.hpp"

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

namespace kith::tools {

namespace {

double sum_of(const double* p, std::size_t n) {
  double sum[4] = {};
  for (std::size_t i = 0; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sum[k] += p[i + k];
  }
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/// Calls `seconds_of` on every CPU at the same time, each with memory of its own.
std::vector<double> at_once(const std::vector<int>& cpus, int os_node, std::size_t bytes,
                            const std::function<double(double*)>& seconds_of) {
  std::atomic<int> ready{0};
  std::vector<double> least(cpus.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      bind_to(cpus[i]);
      const node_memory memory(bytes, os_node);
      ++ready;
      while (ready.load() < static_cast<int>(cpus.size())) ::sched_yield();
      least[i] = seconds_of(memory.doubles());
    });
  }
  threads.clear();
  return least;
}

}  // namespace

/// a = b + 3 c on every CPU at once. Returns gigabytes a second of all together, reads and writes.
double triad_gbs(const std::vector<int>& cpus, int os_node, std::size_t doubles) {
  const std::size_t bytes = doubles * sizeof(double) * 3;
  const std::vector<double> least = at_once(cpus, os_node, bytes, [&](double* a) {
    double *const b = a + doubles, *const c = b + doubles;
    return least_seconds([&] {
      for (std::size_t k = 0; k < doubles; ++k) a[k] = b[k] + 3 * c[k];
      asm volatile("" ::"r"(a) : "memory");
    });
  });
  return std::accumulate(least.begin(), least.end(), 0.0,
                         [&](double sum, double s) { return sum + static_cast<double>(bytes) / s * 1e-9; });
}

double sweep_gbs(const std::vector<int>& cpus, int os_node, std::size_t bytes) {
  const std::vector<double> least = at_once(cpus, os_node, bytes, [&](const double* at) {
    // Many small pieces, so that neither the first, which fetches the data, nor the last, when others have
    // ended, counts.
    double best = 1e30;
    for (int again = 0; again < 3; ++again) {
      best = std::min(best, least_seconds([&] {
                        const double sum = sum_of(at, bytes / sizeof(double));
                        asm volatile("" ::"x"(sum));
                      }));
    }
    return best;
  });
  return static_cast<double>(bytes) / *std::ranges::max_element(least) * 1e-9;
}

double between_gbs(int from, int to, int os_node, std::size_t bytes) {
  const node_memory memory(bytes, os_node);
  const std::size_t n = bytes / sizeof(double);
  constexpr int rounds = 20;
  std::atomic<int> turn{0};
  double least = 1e30;
  std::jthread writer([&] {
    bind_to(from);
    for (int r = 0; r < rounds; ++r) {
      while (turn.load(std::memory_order_acquire) != 2 * r) ::sched_yield();
      std::fill_n(memory.doubles(), n, r);
      turn.store(2 * r + 1, std::memory_order_release);
    }
  });
  std::jthread reader([&] {
    bind_to(to);
    for (int r = 0; r < rounds; ++r) {
      while (turn.load(std::memory_order_acquire) != 2 * r + 1) ::sched_yield();
      least = std::min(least, seconds_of([&] {
                         const double sum = sum_of(memory.doubles(), n);
                         asm volatile("" ::"x"(sum));
                       }));
      turn.store(2 * r + 2, std::memory_order_release);
    }
  });
  writer.join();
  reader.join();
  return static_cast<double>(bytes) / least * 1e-9;
}

/// Nanoseconds of a load on which the next load depends.
double chase_ns(int cpu, int os_node, std::size_t bytes) {
  double ns = 0;
  std::jthread([&] {
    bind_to(cpu);
    const node_memory memory(bytes, os_node);
    auto* next = reinterpret_cast<std::size_t*>(memory.doubles());
    constexpr std::size_t line = 64 / sizeof(std::size_t);
    const std::size_t lines = bytes / 64;
    std::vector<std::size_t> order(lines);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t draw = 12345;
    for (std::size_t i = lines; i-- > 1;) {
      draw = draw * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i], order[(draw >> 33) % (i + 1)]);
    }
    for (std::size_t i = 0; i < lines; ++i) next[order[i] * line] = order[(i + 1) % lines] * line;
    constexpr std::size_t steps = 1 << 19;
    std::size_t at = 0;
    ns = least_seconds([&] {
           for (std::size_t s = 0; s < steps; ++s) at = next[at];
           asm volatile("" ::"r"(at));
         }) /
         steps * 1e9;
  }).join();
  return ns;
}

/// Nanoseconds for a cache line to travel from one CPU to another.
double line_ns(int one, int other) {
  alignas(128) std::atomic<std::uint32_t> ball{0};
  constexpr std::uint32_t rounds = 100000;
  double ns = 0;
  std::jthread there([&] {
    bind_to(other);
    for (std::uint32_t r = 1; r < 2 * rounds; r += 2) {
      while (ball.load(std::memory_order_acquire) != r) {
      }
      ball.store(r + 1, std::memory_order_release);
    }
  });
  std::jthread here([&] {
    bind_to(one);
    ns = seconds_of([&] {
           for (std::uint32_t r = 1; r < 2 * rounds; r += 2) {
             ball.store(r, std::memory_order_release);
             while (ball.load(std::memory_order_acquire) != r + 1) {
             }
           }
         }) /
         (2 * rounds) * 1e9;
  });
  here.join();
  there.join();
  return ns;
}

last_level measure_last_level(const std::vector<int>& cpus, int os_node, std::uint64_t told, int told_per_node,
                              std::uint64_t own) {
  constexpr std::uint64_t most = std::uint64_t{256} << 20;
  const std::uint64_t first = std::max<std::uint64_t>(4 * own, 1 << 20);
  last_level found{told, told_per_node, 0};
  const std::vector<int> one{cpus.front()};
  found.gbs = sweep_gbs(one, os_node, first);
  const double memory = sweep_gbs(one, os_node, most);
  const double between = std::sqrt(found.gbs * memory);  // slower: most comes from memory
  if (memory < 0.8 * found.gbs) {
    std::uint64_t kept = first;
    // Disturbances only make a sweep slower, so a size is too large only if it is slow every time.
    const auto too_large = [&](std::size_t bytes) {
      for (int again = 0; again < 3; ++again) {
        if (sweep_gbs(one, os_node, bytes) >= between) return false;
      }
      return true;
    };
    const double step = std::pow(2.0, 0.25);
    for (double next = static_cast<double>(first) * step; next < static_cast<double>(most); next *= step) {
      const auto bytes = static_cast<std::size_t>(next) / 4096 * 4096;
      if (too_large(bytes)) break;
      kept = bytes;
    }
    found.bytes = std::min(kept, told != 0 ? told : kept);
  }
  // Three quarters for each, to leave room for other data.
  if (cpus.size() > 1 && sweep_gbs(cpus, os_node, found.bytes / 4 * 3) > between)
    found.per_node = static_cast<int>(cpus.size());
  return found;
}

}  // namespace kith::tools
