// What valgrind's tools run: a product of matrices, and updates of random cells. Prints a sum, so that nothing is left
// out.
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace {

constexpr std::size_t n = 64, cells = std::size_t{1} << 16;
double a[n][n], b[n][n], c[n][n];
std::uint32_t table[cells];

}  // namespace

int main() {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      a[i][j] = static_cast<double>(i + j);
      b[i][j] = static_cast<double>(i) - static_cast<double>(j);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  std::uint64_t draw = 1;
  for (int i = 0; i < 100'000; ++i) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    table[draw >> 48] += static_cast<std::uint32_t>(draw);
  }
  std::printf("%g %u\n", c[n / 2][n / 3], table[12345]);
}
