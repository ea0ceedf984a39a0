// cg: conjugate gradients on a sparse matrix, in blocks of rows.
//
// NabbitC paper, table I (NAS CG: 900000 rows, parameter 26 for the nonzeros, 1 iteration, 100 blocks). An
// iteration has five steps. A: q = A p, and p.q of each block; alpha; B: z += alpha p, r -= alpha q, and
// r.r of each block; beta; P: p = r + beta p. A block of A waits for the P of the blocks whose columns it
// uses. The two scalars are nodes of color 0. The matrix is read from a Matrix Market file, or generated
// (outer_products.hpp). Verified as described in cg_check.hpp.
#include "blocks.hpp"
#include "cg_check.hpp"
#include "hash.hpp"
#include "list.hpp"
#include "matrix_market.hpp"
#include "nodes.hpp"
#include "outer_products.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

namespace kith::apps {

namespace {

constexpr parameter parameters[] = {
    {"input", "", "", "a Matrix Market file with a symmetric, positive definite matrix"},
    {"size", "14000", "1400", "rows of the generated matrix", "900000"},
    {"nonzeros", "11", "7", "of each random vector it is made of", "26"},
    {"iterations", "25", "15", "iterations", "1"},
    {"block", "700", "140", "rows of a task", "9000"},
    as_parameter,
    colors_parameter,
};

/// The matrix of a file. A generated one has no entries until they are needed.
matrix matrix_of(const arguments& a) {
  for (const char* generated : {"size", "nonzeros"}) a.exclude("input", generated);
  if (a.has("input")) {
    matrix m = read_symmetric_matrix(a.text("input"));
    m.entries = merged(std::move(m.entries));
    return m;
  }
  matrix m{.source = "generated", .entries = {}};
  m.rows = m.columns = static_cast<std::uint32_t>(a.number("size", 1, 1 << 30));
  return m;
}
std::optional<outer_products> generated_of(const arguments& a) {
  if (a.has("input")) return {};
  return std::optional<outer_products>(std::in_place, a.number("size", 1, 1 << 30), a.number("nonzeros", 0, 1000),
                                       a.seed());
}

class cg final : public app, node_program {
 public:
  explicit cg(const arguments& a)
      : how_(way_of(a)),
        matrix_(matrix_of(a)),
        generated_(generated_of(a)),
        rows_{matrix_.rows, a.number("block", 1, 1 << 30)},
        iterations_(a.number("iterations", 1, 1 << 20)),
        seed_(a.seed()) {
    find_structure();
    const auto count = static_cast<std::size_t>(rows_.count());
    columns_ = std::make_unique_for_overwrite<std::uint32_t[]>(first_.back());
    values_ = std::make_unique_for_overwrite<double[]>(first_.back());
    for (auto* v : {&p_, &q_, &r_, &z_}) *v = std::make_unique_for_overwrite<double[]>(matrix_.rows);
    pq_.resize(count);
    rr_.resize(count);
  }

  void prepare(const target& where) override {
    static const task_type type{"cg_initial"};
    if (generated_ && matrix_.entries.empty() && !where.on.dry()) matrix_.entries = generated_->entries();
    initialise(
        where, how_, type, rows_.count(),
        [this](std::int64_t b) {
          const auto block = static_cast<std::size_t>(b);
          for (std::size_t e = first_of(block); e < first_of(block + 1); ++e) {
            columns_[e] = matrix_.entries[e].column;
            values_[e] = matrix_.entries[e].value;
          }
          rr_[block].value = 0;
          for (auto i = static_cast<std::size_t>(rows_.begin(b)); i < static_cast<std::size_t>(rows_.end(b)); ++i) {
            z_[i] = q_[i] = 0;
            r_[i] = p_[i] = right_side(i);
            rr_[block].value += r_[i] * r_[i];
          }
        },
        [this](std::int64_t b, access_list& all) {
          const auto block = static_cast<std::size_t>(b);
          if (first_of(block) != first_of(block + 1))
            all.add(out(values_.get() + first_of(block), first_of(block + 1) - first_of(block)));
          for (const auto* v : {&p_, &q_, &r_, &z_})
            all.add(out(v->get() + rows_.begin(b), static_cast<std::size_t>(rows_.size(b))));
          all.add(out(rr_[block].value));
        });
    rho_.value = 0;
    for (const scalar& s : rr_) rho_.value += s.value;
  }

