#include "machine/probe.hpp"

#include "machine/limits.hpp"
#include "machine/machine.hpp"

#include <kith/kith.hpp>

#include <fmt/core.h>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace kith::tools {

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& f) {
  const auto begin = clock_type::now();
  f();
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

constexpr int repeats = 5;

/// The least of some repetitions: what disturbs makes it longer.
double least_seconds(const std::function<void()>& f) {
  double least = 1e30;
  for (int r = 0; r < repeats; ++r) least = std::min(least, seconds_of(f));
  return least;
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::sched_setaffinity(0, sizeof set, &set);  // refused: it runs somewhere all the same
}

/// Memory on a node, where the system allows that.
class node_memory {
 public:
  node_memory(std::size_t bytes, int os_node) : bytes_(bytes) {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    at_ = static_cast<std::byte*>(p);
    unsigned long mask[16] = {};
    mask[os_node / 64] = 1ul << (os_node % 64);
    bound = ::syscall(SYS_mbind, p, bytes, MPOL_BIND, mask, sizeof mask * 8, 0) == 0;
    std::fill_n(at_, bytes, std::byte{1});
  }
  ~node_memory() { ::munmap(at_, bytes_); }
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;
  double* doubles() const noexcept { return reinterpret_cast<double*>(at_); }
  bool bound = false;

 private:
  std::byte* at_;
  std::size_t bytes_;
};

/// a = b + 3 c on every cpu at once; gigabytes a second of all together, reads and writes.
double triad_gbs(const std::vector<int>& cpus, int os_node, std::size_t doubles) {
  std::atomic<int> ready{0};
  std::vector<double> least(cpus.size(), 1e30);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      bind_to(cpus[i]);
      const node_memory memory(3 * doubles * sizeof(double), os_node);
      double *a = memory.doubles(), *b = a + doubles, *c = b + doubles;
      ++ready;
      while (ready.load() < static_cast<int>(cpus.size())) ::sched_yield();
      least[i] = least_seconds([&] {
        for (std::size_t k = 0; k < doubles; ++k) a[k] = b[k] + 3 * c[k];
        asm volatile("" ::"r"(a) : "memory");
      });
    });
  }
  threads.clear();
  const double bytes = static_cast<double>(doubles) * sizeof(double) * 3;
  return std::accumulate(least.begin(), least.end(), 0.0, [&](double sum, double s) { return sum + bytes / s * 1e-9; });
}

/// Reading what fits a cache, again and again.
double cache_gbs(int cpu, int os_node, std::size_t bytes) {
  double gbs = 0;
  std::jthread([&] {
    bind_to(cpu);
    const node_memory memory(bytes, os_node);
    const std::size_t n = bytes / sizeof(std::uint64_t);
    const auto* p = reinterpret_cast<const std::uint64_t*>(memory.doubles());
    gbs = static_cast<double>(bytes) / least_seconds([&] {
            std::uint64_t sum[4] = {};
            for (std::size_t i = 0; i + 4 <= n; i += 4) {
              for (std::size_t k = 0; k < 4; ++k) sum[k] += p[i + k];
            }
            asm volatile("" ::"r"(sum[0] + sum[1] + sum[2] + sum[3]));
          }) *
          1e-9;
  }).join();
  return gbs;
}

/// Nanoseconds of a load that the next one waits for.
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

/// Nanoseconds for a cache line to go from one cpu to another.
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

struct scheduler_figures {
  double create, dependence, run, explore;
};

/// Of one worker: nanoseconds for each.
scheduler_figures measure_scheduler() {
  constexpr int tasks = 100000;
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
  const auto each = [](double seconds) { return std::max(1.0, seconds / tasks * 1e9); };
  return {each(create), each(with_access - create), each(run), each(explored - create - run)};
}

