// The time to start and stop a runtime, beside as many bare threads that sleep until they are told to end. Started
// by `kith-bench startup`, in a fresh process for each sample. Prints five numbers, in milliseconds: the start of
// the first runtime of the process, the median start and stop of later ones, and the median start and end of the
// bare threads.
//
//   kith-bench-startup WORKERS
#include <kith/kith.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;

double milliseconds(steady::time_point from, steady::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

struct times {
  double start, stop;
};

times of_runtime(int workers) {
  kith::runtime_options o;
  o.workers = workers;
  o.oversubscribe = true;
  std::optional<kith::runtime> made;
  const auto begin = steady::now();
  made.emplace(o);
  const auto started = steady::now();
  made.reset();
  return {milliseconds(begin, started), milliseconds(started, steady::now())};
}

/// As in a runtime: the calling thread is one of the workers, and each other has a stack of 64 MiB of address space.
times of_threads(int workers) {
  static std::atomic<bool> over{false};
  over = false;
  std::vector<pthread_t> threads(static_cast<std::size_t>(workers - 1));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{64} << 20);
  const auto begin = steady::now();
  for (pthread_t& t : threads) {
    if (pthread_create(
            &t, &attributes,
            [](void*) -> void* {
              over.wait(false);
              return nullptr;
            },
            nullptr) != 0) {
      std::fprintf(stderr, "kith-bench-startup: the system starts no further thread; ask for fewer workers\n");
      std::exit(2);
    }
  }
  const auto started = steady::now();
  over = true;
  over.notify_all();
  for (pthread_t t : threads) pthread_join(t, nullptr);
  const auto ended = steady::now();
  pthread_attr_destroy(&attributes);
  return {milliseconds(begin, started), milliseconds(started, ended)};
}

double median(std::vector<times> all, double times::* of) {
  std::ranges::sort(all, {}, of);
  return all[all.size() / 2].*of;
}

}  // namespace

int main(int argc, char** argv) {
  const long workers_asked = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  const int workers = workers_asked <= 4096 ? static_cast<int>(workers_asked) : 0;
  if (workers < 1) {
    std::fprintf(stderr, "kith-bench-startup: expected the number of workers; this program is started by kith-bench\n");
    return 2;
  }
  const times first = of_runtime(workers);
  std::vector<times> runtimes, threads;
  for (int round = 0; round < 9; ++round) {  // in turns, because other programs may run
    runtimes.push_back(of_runtime(workers));
    threads.push_back(of_threads(workers));
  }
  std::printf("%.4f %.4f %.4f %.4f %.4f\n", first.start, median(runtimes, &times::start),
              median(runtimes, &times::stop), median(threads, &times::start), median(threads, &times::stop));
  return std::fflush(stdout) == 0 ? 0 : 2;
}
