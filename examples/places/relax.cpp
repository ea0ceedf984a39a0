// A smoothing of an array that is dealt to the places: halos, then a reduction.
#include <kith/array_halo.hpp>
#include <kith/collectives.hpp>
#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <cstdio>
#include <span>

using array = kith::distributed_array<double>;
using halo = kith::array_halo<double>;

static void relax(array cells, halo around) {
  const std::span<double> mine = cells.local();
  double left = around.before().empty() ? 0 : around.before().back();
  const double right = around.behind().empty() ? 0 : around.behind().front();
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const double old = mine[i];
    mine[i] = (left + old + (i + 1 < mine.size() ? mine[i + 1] : right)) / 3;
    left = old;
  }
}

static void add_up(array cells) {
  double sum = 0;
  for (const double c : cells.local()) sum += c;
  sum = kith::all_reduce(sum, kith::reduction::sum);
  if (kith::here() == 0) std::printf("sum %.3f\n", sum);
}

int main() {
  kith::place_runtime places;
  places.run([] {
    auto cells = array::make(1000);  // one activity makes it, for all places
    auto around = halo::make(cells, 1);
    kith::finish([&] {
      for (int p = 0; p < kith::places(); ++p) {
        kith::at(p).spawn(
            [](array a) {
              for (double& c : a.local()) c = 1;
            },
            cells);
      }
    });
    for (int step = 0; step < 10; ++step) {
      kith::finish([&] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn([](halo h) { h.send(); }, around);
      });  // now all copies are there
      kith::finish([&] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<relax>(cells, around);
      });
    }
    kith::finish([&] {  // a collective: one activity at every place calls it
      for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<add_up>(cells);
    });
    around.destroy();
    cells.destroy();
  });
}
