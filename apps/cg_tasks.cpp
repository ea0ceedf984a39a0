// cg_tasks: conjugate gradients on a sparse matrix as data-flow tasks, with each block of rows on its own pages.
//
// RIP paper, section 5.2 (the decomposition of Jaulmes and others). An iteration: q = A d, and d.q of each block;
// alpha; x += alpha d, g -= alpha q, and g.g of each block; beta; the next d = g + beta d, in the other of two
// buffers. A block of the product waits for the blocks of d whose columns it uses. The expert placement deals
// blocks round robin. Window: one iteration, of which half stays. The matrix is read from a Matrix Market file, or
// is that of a 27-point stencil on a cube. The paper does not print the size; a cube of 128 and two blocks for
// each of 32 cores are assumed. `cg` is NabbitC's program, on NAS's matrix. Verified as described in cg_check.hpp.
#include "blocks.hpp"
#include "cg_check.hpp"
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace kith::apps {

namespace {

constexpr parameter cg_tasks_parameters[] = {
    {"input", "", "", "a Matrix Market file with a symmetric, positive definite matrix"},
    {"size", "40", "16", "edge of the cube that the matrix is made of", "128"},
    {"iterations", "25", "12", "iterations", "30"},
    {"block", "4096", "512", "rows of a task", "32768"},
};

/// The rows of a matrix, from a list of entries or from the stencil: 26 on the diagonal, -1 for each neighbour.
class rows_of_matrix {
 public:
  explicit rows_of_matrix(const arguments& a) {
    a.exclude("input", "size");
    if (!a.has("input")) {
      edge_ = a.number("size", 1, 1 << 10);
      count_ = edge_ * edge_ * edge_;
      return;
    }
    matrix m = read_symmetric_matrix(a.text("input"));
    source_ = m.source;
    count_ = m.rows;
    entries_ = merged(std::move(m.entries));
    first_.assign(static_cast<std::size_t>(count_) + 1, 0);
    for (const matrix::entry& e : entries_) ++first_[e.row + std::size_t{1}];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }

  std::int64_t count() const noexcept { return count_; }
  const std::string& source() const noexcept { return source_; }

  /// Calls f(column, value) for each entry of row i, in the order of columns.
  template <class F>
  void for_each(std::int64_t i, F&& f) const {
    if (edge_ == 0) {
      const auto row = static_cast<std::size_t>(i);
      for (std::size_t e = first_[row]; e < first_[row + 1]; ++e)
        f(static_cast<std::int64_t>(entries_[e].column), entries_[e].value);
      return;
    }
    const std::int64_t x = i % edge_, y = i / edge_ % edge_, z = i / edge_ / edge_;
    const auto from = [](std::int64_t c) { return std::max<std::int64_t>(c - 1, 0); };
    const auto to = [this](std::int64_t c) { return std::min(c + 1, edge_ - 1); };
    for (std::int64_t w = from(z); w <= to(z); ++w) {
      for (std::int64_t v = from(y); v <= to(y); ++v) {
        for (std::int64_t u = from(x); u <= to(x); ++u) {
          const std::int64_t column = (w * edge_ + v) * edge_ + u;
          f(column, column == i ? 26.0 : -1.0);
        }
      }
    }
  }

 private:
  std::int64_t edge_ = 0, count_ = 0;  // an edge of 0: the matrix is from a file
  std::string source_ = "27-point stencil";
  std::vector<matrix::entry> entries_;
  std::vector<std::size_t> first_;
};

class cg_tasks final : public app {
 public:
  explicit cg_tasks(const arguments& a) : cg_tasks(a, rows_of_matrix(a)) {}

  void prepare(const target& where) override {
    static const task_type of_matrix{"cg_initial_matrix"}, of_vectors{"cg_initial_vectors"}, of_rho{"cg_initial_rho"};
    where.run([&] {
      for (std::int64_t b = 0; b < rows_.count(); ++b) {
        spawn([this, b] { fill_matrix(b); }, of_matrix, where.turn(b), out(values_[b], entries_of(b)),
              out(places_[b], entries_of(b)), starts_.out(b), work{0});
      }
      for (std::int64_t b = 0; b < rows_.count(); ++b) {
        spawn([this, b] { fill_vectors(b); }, of_vectors, where.turn(b), x_.out(b), g_.out(b), q_.out(b), d_[0].out(b),
              d_[1].out(b), gg_.out(b), work{0});
      }
      access_list all = sums(gg_);
      all.add(scalars_.out(rho));
      spawn([this] { *scalars_[rho] = sum(gg_); }, of_rho, node{0}, all, work{0});
    });
  }

  void solve(const target& where) override {
    where.run([&] {
      for (std::int64_t k = 0; k < iterations_; ++k) iterate(k, where);
    });
  }

  verdict verify() override {
    std::vector<matrix::entry> entries;
    for (std::int64_t i = 0; i < rows_.items; ++i) {
      matrix_.for_each(i, [&](std::int64_t j, double value) {
        entries.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j), value});
      });
    }
    std::vector<double> b;
    for (std::int64_t i = 0; i < rows_.items; ++i) b.push_back(right_side(i));
    return check_(entries, b, iterations_, whole(x_), whole(g_));
  }

  std::vector<figure> figures() const override {
    double norm = 0;
    for (double g : whole(g_)) norm += g * g;
    std::int64_t nonzeros = 0;
    for (std::size_t n : nonzeros_) nonzeros += static_cast<std::int64_t>(n);
    return {{"source", matrix_.source()}, {"rows", rows_.items},       {"nonzeros", nonzeros},
            {"blocks", rows_.count()},    {"iterations", iterations_}, {"residual", std::sqrt(norm)}};
  }
  std::span<std::byte> output() override { return x_.bytes(); }

 private:
  enum scalar : std::uint8_t { rho, alpha, beta };  // rho: g.g
  /// The part of a block of columns that is used: columns `first` to `last`.
  struct use {
    std::int64_t block = -1, first = INT64_MAX, last = -1;
  };

  cg_tasks(const arguments& a, rows_of_matrix m)
      : matrix_(std::move(m)),
        rows_{matrix_.count(), std::min(a.number("block", 1, 1 << 30), matrix_.count())},
        iterations_(a.number("iterations", 1, 1 << 20)),
        seed_(a.seed()),
        most_(survey()),
        values_(rows_.count(), most_),
        places_(rows_.count(), most_),
        starts_(rows_.count(), rows_.each + 1),
        x_(vector()),
        g_(vector()),
        q_(vector()),
        d_{vector(), vector()},
        dq_(rows_.count(), 1),
        gg_(rows_.count(), 1),
        scalars_(3, 1) {}

  /// Counts the entries of each block and finds the blocks of their columns. Returns the largest count.
  std::int64_t survey() {
    std::vector<use> of_block;
    for (std::int64_t b = 0; b < rows_.count(); ++b) {
      of_block.assign(static_cast<std::size_t>(rows_.count()), {});
      std::size_t entries = 0;
      for (std::int64_t i = rows_.begin(b); i < rows_.end(b); ++i) {
        matrix_.for_each(i, [&](std::int64_t column, double) {
          use& u = of_block[static_cast<std::size_t>(column / rows_.each)];
          u.block = column / rows_.each;
          u.first = std::min(u.first, column);
          u.last = std::max(u.last, column);
          ++entries;
        });
      }
      of_block[static_cast<std::size_t>(b)] = {b, rows_.begin(b), rows_.end(b) - 1};  // d.q uses its own
                                                                                      // block completely
      nonzeros_.push_back(entries);
      std::erase_if(of_block, [](const use& u) { return u.block < 0; });
      uses_.push_back(of_block);
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(*std::ranges::max_element(nonzeros_)));
  }
  paged<double> vector() const { return {rows_.count(), rows_.each}; }
  /// The entries of block b; at least 1, so that each block is a region.
  std::size_t entries_of(std::int64_t b) const noexcept {
    return std::max<std::size_t>(1, nonzeros_[static_cast<std::size_t>(b)]);
  }
  double right_side(std::int64_t i) const noexcept { return hash_unit(seed_, static_cast<std::uint64_t>(i)) - 0.5; }

  void fill_matrix(std::int64_t b) const {
    std::uint32_t at = 0;
    for (std::int64_t r = 0; r < rows_.size(b); ++r) {
      starts_[b][r] = at;
      matrix_.for_each(rows_.begin(b) + r, [&](std::int64_t column, double value) {
        values_[b][at] = value;
        // An offset into the pages of a vector, so that the product need not divide.
        places_[b][at] = static_cast<std::uint32_t>(d_[0][column / rows_.each] - d_[0][0] + column % rows_.each);
        ++at;
      });
    }
    starts_[b][rows_.size(b)] = at;
  }
  void fill_vectors(std::int64_t b) const {
    *gg_[b] = 0;
    for (std::int64_t r = 0; r < rows_.size(b); ++r) {
      x_[b][r] = q_[b][r] = d_[1][b][r] = 0;
      g_[b][r] = d_[0][b][r] = right_side(rows_.begin(b) + r);
      *gg_[b] += g_[b][r] * g_[b][r];
    }
  }

  void iterate(std::int64_t k, const target& where) {
    static const task_type multiply{"cg_multiply"}, step{"cg_alpha"}, update{"cg_update"}, turn{"cg_beta"},
        direct{"cg_direct"};
    const paged<double>&d = d_[k % 2], &next = d_[1 - k % 2];
    const auto linear = [this](std::int64_t b, int each) {
      return work_of(static_cast<double>(each * rows_.size(b)), rate::streamed);
    };
    for (std::int64_t b = 0; b < rows_.count(); ++b) {
      access_list all;
      all.add(in(values_[b], entries_of(b)));
      all.add(in(places_[b], entries_of(b)));
      all.add(starts_.in(b));
      for (const use& u : uses_[static_cast<std::size_t>(b)])
        all.add(d.in(u.block).touching(static_cast<std::size_t>(u.last - u.first + 1) * sizeof(double)));
      all.add(q_.out(b));
      all.add(dq_.out(b));
      spawn([this, b, &d] { product(b, d); }, multiply, where.turn(b), all,
            work_of(2 * static_cast<double>(entries_of(b)), rate::streamed));
    }
    access_list before = sums(dq_);
    before.add(scalars_.in(rho));
    before.add(scalars_.out(alpha));
    spawn([this, k] { find_alpha(k); }, step, node{0}, before,
          work_of(static_cast<double>(rows_.count()), rate::chained));
    for (std::int64_t b = 0; b < rows_.count(); ++b) {
      spawn([this, b, &d] { move_on(b, d); }, update, where.turn(b), scalars_.in(alpha), d.in(b), q_.in(b), x_.inout(b),
            g_.inout(b), gg_.out(b), linear(b, 6));
    }
    access_list after = sums(gg_);
    after.add(scalars_.inout(rho));
    after.add(scalars_.out(beta));
    spawn([this] { find_beta(); }, turn, node{0}, after, work_of(static_cast<double>(rows_.count()), rate::chained));
    for (std::int64_t b = 0; b < rows_.count(); ++b) {
      const auto body = [this, b, &d, &next] {
        for (std::int64_t r = 0; r < rows_.size(b); ++r) next[b][r] = g_[b][r] + *scalars_[beta] * d[b][r];
      };
      spawn(body, direct, where.turn(b), scalars_.in(beta), g_.in(b), d.in(b), next.out(b), linear(b, 2));
    }
  }

  void product(std::int64_t b, const paged<double>& d) const noexcept {
    const double *const values = values_[b], *const all = d[0];
    const std::uint32_t *const places = places_[b], *const starts = starts_[b];
    double along = 0;
    for (std::int64_t r = 0; r < rows_.size(b); ++r) {
      double row = 0;
      for (std::uint32_t e = starts[r]; e < starts[r + 1]; ++e) row += values[e] * all[places[e]];
      q_[b][r] = row;
      along += d[b][r] * row;
    }
    *dq_[b] = along;
  }
  void find_alpha(std::int64_t k) const {
    const double along = sum(dq_);
    if (*scalars_[rho] != 0 && !(along > 0))
      throw error("cg_tasks: " + matrix_.source() + ": the matrix is not positive definite (d.Ad = " +
                  std::to_string(along) + " in iteration " + std::to_string(k + 1) + ")");
    *scalars_[alpha] = *scalars_[rho] == 0 ? 0 : *scalars_[rho] / along;
  }
  void move_on(std::int64_t b, const paged<double>& d) const noexcept {
    const double a = *scalars_[alpha];
    double squares = 0;
    for (std::int64_t r = 0; r < rows_.size(b); ++r) {
      x_[b][r] += a * d[b][r];
      g_[b][r] -= a * q_[b][r];
      squares += g_[b][r] * g_[b][r];
    }
    *gg_[b] = squares;
  }
  void find_beta() const noexcept {
    const double now = sum(gg_);
    *scalars_[beta] = *scalars_[rho] == 0 ? 0 : now / *scalars_[rho];
    *scalars_[rho] = now;
  }

  access_list sums(const paged<double>& of_blocks) const {
    access_list all;
    for (std::int64_t b = 0; b < rows_.count(); ++b) all.add(of_blocks.in(b));
    return all;
  }
  double sum(const paged<double>& of_blocks) const noexcept {
    double all = 0;
    for (std::int64_t b = 0; b < rows_.count(); ++b) all += *of_blocks[b];
    return all;
  }
  std::vector<double> whole(const paged<double>& v) const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < rows_.items; ++i) all.push_back(v[i / rows_.each][i % rows_.each]);
    return all;
  }

  rows_of_matrix matrix_;
  blocks rows_;
  std::int64_t iterations_;
  std::uint64_t seed_;
  std::vector<std::size_t> nonzeros_;   // of each block
  std::vector<std::vector<use>> uses_;  // for each block of rows, the blocks of its columns; its own is among them
  std::int64_t most_;                   // the largest number of entries of a block
  paged<double> values_;                // a block for each block of rows; so are the following
  paged<std::uint32_t> places_, starts_;
  paged<double> x_, g_, q_, d_[2];
  paged<double> dq_, gg_;  // partial sums
  paged<double> scalars_;
  cg_check check_;
};

window_hint windows(const arguments& a) {
  const std::int64_t rows = rows_of_matrix(a).count();
  const std::int64_t count = blocks{rows, std::min(a.number("block", 1, 1 << 30), rows)}.count();
  return {.first = 2 * count + 1, .window = 3 * count + 2, .intersection = (3 * count + 2) / 2};
}

}  // namespace

const entry cg_tasks_entry = {"cg_tasks",
                              "RIP",
                              "conjugate gradients as data-flow tasks, on blocks of rows",
                              cg_tasks_parameters,
                              make<cg_tasks>,
                              false,
                              windows};

}  // namespace kith::apps
