// Run by bench/recording.py, recorded and unrecorded: independent tasks, twice. Prints the time of the second run.
#include "kernel.hpp"

#include <kith/kith.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: kith-bench-recorded WORKERS TASKS ACCESSES NANOSECONDS\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtol(argv[i], nullptr, 10); };
  const long tasks = number(2), accesses = number(3);
  const double work = static_cast<double>(number(4));
  const auto iterations = static_cast<std::int64_t>(work / kith::bench::nanoseconds_per_iteration());
  static std::array<double, 8> data;
  kith::runtime_options options;
  options.workers = static_cast<int>(number(1));
  kith::runtime rt(options);
  double took = 0;
  for (int round = 0; round < 2; ++round) {
    const double began = kith::bench::now_nanoseconds();
    rt.run([&] {
      for (long t = 0; t < tasks; ++t) {
        const auto body = [iterations] { kith::bench::busy(iterations); };
        if (accesses == 0) {
          kith::spawn(body);
        } else {
          kith::access_list all;
          for (long a = 0; a < accesses; ++a) all.add(kith::in(data[static_cast<std::size_t>(a) % data.size()]));
          kith::spawn(body, all);
        }
      }
      kith::wait();
    });
    took = kith::bench::now_nanoseconds() - began;
  }
  std::printf("%.9g\n", took);
}
