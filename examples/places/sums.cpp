// Every place fills its own part of a sequence and tells its neighbour; then place 0 adds up all parts.
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

struct part {
  std::vector<double> numbers;
  int neighbours_ready = 0;
};
static kith::place_local<part> mine;  // one for each place

static void fill(long first, long count) {
  mine->numbers.resize(static_cast<std::size_t>(count));
  std::iota(mine->numbers.begin(), mine->numbers.end(), static_cast<double>(first));
  const int next = (kith::here() + 1) % kith::places();
  kith::at(next).spawn([] { ++mine->neighbours_ready; });
}

int main() {
  kith::place_runtime places;  // as many as KITH_PLACES says, or as processes were started
  places.run([] {
    const long part_of_place = 250;
    kith::finish([&] {
      for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<fill>(p * part_of_place, part_of_place);
    });  // here all parts are filled, and all neighbours know
    std::vector<kith::place_future<double>> sums;
    for (int p = 0; p < kith::places(); ++p) {
      sums.push_back(
          kith::at(p).async([] { return std::accumulate(mine->numbers.begin(), mine->numbers.end(), 0.0); }));
    }
    double sum = 0;
    for (const auto& s : sums) sum += s.get();
    std::printf("%d places, sum %.0f\n", kith::places(), sum);
    try {
      kith::at(kith::places() - 1)
          .async([](int n) { return std::vector<int>{1, 2, 3}.at(static_cast<std::size_t>(n)); }, 7)
          .get();
    } catch (const kith::place_error& e) {
      std::printf("at place %d: failed\n", e.place());
    }
  });
}
