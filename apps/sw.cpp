// sw: local alignment of two sequences with gaps of any cost (Smith, Waterman 1981), O(n^3).
//
// NabbitC paper, table I (5120 letters, blocks of 32). M[i][j] = max(0, M[i-1][j-1] + s, max_k M[i][j-k] -
// gap(k), max_k M[i-k][j] - gap(k)): each cell looks along its whole row and column. A gap of k letters
// costs open + extend * log2(k + 1), rounded down, which no recurrence of constant depth computes. Blocks
// are contiguous in memory. Properties checked:
//  S1  every cell equals that of a serial program that works by columns on a plain table;
//  S2  the alignment is made of the two sequences, and its own score is that of the best cell.
#include "alignment_app.hpp"
#include "list.hpp"
#include "untouched.hpp"

#include <bit>
#include <memory>

namespace kith::apps {

namespace {

constexpr auto sw_parameters =
    alignment_parameters({"size", "1000", "200", "letters of each generated sequence", "5120"},
                         {"block", "40", "24", "rows and columns of a block", "32"});

/// floor(extend * log2(k + 1)), in integers.
std::function<std::int32_t(std::int64_t)> gap_of(const arguments& a) {
  const auto open = static_cast<std::int32_t>(a.number("open", 0, 1000));
  const auto extend = static_cast<std::int32_t>(a.number("extend", 0, 1000));
  return [=](std::int64_t k) {
    return open + extend * (static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(k) + 1)) - 1);
  };
}

class smith_waterman final : public alignment_app {
 public:
  using score = std::int32_t;

  explicit smith_waterman(const arguments& a) : alignment_app(a, gap_of(a)), table_(make_untouched<score>(cells())) {
    for (std::int64_t k = 0; k <= std::max(rows_.items, columns_.items); ++k)
      gap_.push_back(k == 0 ? 0 : scores_.gap(k));
  }

  void prepare(const target& where) override {
    static const task_type type{"sw_initial"};
    peaks_.assign(peaks_.size(), {});
    initialise(
        where, how_, type, rows_.count(),
        [this](std::int64_t bi) { std::fill(block(bi, 0), block(bi, 0) + columns_.count() * area(), 0); },
        [this](std::int64_t bi, access_list& all) {
          for (std::int64_t bj = 0; bj < columns_.count(); ++bj)
            all.add(out(block(bi, bj), static_cast<std::size_t>(area())));
        });
  }

