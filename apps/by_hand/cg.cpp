// places_cg by hand. Parameter: CLASS.
//
// Each process has a block of rows, which its threads divide equally, and the whole direction p; the other vectors have
// only its rows. In an inner iteration it multiplies its rows with p, and computes its part of the next p. Two sums and
// the parts of p go over all processes, by one thread. Each thread adds up its rows in a variable of its own.
#include "apps/npb_cg.hpp"
#include "job.hpp"

#include <cmath>
#include <tuple>

namespace {

using namespace kith::apps;
using by_hand::job;

class row_block {
 public:
  row_block(const npb_cg_class& c, const job& j)
      : class_(c),
        job_(j),
        team_(j.threads),
        first_(static_cast<std::size_t>(j.first(c.rows))),
        rows_(j.end(c.rows) - j.first(c.rows)),
        matrix_(make_npb_rows(c, j.first(c.rows), j.end(c.rows))),
        p_(static_cast<std::size_t>(c.rows)),
        partial_(static_cast<std::size_t>(j.threads)) {
    for (std::vector<double>* v : {&x_, &q_, &r_}) v->assign(static_cast<std::size_t>(rows_), 0);
    z_.assign(static_cast<std::size_t>(rows_), 1);
    for (int p = 0; p < j.size; ++p) {
      const job other{.rank = p, .size = j.size};
      begins_.push_back(static_cast<int>(other.first(c.rows)));
      counts_.push_back(static_cast<int>(other.end(c.rows) - other.first(c.rows)));
    }
  }

  void solve() {
    team_.run([this](int thread) {
      double scale = 1;
      for (std::int64_t i = 0; i < class_.iterations; ++i) scale = iterate(thread, scale);
    });
  }
  double zeta() const noexcept { return zeta_; }
  double residual() const noexcept { return residual_; }
  /// The entries of the whole matrix, at process 0.
  std::int64_t entries() const {
    const auto mine = static_cast<std::int64_t>(matrix_.values.size());
    std::int64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
  }

 private:
  /// A cache line for each thread's sum.
  struct alignas(64) partial {
    double sum = 0;
  };

  /// Adds up f(row) over all rows of all processes. Every thread calls it, and gets the sum.
  template <class F>
  double sum(int thread, const F& f) {
    double mine = 0;
    const auto end = static_cast<std::size_t>(team_.begin(0, rows_, thread + 1));
    for (auto i = static_cast<std::size_t>(team_.begin(0, rows_, thread)); i < end; ++i) mine += f(i);
    partial_[static_cast<std::size_t>(thread)].sum = mine;
    team_.meet();
    if (thread == 0) {
      double here = 0;
      for (const partial& p : partial_) here += p.sum;
      MPI_Allreduce(&here, &total_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    team_.meet();
    return total_;
  }
  /// Sets this process's elements of p_ to f(row), and gets those of the others.
  template <class F>
  void set_direction(int thread, const F& f) {
    const auto end = static_cast<std::size_t>(team_.begin(0, rows_, thread + 1));
    for (auto i = static_cast<std::size_t>(team_.begin(0, rows_, thread)); i < end; ++i) p_[first_ + i] = f(i);
    team_.meet();
    if (thread == 0) {
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p_.data(), counts_.data(), begins_.data(), MPI_DOUBLE,
                     MPI_COMM_WORLD);
    }
    team_.meet();
  }
  double times_p(std::size_t row) const noexcept {
    double s = 0;
    for (std::size_t e = matrix_.begin[row]; e < matrix_.begin[row + 1]; ++e)
      s += matrix_.values[e] * p_[matrix_.columns[e]];
    return s;
  }

  /// Solves A z = x for x = scale z by conjugate gradients. Returns the scale of the next iteration.
  double iterate(int thread, double scale) {
    double rho = sum(thread, [&](std::size_t i) {
      x_[i] = r_[i] = scale * z_[i];
      z_[i] = 0;
      return r_[i] * r_[i];
    });
    set_direction(thread, [&](std::size_t i) { return r_[i]; });
    for (int k = 0; k < npb_cg_inner_iterations; ++k) {
      const double alpha = rho / sum(thread, [&](std::size_t i) {
                             q_[i] = times_p(i);
                             return p_[first_ + i] * q_[i];
                           });
      const double next = sum(thread, [&](std::size_t i) {
        z_[i] += alpha * p_[first_ + i];
        r_[i] -= alpha * q_[i];
        return r_[i] * r_[i];
      });
      const double beta = next / rho;
      rho = next;
      // The last direction is not multiplied.
      if (k + 1 < npb_cg_inner_iterations)
        set_direction(thread, [&](std::size_t i) { return r_[i] + beta * p_[first_ + i]; });
    }
    set_direction(thread, [&](std::size_t i) { return z_[i]; });
    const double square = sum(thread, [&](std::size_t i) { return std::pow(x_[i] - times_p(i), 2); });
    const double xz = sum(thread, [&](std::size_t i) { return x_[i] * z_[i]; });
    const double zz = sum(thread, [&](std::size_t i) { return z_[i] * z_[i]; });
    if (thread == 0) {
      residual_ = std::sqrt(square);
      zeta_ = class_.shift + 1 / xz;
    }
    return 1 / std::sqrt(zz);
  }

  const npb_cg_class& class_;
  job job_;
  by_hand::team team_;
  std::size_t first_;
  std::int64_t rows_;
  npb_rows matrix_;
  std::vector<double> x_, z_, q_, r_, p_;
  std::vector<partial> partial_;
  std::vector<int> begins_, counts_;  // of all processes' rows
  double total_ = 0, zeta_ = 0, residual_ = 0;
};

by_hand::outcome run(const job& j, const std::vector<std::string>& words) {
  const npb_cg_class& c = npb_cg_class_of(words[0]);
  row_block mine(c, j);
  by_hand::outcome o;
  o.seconds = by_hand::timed([&] { mine.solve(); });
  std::tie(o.verified, o.what) = check_npb_cg(c, mine.zeta(), mine.residual());
  o.values = {{"nonzeros", static_cast<double>(mine.entries())}, {"zeta", mine.zeta()}, {"residual", mine.residual()}};
  return o;
}

}  // namespace

int main(int argc, char** argv) { return kith::apps::by_hand::main_of(argc, argv, 1, run); }
