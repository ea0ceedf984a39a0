// Heat on a plate, with one activity at each place for all steps. Each place has whole rows.
#include <kith/array_halo.hpp>
#include <kith/collectives.hpp>
#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>

using array = kith::distributed_array<double>;
using halo = kith::array_halo<double>;
constexpr std::int64_t rows = 60, columns = 50;

/// `to` gets the mean of each cell's neighbours in `from`. Above the plate it is hot. Returns the largest change.
static double step(array from, array to, halo around) {
  const std::span<const double> old = from.local(), above = around.before(), below = around.behind();
  const std::span<double> next = to.local();
  const std::int64_t own = std::ssize(old) / columns;  // rows
  const auto some_rows = [&](std::int64_t first, std::int64_t end, double change) {
    for (std::int64_t r = first; r < end; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const auto at = [&](std::int64_t i) { return old[static_cast<std::size_t>(i)]; };
        const auto k = static_cast<std::size_t>(c);
        const std::int64_t i = r * columns + c;
        const double up = r > 0 ? at(i - columns) : above.empty() ? 100 : above[k];
        const double down = r + 1 < own ? at(i + columns) : below.empty() ? 0 : below[k];
        const double left = c > 0 ? at(i - 1) : 0, right = c + 1 < columns ? at(i + 1) : 0;
        next[static_cast<std::size_t>(i)] = (up + down + left + right) / 4;
        change = std::max(change, std::abs(next[static_cast<std::size_t>(i)] - at(i)));
      }
    }
    return change;
  };
  return kith::parallel_reduce(0, own, 0.0, some_rows, [](double a, double b) { return std::max(a, b); });
}

static void work(array cells, array next, halo around, halo next_around) {
  int steps = 0;
  for (double change = 1; change > 0.1; ++steps) {
    kith::finish([&] { around.send(); });  // the neighbours have this place's border rows,
    kith::barrier();                       // and this place has theirs
    change = kith::all_reduce(step(cells, next, around), kith::reduction::largest);
    std::swap(cells, next);
    std::swap(around, next_around);
  }
  double sum = 0;
  for (const double c : cells.local()) sum += c;
  sum = kith::all_reduce(sum, kith::reduction::sum);
  if (kith::here() == 0) std::printf("%d steps, mean %.3f\n", steps, sum / (rows * columns));
}

int main() {
  kith::place_runtime places;
  places.run([] {
    const auto each = static_cast<std::uint64_t>((rows + kith::places() - 1) / kith::places() * columns);
    const auto layout = kith::array_layout::block_cyclic(each);  // blocks() could end within a row
    auto cells = array::make(rows * columns, layout), next = array::make(rows * columns, layout);
    auto around = halo::make(cells, columns), next_around = halo::make(next, columns);
    kith::finish([&] {
      for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<work>(cells, next, around, next_around);
    });
    around.destroy();
    next_around.destroy();
    cells.destroy();
    next.destroy();
  });
}