  void solve(const target& where) override { run(*this, how_, where); }

  verdict verify() override {
    std::vector<double> b(matrix_.rows);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = right_side(i);
    return check_(matrix_.entries, b, iterations_, {z_.get(), b.size()}, {r_.get(), b.size()});
  }

  std::vector<figure> figures() const override {
    double norm = 0;
    for (std::size_t i = 0; i < matrix_.rows; ++i) norm += r_[i] * r_[i];
    return with_shape({{"source", matrix_.source},
                       {"rows", static_cast<std::int64_t>(matrix_.rows)},
                       {"nonzeros", static_cast<std::int64_t>(first_.back())},
                       {"blocks", rows_.count()},
                       {"iterations", iterations_},
                       {"residual", std::sqrt(norm)}},
                      *this);
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(z_.get(), matrix_.rows)); }

 private:
  enum phase : std::uint8_t { multiply, alpha, update, beta, direct };
  static constexpr std::int32_t phases = 5;
  struct alignas(128) scalar {
    double value = 0;
  };

  static phase phase_of(std::int32_t step) noexcept { return static_cast<phase>(step % phases); }
  static bool is_scalar(std::int32_t step) noexcept { return phase_of(step) == alpha || phase_of(step) == beta; }
  /// Where each row's entries begin, and which blocks' columns each block uses.
  void find_structure() {
    const auto count = static_cast<std::size_t>(rows_.count());
    const auto each = static_cast<std::uint32_t>(rows_.each);
    first_.assign(matrix_.rows + std::size_t{1}, 0);
    uses_.resize(count);
    std::vector<std::uint32_t> last_user(count, static_cast<std::uint32_t>(count));
    const auto note = [&](std::uint32_t row, std::uint32_t column) {
      ++first_[row + std::size_t{1}];
      const std::uint32_t user = row / each, used = column / each;
      if (last_user[used] == user) return;
      last_user[used] = user;
      uses_[user].push_back(static_cast<std::int32_t>(used));
    };
    if (generated_) {
      generated_->places(note);
    } else {
      for (const matrix::entry& e : matrix_.entries) note(e.row, e.column);
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (std::size_t b = 0; b < count; ++b) {
      const auto self = static_cast<std::int32_t>(b);  // orders it after the readers of what it overwrites
      if (std::ranges::find(uses_[b], self) == uses_[b].end()) uses_[b].push_back(self);
      std::ranges::sort(uses_[b]);
    }
  }
  double right_side(std::size_t i) const noexcept { return hash_unit(seed_ + 2, i) - 0.5; }
  std::size_t first_of(std::size_t block) const noexcept {
    return first_[std::min<std::size_t>(block * static_cast<std::size_t>(rows_.each), matrix_.rows)];
  }

  std::int32_t steps() const override { return static_cast<std::int32_t>(iterations_) * phases; }
  std::int32_t nodes(std::int32_t step) const override {
    return is_scalar(step) ? 1 : static_cast<std::int32_t>(rows_.count());
  }
  const task_type& type(std::int32_t step) const override {
    static const task_type types[phases] = {task_type{"cg_multiply"}, task_type{"cg_alpha"}, task_type{"cg_update"},
                                            task_type{"cg_beta"}, task_type{"cg_direct"}};
    return types[phase_of(step)];
  }
  void predecessors(node_name n, keys<node_name>& all) const override {
    if (n.step == 0) return;
    if (is_scalar(n.step)) {
      for (std::int32_t b = 0; b < nodes(n.step - 1); ++b) all.add({n.step - 1, b});
    } else if (phase_of(n.step) == multiply) {
      for (std::int32_t b : uses_[static_cast<std::size_t>(n.index)]) all.add({n.step - 1, b});
    } else {
      all.add({n.step - 1, 0});
    }
  }

  /// From the serial time in the paper's table I: 470 ns for each entry of the matrix, 19 ns in each of the 25 steps
  /// that one of NAS's iterations has. An element of a vector is taken to cost as much as an entry.
  double work(node_name n) const override {
    const auto block = static_cast<std::size_t>(n.index);
    const std::int64_t items = is_scalar(n.step) ? rows_.count()
                               : phase_of(n.step) == multiply
                                   ? static_cast<std::int64_t>(first_of(block + 1) - first_of(block))
                                   : rows_.size(n.index);
    return 470 * static_cast<double>(items);
  }

  void accesses(node_name n, access_list& all) const override {
    const auto part = [&](auto how, const std::unique_ptr<double[]>& v, std::int64_t b) {
      all.add(how(v.get() + rows_.begin(b), static_cast<std::size_t>(rows_.size(b))));
    };
    const auto block = static_cast<std::size_t>(n.index);
    auto& self = const_cast<cg&>(*this);  // names memory without touching it
    switch (phase_of(n.step)) {
      case multiply:
        if (first_of(block) != first_of(block + 1))
          all.add(in(values_.get() + first_of(block), first_of(block + 1) - first_of(block)));
        for (std::int32_t b : uses_[block]) part(in, p_, b);
        part(out, q_, n.index);
        all.add(out(self.pq_[block].value));
        return;
      case alpha:
        for (scalar& s : self.pq_) all.add(in(s.value));
        all.add(in(self.rho_.value));
        all.add(out(self.alpha_.value));
        return;
      case update:
        all.add(in(self.alpha_.value));
        part(in, p_, n.index);
        part(in, q_, n.index);
        part(inout, z_, n.index);
        part(inout, r_, n.index);
        all.add(out(self.rr_[block].value));
        return;
      case beta:
        for (scalar& s : self.rr_) all.add(in(s.value));
        all.add(inout(self.rho_.value));
        all.add(out(self.beta_.value));
        return;
      case direct:
        all.add(in(self.beta_.value));
        part(in, r_, n.index);
        part(inout, p_, n.index);
        return;
    }
  }

  void compute(node_name n) override {
    const auto begin = static_cast<std::size_t>(rows_.begin(n.index)),
               end = static_cast<std::size_t>(rows_.end(n.index));
    double sum = 0;
    switch (phase_of(n.step)) {
      case multiply:
        for (std::size_t i = begin; i < end; ++i) {
          double row = 0;
          for (std::size_t e = first_[i]; e < first_[i + 1]; ++e) row += values_[e] * p_[columns_[e]];
          q_[i] = row;
          sum += p_[i] * row;
        }
        pq_[static_cast<std::size_t>(n.index)].value = sum;
        return;
      case alpha:
        for (const scalar& s : pq_) sum += s.value;
        if (rho_.value != 0 && !(sum > 0))
          throw error("cg: " + matrix_.source + ": the matrix is not positive definite (p.Ap = " + std::to_string(sum) +
                      " in iteration " + std::to_string(n.step / phases + 1) + ")");
        alpha_.value = rho_.value == 0 ? 0 : rho_.value / sum;
        return;
      case update:
        for (std::size_t i = begin; i < end; ++i) {
          z_[i] += alpha_.value * p_[i];
          r_[i] -= alpha_.value * q_[i];
          sum += r_[i] * r_[i];
        }
        rr_[static_cast<std::size_t>(n.index)].value = sum;
        return;
      case beta:
        for (const scalar& s : rr_) sum += s.value;
        beta_.value = rho_.value == 0 ? 0 : sum / rho_.value;
        rho_.value = sum;
        return;
      case direct:
        for (std::size_t i = begin; i < end; ++i) p_[i] = r_[i] + beta_.value * p_[i];
        return;
    }
  }

  way how_;
  matrix matrix_;  // entries by rows, each position once; of a generated matrix, from prepare() on
  std::optional<outer_products> generated_;
  blocks rows_;
  std::int64_t iterations_;
  std::uint64_t seed_;
  std::vector<std::size_t> first_;               // by row: where its entries begin; one more at the end
  std::vector<std::vector<std::int32_t>> uses_;  // for each block of rows, the blocks of its columns, and itself
  std::unique_ptr<std::uint32_t[]> columns_;     // first touched by prepare(), as are the following
  std::unique_ptr<double[]> values_, p_, q_, r_, z_;
  std::vector<scalar> pq_, rr_;  // of each block
  scalar alpha_, beta_, rho_;
  cg_check check_;
};

}  // namespace

const entry cg_entry = {"cg", "NabbitC", "conjugate gradients on a sparse matrix, in blocks of rows", parameters,
                        make<cg>};

}  // namespace kith::apps
