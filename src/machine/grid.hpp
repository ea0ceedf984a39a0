// A mesh or a torus: the distances of its vertices, and their neighbours.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace kith {

/// Vertices in up to three dimensions, x the fastest; `wraps` makes a torus of the mesh.
struct grid {
  int x = 1, y = 1, z = 1;
  bool wraps = false;

  int vertices() const noexcept { return x * y * z; }
  int hops(int a, int b) const noexcept {
    const auto apart = [this](int p, int q, int size) {
      const int straight = std::abs(p - q);
      return wraps ? std::min(straight, size - straight) : straight;
    };
    return apart(a % x, b % x, x) + apart(a / x % y, b / x % y, y) + apart(a / x / y, b / x / y, z);
  }
  /// The vertices one hop away, ascending, each once.
  class neighbours {
   public:
    const int* begin() const noexcept { return vertex_.data(); }
    const int* end() const noexcept { return vertex_.data() + count_; }
    int operator[](std::size_t i) const noexcept { return vertex_[i]; }
    void add(int v) noexcept {
      std::size_t at = count_;
      for (; at != 0 && vertex_[at - 1] >= v; --at) {
        if (vertex_[at - 1] == v) return;
      }
      for (std::size_t i = count_++; i > at; --i) vertex_[i] = vertex_[i - 1];
      vertex_[at] = v;
    }

   private:
    std::array<int, 6> vertex_{};
    std::size_t count_ = 0;
  };
  neighbours neighbours_of(int v) const noexcept {
    neighbours found;
    const auto look = [&](int at, int size, int stride) {
      for (const int step : {-1, 1}) {
        const int there = at + step;
        if (!wraps && (there < 0 || there >= size)) continue;
        const int other = v + ((there + size) % size - at) * stride;
        if (other != v) found.add(other);
      }
    };
    look(v % x, x, 1);
    look(v / x % y, y, x);
    look(v / x / y, z, x * y);
    return found;
  }
};

}  // namespace kith