  std::uint64_t verifying_bytes() const override {
    return sizeof(score) * static_cast<std::uint64_t>(rows_.items * columns_.items);
  }
  verdict verify() override {
    if (expected_.empty()) expected_ = serial();
    std::int64_t wrong = 0;
    peak top;
    for (std::int64_t i = 0; i < rows_.items; ++i) {
      for (std::int64_t j = 0; j < columns_.items; ++j) {
        const score e = expected_[static_cast<std::size_t>(j * rows_.items + i)];
        wrong += at(i, j) != e;
        if (e > 0) top.raise(e, i, j);
      }
    }
    const bool aligned = fits(found_, input_) && found_.score(scores_) == top.score && best().score == top.score;
    return {wrong == 0 && aligned, std::to_string(wrong) + " of " + std::to_string(rows_.items * columns_.items) +
                                       " cells differ from the serial program's; the alignment's own score is " +
                                       std::to_string(found_.score(scores_)) + ", the best cell's " +
                                       std::to_string(top.score)};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(table_.get(), cells())); }

 private:
  std::int64_t area() const noexcept { return rows_.each * rows_.each; }
  std::size_t cells() const noexcept { return static_cast<std::size_t>(rows_.count() * columns_.count() * area()); }
  score* block(std::int64_t bi, std::int64_t bj) const noexcept {
    return table_.get() + (bi * columns_.count() + bj) * area();
  }
  score at(std::int64_t i, std::int64_t j) const noexcept {
    return block(i / rows_.each, j / rows_.each)[i % rows_.each * rows_.each + j % rows_.each];
  }

  /// A cell looks at all cells to its left and above it. The constant is from the serial time in the paper's table I.
  double work(node_name n) const override {
    const auto [bi, bj] = block_of(n);
    const auto looks = static_cast<double>(rows_.begin(bi) + columns_.begin(bj) + rows_.each);
    return 3.35 * looks * static_cast<double>(rows_.size(bi) * columns_.size(bj));
  }
  const task_type& type(std::int32_t) const override {
    static const task_type type{"sw"};
    return type;
  }
  void accesses(node_name n, access_list& all) const override {
    const auto [bi, bj] = block_of(n);
    const auto bytes = static_cast<std::size_t>(area());
    all.add(out(block(bi, bj), bytes));
    if (bi > 0) all.add(in(block(bi - 1, bj), bytes));
    if (bj > 0) all.add(in(block(bi, bj - 1), bytes));
  }

  void compute(node_name n) override {
    const auto [bi, bj] = block_of(n);
    peak top;
    for (std::int64_t i = rows_.begin(bi); i < rows_.end(bi); ++i) {
      for (std::int64_t j = columns_.begin(bj); j < columns_.end(bj); ++j) {
        score m = scores_.of(letter_a(i), letter_b(j));
        if (i > 0 && j > 0) m += at(i - 1, j - 1);
        m = std::max(m, 0);
        for (std::int64_t b = 0; b <= bj; ++b) {
          const score* row = block(bi, b) + i % rows_.each * rows_.each;
          const std::int64_t first = columns_.begin(b);
          for (std::int64_t c = first; c < std::min(j, columns_.end(b)); ++c) {
            m = std::max(m, row[c - first] - gap_[static_cast<std::size_t>(j - c)]);
          }
        }
        for (std::int64_t b = 0; b <= bi; ++b) {
          const score* column = block(b, bj) + j % rows_.each;
          const std::int64_t first = rows_.begin(b);
          for (std::int64_t r = first; r < std::min(i, rows_.end(b)); ++r) {
            m = std::max(m, column[(r - first) * rows_.each] - gap_[static_cast<std::size_t>(i - r)]);
          }
        }
        block(bi, bj)[i % rows_.each * rows_.each + j % rows_.each] = m;
        if (m > 0) top.raise(m, i, j);
      }
    }
    peak_of(bi, bj) = top;
  }

  alignment trace_back() override {
    alignment al;
    std::int64_t i = best().i, j = best().j;
    if (best().score == 0) return al;
    while (i >= 0 && j >= 0 && at(i, j) > 0) {
      const score m = at(i, j);
      if (m == scores_.of(letter_a(i), letter_b(j)) + (i > 0 && j > 0 ? at(i - 1, j - 1) : 0)) {
        al.add(letter_a(i--), letter_b(j--));
        continue;
      }
      std::int64_t k = 1;
      while (!(j >= k && m == at(i, j - k) - gap_[static_cast<std::size_t>(k)]) &&
             !(i >= k && m == at(i - k, j) - gap_[static_cast<std::size_t>(k)]))
        if (++k > std::max(i, j)) return {};  // the scores are wrong, which the verifier will report
      const bool in_a = j >= k && m == at(i, j - k) - gap_[static_cast<std::size_t>(k)];
      for (; k > 0; --k) in_a ? al.add('-', letter_b(j--)) : al.add(letter_a(i--), '-');
    }
    al.finish(i + 1, j + 1);
    return al;
  }

  /// Computes column by column; the table is transposed.
  std::vector<score> serial() const {
    const auto n = static_cast<std::size_t>(rows_.items), m = static_cast<std::size_t>(columns_.items);
    std::vector<score> t(n * m);
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        score best = (i > 0 && j > 0 ? t[(j - 1) * n + i - 1] : 0) +
                     (input_.a[i] == input_.b[j] ? scores_.match : -scores_.mismatch);
        for (std::size_t k = 1; k <= i; ++k) best = std::max(best, t[j * n + i - k] - gap_[k]);
        for (std::size_t k = 1; k <= j; ++k) best = std::max(best, t[(j - k) * n + i] - gap_[k]);
        t[j * n + i] = std::max(best, 0);
      }
    }
    return t;
  }

  untouched<score> table_;  // block by block
  std::vector<score> gap_;
  std::vector<score> expected_;
};

}  // namespace

const entry sw_entry = {"sw", "NabbitC", "local alignment of two sequences, gaps of any cost: O(n^3)", sw_parameters,
                        make<smith_waterman>};

}  // namespace kith::apps
