// Adds up squares at all places. `survive 2` ends the process of place 2 meanwhile, and the sum is the same.
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

static long squares(long first, long end, int failing) {
  if (kith::here() == failing) std::raise(SIGKILL);
  long sum = 0;
  for (long i = first; i < end; ++i) sum += i * i;
  return sum;
}

int main(int argc, char** argv) try {
  kith::place_options options;
  options.on_loss = kith::place_loss::survivors_go_on;
  kith::place_runtime places(options);
  places.run([failing = argc > 1 ? std::atoi(argv[1]) : -1] {
    std::vector<kith::place_future<long>> parts;
    for (long i = 0; i < 100; ++i) {
      const int place = static_cast<int>(i % kith::places());
      parts.push_back(kith::at(place).idempotent().async<squares>(i * 1000, (i + 1) * 1000, failing));
    }
    long sum = 0;
    for (const auto& p : parts) sum += p.get();
    std::printf("the sum is %ld\n", sum);
  });
} catch (const kith::place_lost& e) {  // of place 0, without which nothing goes on
  std::fprintf(stderr, "%s\n", e.what());
  return 3;
}
