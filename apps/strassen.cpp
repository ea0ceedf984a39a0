// strassen: the product of two square matrices by Strassen's seven products of quarters.
//
// A join of seven in each step (parallel_invoke), with memory for the quarters' sums of each product. As `strassen` of
// BOTS. The values are small integers, so all sums are exact. Property checked:
//  S1  C r = A (B r) for eight vectors r without a zero (Freivalds): a single wrong value of C is always noticed.
#include "hash.hpp"
#include "list.hpp"

#include <array>

namespace kith::apps {

namespace {

constexpr parameter strassen_parameters[] = {
    {"size", "1024", "128", "rows and columns, a power of two"},
    {"alone", "64", "32", "matrices of this size are multiplied without a join"},
};

/// A square part of a matrix.
struct square {
  double* first;
  std::size_t size, stride;
  double& at(std::size_t row, std::size_t column) const noexcept { return first[row * stride + column]; }
  square quarter(std::size_t down, std::size_t right) const noexcept {
    return {&at(down * size / 2, right * size / 2), size / 2, stride};
  }
};

class matrix {
 public:
  explicit matrix(std::size_t size) : size_(size), values_(size * size) {}
  square all() noexcept { return {values_.data(), size_, size_}; }
  std::vector<double>& values() noexcept { return values_; }

 private:
  std::size_t size_;
  std::vector<double> values_;
};

/// to = a + sign * b
void add(square a, double sign, square b, square to) {
  for (std::size_t i = 0; i < to.size; ++i) {
    for (std::size_t j = 0; j < to.size; ++j) to.at(i, j) = a.at(i, j) + sign * b.at(i, j);
  }
}

void multiply_alone(square a, square b, square c) {
  for (std::size_t i = 0; i < c.size; ++i) {
    for (std::size_t j = 0; j < c.size; ++j) c.at(i, j) = 0;
    for (std::size_t k = 0; k < c.size; ++k) {
      const double factor = a.at(i, k);
      for (std::size_t j = 0; j < c.size; ++j) c.at(i, j) += factor * b.at(k, j);
    }
  }
}

void multiply(square a, square b, square c, std::size_t alone) {
  if (c.size <= alone || c.size % 2 != 0) {
    multiply_alone(a, b, c);
    return;
  }
  const std::size_t half = c.size / 2;
  const square a11 = a.quarter(0, 0), a12 = a.quarter(0, 1), a21 = a.quarter(1, 0), a22 = a.quarter(1, 1);
  const square b11 = b.quarter(0, 0), b12 = b.quarter(0, 1), b21 = b.quarter(1, 0), b22 = b.quarter(1, 1);
  std::array<matrix, 7> m{matrix(half), matrix(half), matrix(half), matrix(half),
                          matrix(half), matrix(half), matrix(half)};
  // Product p of (a1 + sa a2) and (b1 + sb b2); a sign of 0 means the first alone.
  const auto product = [&m, half, alone](std::size_t p, square a1, double sa, square a2, square b1, double sb,
                                         square b2) {
    return [=, &m] {
      matrix left(sa != 0 ? half : 0), right(sb != 0 ? half : 0);
      if (sa != 0) add(a1, sa, a2, left.all());
      if (sb != 0) add(b1, sb, b2, right.all());
      multiply(sa != 0 ? left.all() : a1, sb != 0 ? right.all() : b1, m[p].all(), alone);
    };
  };
  parallel_invoke(product(0, a11, 1, a22, b11, 1, b22), product(1, a21, 1, a22, b11, 0, b11),
                  product(2, a11, 0, a11, b12, -1, b22), product(3, a22, 0, a22, b21, -1, b11),
                  product(4, a11, 1, a12, b22, 0, b22), product(5, a21, -1, a11, b11, 1, b12),
                  product(6, a12, -1, a22, b21, 1, b22));
  const square c11 = c.quarter(0, 0), c12 = c.quarter(0, 1), c21 = c.quarter(1, 0), c22 = c.quarter(1, 1);
  for (std::size_t i = 0; i < half; ++i) {
    for (std::size_t j = 0; j < half; ++j) {
      const auto value = [&](std::size_t p) { return m[p].all().at(i, j); };
      c11.at(i, j) = value(0) + value(3) - value(4) + value(6);
      c12.at(i, j) = value(2) + value(4);
      c21.at(i, j) = value(1) + value(3);
      c22.at(i, j) = value(0) - value(1) + value(2) + value(5);
    }
  }
}

class strassen final : public app {
 public:
  explicit strassen(const arguments& a)
      : size_(static_cast<std::size_t>(a.number("size", 1, 1 << 14))),
        alone_(static_cast<std::size_t>(a.number("alone", 1, 1 << 14))),
        seed_(a.seed()),
        a_(size_),
        b_(size_),
        c_(size_) {
    if ((size_ & (size_ - 1)) != 0)
      throw error("strassen: --size " + std::to_string(size_) + ": expected a power of two");
  }

  void prepare(const target&) override {
    for (std::size_t i = 0; i < size_ * size_; ++i) {
      a_.values()[i] = input(2 * i);
      b_.values()[i] = input(2 * i + 1);
      c_.values()[i] = 0;
    }
  }
  void solve(const target& where) override {
    static const task_type type{"strassen"};
    where.on.run([&] { spawn([this] { multiply(a_.all(), b_.all(), c_.all(), alone_); }, type); });
  }
  verdict verify() override {
    constexpr int vectors = 8;
    for (int v = 0; v < vectors; ++v) {
      std::vector<double> r(size_);
      for (std::size_t i = 0; i < size_; ++i)
        r[i] = 1 + static_cast<double>(hash(seed_ + 1 + static_cast<std::uint64_t>(v), i) % 64);
      const std::vector<double> expected = times(a_, times(b_, r)), got = times(c_, r);
      for (std::size_t i = 0; i < size_; ++i) {
        if (got[i] == expected[i]) continue;
        return {false, "row " + std::to_string(i) + " of C r is " + std::to_string(got[i]) + ", of A (B r) " +
                           std::to_string(expected[i])};
      }
    }
    return {true,
            "C r = A (B r) for " + std::to_string(vectors) + " vectors of " + std::to_string(size_) + " integers"};
  }
  std::vector<figure> figures() const override {
    std::int64_t multiplications = 1;
    std::size_t n = size_;
    for (; n > alone_; n /= 2) multiplications *= 7;
    return {{"rows", static_cast<std::int64_t>(size_)}, {"products_alone", multiplications}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(c_.values())); }

 private:
  double input(std::uint64_t i) const noexcept { return static_cast<double>(hash(seed_, i) % 9) - 4; }
  std::vector<double> times(matrix& m, const std::vector<double>& r) const {
    std::vector<double> product(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) product[i] += m.values()[i * size_ + j] * r[j];
    }
    return product;
  }

  std::size_t size_, alone_;
  std::uint64_t seed_;
  matrix a_, b_, c_;
};

}  // namespace

const entry strassen_entry = {"strassen", "BOTS", "Strassen's matrix product: a join of seven in each step",
                              strassen_parameters, make<strassen>};

}  // namespace kith::apps