/// Nanoseconds from the push until a worker that has slept runs the task.
double wake_ns(int workers) {
  if (workers < 2) return 0;
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

std::string name_of_this_machine(const std::string& title) {
  std::string name;
  for (char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "this-machine" : name;
}

}  // namespace

std::string probe_machine(progress& p) {
  const machine here = discover_machine();
  const worker_plan plan = plan_workers(here, process_limits(), std::nullopt, false);
  std::vector<std::vector<int>> cpus(here.nodes.size());  // that may be used, by node
  for (std::size_t w = 0; w < plan.cores.size(); ++w) {
    if (plan.cpus[w] < 0) continue;
    cpus[here.cores[plan.cores[w].index()].node.index()].push_back(plan.cpus[w]);
  }
  std::uint64_t cache = 0;
  int level = 0;
  for (const machine::cache& c : here.caches) {
    if (c.level >= level && c.bytes != 0) {
      level = c.level;
      cache = c.bytes;
    }
  }
  if (cache == 0) cache = 8 << 20;
  const std::size_t large = std::clamp<std::size_t>(4 * cache, std::size_t{64} << 20, std::size_t{512} << 20);
  std::size_t first = 0;
  while (first < cpus.size() && cpus[first].empty()) ++first;
  if (first == cpus.size()) throw error("kith machine --probe: this process may not choose its cores");

  p.stage("memory: one core, then all of a node");
  const int os_first = here.nodes[first].os_index;
  const double core = triad_gbs({cpus[first].front()}, os_first, large / 3 / sizeof(double));
  const double node = triad_gbs(cpus[first], os_first, large / 3 / sizeof(double));
  p.stage("cache");
  const double cached = cache_gbs(cpus[first].front(), os_first, std::min<std::size_t>(cache / 4, 4 << 20));
  p.stage("latency between nodes");
  std::string matrix;
  double local = 0;
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    matrix += a == 0 ? "[" : ", [";
    for (std::size_t b = 0; b < cpus.size(); ++b) {
      int distance = a == b ? 10 : here.distance(node_id(static_cast<int>(a)), node_id(static_cast<int>(b)));
      if (!cpus[a].empty() && (a == b || cpus.size() > 1)) {
        const double ns = chase_ns(cpus[a].front(), here.nodes[b].os_index, large);
        if (a == b) local = ns;
        if (a != b && local > 0) distance = std::max(10, static_cast<int>(std::lround(10 * ns / local)));
      }
      matrix += (b == 0 ? "" : ", ") + std::to_string(distance);
    }
    matrix += "]";
  }
  p.stage("the scheduler");
  const scheduler_figures s = measure_scheduler();
  const double line = plan.cpus.size() > 1 && plan.cpus[1] >= 0 ? line_ns(plan.cpus[0], plan.cpus[1]) : 100;
  const double wake = wake_ns(plan.workers);
  p.clear();

  std::string per_node;
  for (std::size_t n = 0; n < cpus.size(); ++n) per_node += (n == 0 ? "" : ", ") + std::to_string(cpus[n].size());
  const std::string day = [] {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
    return std::string(text);
  }();
  return fmt::format(
      R"(# {0}, measured on {1} with `kith machine --probe`.
name = "{2}"
title = "{0}, as measured"

[cores]
nodes = {3}
per_node = [{4}]
ghz = 1.0

[distance]
matrix = [{5}]

[cache]
bytes = {6}
gbs = {7:.1f}

[memory]
gbs = {8:.1f}
core_gbs = {9:.1f}
page_bytes = {10}

[interconnect]
{11}

[scheduler]
create = {12:.0f}
dependence = {13:.0f}
push = {14:.0f}
pop = {15:.0f}
attempt = {16:.0f}
steal = {17:.0f}
wake = {18:.0f}
explore = {19:.0f}

[tasks]
metadata_bytes = 0
overlap = 0.5
noise = 0.03

[abstract]
memory_share = 0.5
remote_factor = 2.0

[sources]
"cores" = "measured: what this process may use of it; the clock is not measured"
"distance" = "measured: loads that wait for each other, {20:.0f} ns at home"
"cache.bytes" = "vendor: as the system says"
"cache.gbs" = "measured: one core reads what fits its caches"
"memory.gbs" = "measured: triad on all cores of a node"
"memory.core_gbs" = "measured: triad on one core"
"memory.page_bytes" = "measured: as the system says"
"interconnect" = "assumed: a link between each two nodes, half as fast as a node's memory"
"scheduler" = "measured: spawn, wait and explore on one worker; a line between two cores takes {21:.0f} ns, a push one, a look one, a steal three"
"tasks" = "assumed"
"abstract" = "assumed"
)",
      here.name, day, name_of_this_machine(here.name), cpus.size(), per_node, matrix, cache, cached, node, core,
      ::sysconf(_SC_PAGESIZE),
      cpus.size() > 1 ? fmt::format("kind = \"full\"\ngbs = {:.1f}", node / 2) : "kind = \"none\"", s.create * 0.7,
      s.dependence, s.create * 0.3, s.run, line, 3 * line, wake, s.explore, local, line);
}

}  // namespace kith::tools
