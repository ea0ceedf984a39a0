// places_cg: the CG benchmark of NPB, inverse iteration by conjugate gradients; each place has a block of the rows.
//
// ADS paper, section 5 (Conjugate Gradient, figures 17 and 20: classes B and C, whose parameters it misprints; NPB's
// are used). In each phase of an inner iteration every place gets one activity, which halves its rows recursively until
// at most `leaf` are left. Activities spread over the places as a binary tree, which carries the vector that all rows
// need down, and sums and pieces of vectors up; so sums do not depend on the order in which activities end. A place
// multiplies with a copy of the whole direction p; only the residual is exchanged, because all places can compute p
// from it. Verified by the result that NPB prints for the class.
#include "list.hpp"
#include "npb_cg.hpp"
#include "places_app.hpp"
#include "places_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter places_cg_parameters[] = {
    {"class", "A", "S", "of NPB: S, W, A, B or C", "B"},
    {"leaf", "256", "64", "rows from which on a task does not halve its share"},
    scheduling_parameter,
    waiting_parameter,
    admission_parameter,
};
constexpr const char* cg_by_hand_takes[] = {"class"};

std::int64_t first_row(std::int64_t rows, int place) { return rows * place / places(); }

/// The result of a phase: sums over rows, and a vector's elements at these rows.
struct pieces {
  double sum = 0, other_sum = 0;
  std::vector<double> elements;

  void add(const pieces& next) {
    sum += next.sum;
    other_sum += next.other_sum;
    elements.insert(elements.end(), next.elements.begin(), next.elements.end());
  }
  template <class Archive>
  void serialize(Archive& a) {
    a(sum, other_sum, elements);
  }
};

/// Adds up f(from, to) over shares of at most `leaf` rows, each of which is a task, in a fixed order. `operations`: for
/// each row.
template <class F>
double sum_of(std::int64_t from, std::int64_t to, std::int64_t leaf, double operations, const F& f) {
  std::array<double, 2> sums{};
  group shares;
  const auto spawn_share = [&](double& sum, std::int64_t first, std::int64_t last) {
    if (last - first <= leaf) {
      shares.spawn([=, &sum, &f] { sum = f(static_cast<std::size_t>(first), static_cast<std::size_t>(last)); },
                   work{nanoseconds_of(operations * static_cast<double>(last - first))});
    } else {
      shares.spawn([=, &sum, &f] { sum = sum_of(first, last, leaf, operations, f); });
    }
  };
  if (to - from <= leaf) {
    spawn_share(sums[0], from, to);
  } else {
    const std::int64_t middle = from + (to - from) / 2;
    spawn_share(sums[0], from, middle);
    spawn_share(sums[1], middle, to);
  }
  shares.wait();
  return sums[0] + sums[1];
}

/// The rows of one place. All vectors but p_ have only its rows.
class row_block {
 public:
  /// In a dry run there is no matrix, and no copy of p.
  void make(const std::string& name, std::int64_t leaf, bool dry) {
    const npb_cg_class& c = npb_cg_class_of(name);
    leaf_ = leaf;
    row_operations_ = cg_product_operations(c.nonzeros);
    const std::int64_t first = first_row(c.rows, here()), last = first_row(c.rows, here() + 1);
    if (dry) {
      matrix_ = {};
      made_.clear();
    } else if (name != made_ || first_ != static_cast<std::size_t>(first) || rows_ != last - first) {
      matrix_ = make_npb_rows(c, first, last);
      made_ = name;
    }
    first_ = static_cast<std::size_t>(first);
    rows_ = last - first;
    const auto count = static_cast<std::size_t>(rows_);
    for (std::vector<double>* v : {&x_, &q_, &r_}) v->assign(count, 0);
    z_.assign(count, 1);
    if (!dry) p_.assign(static_cast<std::size_t>(c.rows), 0);
  }
  std::int64_t entries() const noexcept { return static_cast<std::int64_t>(matrix_.values.size()); }

  /// x = scale z; z = 0; r = x. Returns r.r and r.
  pieces begin(double scale) {
    const double rho = sum(rows_, cg_update_operations, [&](std::size_t from, std::size_t to) {
      double s = 0;
      for (std::size_t i = from; i < to; ++i) {
        x_[i] = r_[i] = scale * z_[i];
        z_[i] = 0;
        s += r_[i] * r_[i];
      }
      return s;
    });
    return {rho, 0, r_};
  }
  /// p = r + beta p; q = A p. Returns p.q.
  pieces multiply(double beta, std::span<const double> r) {
    sum(std::ssize(r), cg_add_operations, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) p_[i] = r[i] + beta * p_[i];
      return 0.0;
    });
    const double pq = sum(rows_, row_operations_, [&](std::size_t from, std::size_t to) {
      double s = 0;
      for (std::size_t i = from; i < to; ++i) {
        q_[i] = times(i, p_);
        s += p_[first_ + i] * q_[i];
      }
      return s;
    });
    return {pq, 0, {}};
  }
  /// z += alpha p; r -= alpha q. Returns r.r and r.
  pieces update(double alpha) {
    const double rho = sum(rows_, cg_update_operations, [&](std::size_t from, std::size_t to) {
      double s = 0;
      for (std::size_t i = from; i < to; ++i) {
        z_[i] += alpha * p_[first_ + i];
        r_[i] -= alpha * q_[i];
        s += r_[i] * r_[i];
      }
      return s;
    });
    return {rho, 0, r_};
  }
  /// Returns x.z, z.z and z.
  pieces solution() {
    const auto product = [&](const std::vector<double>& a) {
      return sum(rows_, cg_add_operations, [&](std::size_t from, std::size_t to) {
        double s = 0;
        for (std::size_t i = from; i < to; ++i) s += a[i] * z_[i];
        return s;
      });
    };
    return {product(x_), product(z_), z_};
  }
  /// Returns the square of the norm of x - A z.
  pieces residual(std::span<const double> z) {
    const double square = sum(rows_, row_operations_, [&](std::size_t from, std::size_t to) {
      double s = 0;
      for (std::size_t i = from; i < to; ++i) s += std::pow(x_[i] - times(i, z), 2);
      return s;
    });
    return {square, 0, {}};
  }

 private:
  double times(std::size_t row, std::span<const double> v) const noexcept {
    double s = 0;
    for (std::size_t e = matrix_.begin[row]; e < matrix_.begin[row + 1]; ++e)
      s += matrix_.values[e] * v[matrix_.columns[e]];
    return s;
  }
  template <class F>
  double sum(std::int64_t rows, double operations, const F& f) {
    return sum_of(0, rows, leaf_, operations, f);
  }

  std::string made_;  // the class of matrix_
  npb_rows matrix_;
  std::size_t first_ = 0;
  std::int64_t rows_ = 0, leaf_ = 1;
  double row_operations_ = 0;  // of a product with the matrix, for each row
  std::vector<double> x_, z_, q_, r_, p_;
};

