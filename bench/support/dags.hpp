// The task graphs of `dag`, as sequential programs on cells. A program has its numbers of cells and of tasks,
// and emits its tasks in order: to.task(x, a, b) is a task that updates cell x and reads the cells a and b.
#pragma once

#include <cstdint>

namespace kith::bench {

/// n x n cells; each is updated once, after the cells above and to the left.
struct wavefront {
  std::int64_t n;
  static constexpr bool by_address = false;  // systems that offer both use typed handles

  std::int64_t cells() const { return n * n; }
  std::int64_t tasks() const { return n * n; }

  template <class Emit>
  void emit(Emit&& to) const {
    to.task(std::int64_t{0});
    for (std::int64_t j = 1; j < n; ++j) to.task(j, j - 1);
    for (std::int64_t i = 1; i < n; ++i) {
      const std::int64_t row = i * n;
      to.task(row, row - n);
      for (std::int64_t x = row + 1; x < row + n; ++x) to.task(x, x - n, x - 1);
    }
  }
};

/// The same by address, for systems that offer both.
struct wavefront_by_address : wavefront {
  static constexpr bool by_address = true;
};

/// The tasks of a right-looking tiled Cholesky factorisation of n x n tiles.
struct cholesky {
  std::int64_t n;
  static constexpr bool by_address = true;  // data is known only by address, as in a library that is given a matrix

  std::int64_t cells() const { return n * n; }
  std::int64_t tasks() const { return n + n * (n - 1) + n * (n - 1) * (n - 2) / 6; }

  template <class Emit>
  void emit(Emit&& to) const {
    for (std::int64_t k = 0; k < n; ++k) {
      to.task(k * n + k);                                                      // potrf
      for (std::int64_t i = k + 1; i < n; ++i) to.task(i * n + k, k * n + k);  // trsm
      for (std::int64_t i = k + 1; i < n; ++i) {
        for (std::int64_t j = k + 1; j < i; ++j) to.task(i * n + j, i * n + k, j * n + k);  // gemm
        to.task(i * n + i, i * n + k);                                                      // syrk
      }
    }
  }
};

/// n tasks without any data.
struct independent {
  std::int64_t n;
  static constexpr bool by_address = false;

  std::int64_t cells() const { return 0; }
  std::int64_t tasks() const { return n; }

  template <class Emit>
  void emit(Emit&& to) const {
    for (std::int64_t i = 0; i < n; ++i) to.free_task();
  }
};

/// A tree of n tasks without data: task i creates the tasks 2i+1 and 2i+2, and does not wait for them. To emit it means
/// to run it in order.
struct nested {
  std::int64_t n;
  static constexpr bool by_address = false, nests = true;

  std::int64_t cells() const { return 0; }
  std::int64_t tasks() const { return n; }

  template <class Emit>
  void emit(Emit&& to) const {
    for (std::int64_t i = 0; i < n; ++i) to.free_task();
  }
  /// Calls create(child) for the tasks that task `i` creates.
  template <class Create>
  void children(std::int64_t i, const Create& create) const {
    for (std::int64_t c = 2 * i + 1; c <= 2 * i + 2 && c < n; ++c) create(c);
  }
};
template <class Program>
inline constexpr bool is_nested = requires { Program::nests; };

/// n tasks that wait for a first one. Measures the memory of unstarted tasks, which `independent` would have started.
struct fan {
  std::int64_t n;
  static constexpr bool by_address = false;

  std::int64_t cells() const { return 1; }
  std::int64_t tasks() const { return n; }

  template <class Emit>
  void emit(Emit&& to) const {
    to.task(std::int64_t{0});
    for (std::int64_t i = 1; i < n; ++i) to.reader(std::int64_t{0});
  }
};

}  // namespace kith::bench