place_local<row_block>& row_blocks() {
  static place_local<row_block> all;
  return all;
}

void make_rows(const std::string& name, std::int64_t leaf, bool dry) { row_blocks()->make(name, leaf, dry); }

// The phases, for on_all.
pieces cg_begin(double scale, std::span<const double>) { return row_blocks()->begin(scale); }
pieces cg_multiply(double beta, std::span<const double> r) { return row_blocks()->multiply(beta, r); }
pieces cg_update(double alpha, std::span<const double>) { return row_blocks()->update(alpha); }
pieces cg_solution(double, std::span<const double>) { return row_blocks()->solution(); }
pieces cg_residual(double, std::span<const double> z) { return row_blocks()->residual(z); }

/// Runs a phase at places [from, to), the first of which is this one. Returns the sum of their results, added in
/// their order.
template <auto Phase>
pieces on_places(int from, int to, double scalar, std::span<const double> vector) {
  const int middle = from + 1 + (to - from - 1) / 2;
  std::vector<place_future<pieces>> others;
  const auto send_on = [&](int first, int last) {
    if (first < last) others.push_back(at(first).async<on_places<Phase>>(first, last, scalar, vector));
  };
  send_on(from + 1, middle);
  send_on(middle, to);
  pieces all = Phase(scalar, vector);
  for (const place_future<pieces>& o : others) all.add(o.get());
  return all;
}
template <auto Phase>
pieces on_all(double scalar, const std::vector<double>& vector = {}) {
  return on_places<Phase>(0, places(), scalar, vector);
}

class places_cg final : public places_app {
 public:
  explicit places_cg(const arguments& a)
      : name_(a.text("class")), class_(npb_cg_class_of(name_)), leaf_(a.number("leaf", 1, 1 << 24)) {}

  void prepare(place_runtime& on) override {
    entries_ = 0;
    on.run([&] {
      finish([&] {
        for (int p = 0; p < places(); ++p) at(p).spawn<make_rows>(name_, leaf_, on.dry());
      });
      for (int p = 0; p < places(); ++p) entries_ += at(p).async([] { return row_blocks()->entries(); }).get();
    });
  }
  /// NPB first runs one iteration that is not timed and whose result is dropped. It is left out.
  void solve(place_runtime& on) override {
    on.run([&] {
      double scale = 1;
      for (std::int64_t i = 0; i < class_.iterations; ++i) scale = iterate(scale);
    });
  }
  verdict verify(place_runtime&) override {
    const auto [same, what] = check_npb_cg(class_, zeta_, residual_);
    return {same, what};
  }
  void damage(place_runtime&) override { zeta_ *= 1 + 1e-9; }
  std::vector<figure> figures() const override {
    return {{"class", std::string(1, class_.name)}, {"rows", class_.rows}, {"nonzeros", entries_},
            {"iterations", class_.iterations},      {"zeta", zeta_},       {"residual", residual_}};
  }
  /// The root, a level for each halving of the places, and one for each halving of p, which every place computes.
  int depth() const override {
    int levels = 1;
    for (int p = depth_places_; p > 1; p /= 2) ++levels;
    for (std::int64_t rows = class_.rows; rows > leaf_; rows = (rows + 1) / 2) ++levels;
    return levels;
  }

 private:
  /// Solves A z = x for x = scale z by conjugate gradients. Returns the scale of the next iteration.
  double iterate(double scale) {
    depth_places_ = places();
    pieces r = on_all<cg_begin>(scale);
    double beta = 0;
    for (int k = 0; k < npb_cg_inner_iterations; ++k) {
      const double rho = r.sum;
      const double pq = on_all<cg_multiply>(beta, r.elements).sum;
      r = on_all<cg_update>(rho / pq);
      beta = r.sum / rho;
    }
    const pieces z = on_all<cg_solution>(0);
    residual_ = std::sqrt(on_all<cg_residual>(0, z.elements).sum);
    zeta_ = class_.shift + 1 / z.sum;
    return 1 / std::sqrt(z.other_sum);
  }

  std::string name_;
  const npb_cg_class& class_;
  std::int64_t leaf_, entries_ = 0;
  double zeta_ = 0, residual_ = 0;
  int depth_places_ = 1;
};

}  // namespace

const places_entry places_cg_entry = {
    {"places_cg", "ADS", "the CG benchmark of NPB; each place has a block of rows", places_cg_parameters, nullptr},
    [](const arguments& a) -> std::unique_ptr<places_app> { return std::make_unique<places_cg>(a); },
    "cg",
    cg_by_hand_takes};

}  // namespace kith::apps
