// swn2: local alignment of two sequences with affine gaps (Smith, Waterman 1981; Gotoh 1982), O(n^2).
//
// NabbitC paper, table I (131072 letters, blocks of 1024). A gap of k letters costs open + k * extend. Only
// the last row and the last column of each block are kept, with scores and open gaps. The blocks through
// which the best alignment passes are computed once more when it is traced back. Properties checked:
//  S1  the kept rows and columns equal those of a serial program that works by columns;
//  S2  the alignment is made of the two sequences, and its own score is that of the best cell.
#include "alignment_app.hpp"
#include "list.hpp"

#include <limits>

namespace kith::apps {

namespace {

constexpr auto swn2_parameters =
    alignment_parameters({"size", "8000", "2000", "letters of each generated sequence", "131072"},
                         {"block", "250", "100", "rows and columns of a block", "1024"});

using score = std::int32_t;
constexpr score never = std::numeric_limits<score>::min() / 2;

class smith_waterman_gotoh final : public alignment_app {
 public:
  explicit smith_waterman_gotoh(const arguments& a)
      : alignment_app(a, [open = static_cast<score>(a.number("open", 0, 1000)),
                          extend = static_cast<score>(a.number("extend", 0, 1000))](
                             std::int64_t k) { return open + static_cast<score>(k) * extend; }),
        first_(scores_.gap(1)),
        further_(scores_.gap(2) - scores_.gap(1)),
        bottom_h_(static_cast<std::size_t>(rows_.count() * columns_.items)),
        bottom_f_(bottom_h_.size()),
        right_h_(static_cast<std::size_t>(columns_.count() * rows_.items)),
        right_e_(right_h_.size()) {}

  void prepare(const target& where) override {
    static const task_type type{"swn2_initial"};
    peaks_.assign(peaks_.size(), {});
    initialise(
        where, how_, type, rows_.count(),
        [this](std::int64_t bi) {
          for (auto* kept : {&bottom_h_, &bottom_f_}) std::fill_n(bottom(*kept, bi, 0), columns_.items, 0);
          for (auto* kept : {&right_h_, &right_e_}) {
            for (std::int64_t bj = 0; bj < columns_.count(); ++bj) {
              std::fill_n(right(*kept, bj, rows_.begin(bi)), rows_.size(bi), 0);
            }
          }
        },
        [this](std::int64_t bi, access_list& all) {
          for (std::int64_t bj = 0; bj < columns_.count(); ++bj) {
            for (auto* kept : {&bottom_h_, &bottom_f_})
              all.add(out(bottom(*kept, bi, columns_.begin(bj)), static_cast<std::size_t>(columns_.size(bj))));
            for (auto* kept : {&right_h_, &right_e_})
              all.add(out(right(*kept, bj, rows_.begin(bi)), static_cast<std::size_t>(rows_.size(bi))));
          }
        });
  }

  verdict verify() override {
    if (expected_bottom_.empty()) serial();
    std::int64_t wrong = 0;
    for (std::size_t c = 0; c < bottom_h_.size(); ++c) wrong += bottom_h_[c] != expected_bottom_[c];
    for (std::size_t c = 0; c < right_h_.size(); ++c) wrong += right_h_[c] != expected_right_[c];
    const bool aligned =
        fits(found_, input_) && found_.score(scores_) == expected_best_ && best().score == expected_best_;
    return {wrong == 0 && aligned,
            std::to_string(wrong) + " of " + std::to_string(bottom_h_.size() + right_h_.size()) +
                " cells on the blocks' edges differ from the serial program's; the alignment's own score is " +
                std::to_string(found_.score(scores_)) + ", the best of all cells " + std::to_string(expected_best_)};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(bottom_h_)); }

 private:
  /// In the last row of block row `bi`, the entry of column j; in the last column of block column `bj`, the
  /// entry of row i.
  score* bottom(std::vector<score>& kept, std::int64_t bi, std::int64_t j) const noexcept {
    return kept.data() + bi * columns_.items + j;
  }
  score* right(std::vector<score>& kept, std::int64_t bj, std::int64_t i) const noexcept {
    return kept.data() + bj * rows_.items + i;
  }

  /// From the serial time in the paper's table I.
  double work(node_name n) const override {
    const auto [bi, bj] = block_of(n);
    return 10.4 * static_cast<double>(rows_.size(bi) * columns_.size(bj));
  }
  const task_type& type(std::int32_t) const override {
    static const task_type type{"swn2"};
    return type;
  }
  void accesses(node_name n, access_list& all) const override {
    auto& self = const_cast<smith_waterman_gotoh&>(*this);  // names memory without touching it
    const auto [bi, bj] = block_of(n);
    const auto wide = static_cast<std::size_t>(columns_.size(bj)), high = static_cast<std::size_t>(rows_.size(bi));
    for (auto* kept : {&self.bottom_h_, &self.bottom_f_}) {
      if (bi > 0) all.add(in(bottom(*kept, bi - 1, columns_.begin(bj)), wide));
      all.add(out(bottom(*kept, bi, columns_.begin(bj)), wide));
    }
    for (auto* kept : {&self.right_h_, &self.right_e_}) {
      if (bj > 0) all.add(in(right(*kept, bj - 1, rows_.begin(bi)), high));
      all.add(out(right(*kept, bj, rows_.begin(bi)), high));
    }
  }

  struct cell {
    score h, e, f;  // the best alignment that ends here: any; with a gap in a; with a gap in b
  };

  /// Calls visit(i, j, cell) for each cell of a block, row by row.
  template <class Visit>
  void sweep(std::int64_t bi, std::int64_t bj, Visit&& visit) {
    const std::int64_t first = columns_.begin(bj), wide = columns_.size(bj);
    std::vector<score> above_h(static_cast<std::size_t>(wide), 0), above_f(static_cast<std::size_t>(wide), never);
    if (bi > 0) {
      std::copy_n(bottom(bottom_h_, bi - 1, first), wide, above_h.begin());
      std::copy_n(bottom(bottom_f_, bi - 1, first), wide, above_f.begin());
    }
    score corner = bi > 0 && bj > 0 ? *bottom(bottom_h_, bi - 1, first - 1) : 0;
    for (std::int64_t i = rows_.begin(bi); i < rows_.end(bi); ++i) {
      score left_h = bj > 0 ? *right(right_h_, bj - 1, i) : 0;
      score e = bj > 0 ? *right(right_e_, bj - 1, i) : never;
      score diagonal = std::exchange(corner, left_h);
      for (std::int64_t j = 0; j < wide; ++j) {
        const auto at = static_cast<std::size_t>(j);
        e = std::max(e - further_, left_h - first_);
        const score f = std::max(above_f[at] - further_, above_h[at] - first_);
        const score h = std::max({0, diagonal + scores_.of(letter_a(i), letter_b(first + j)), e, f});
        visit(i, first + j, cell{h, e, f});
        diagonal = std::exchange(above_h[at], h);
        above_f[at] = f;
        left_h = h;
      }
    }
  }

  void compute(node_name n) override {
    const auto [bi, bj] = block_of(n);
    const std::int64_t last_i = rows_.end(bi) - 1, last_j = columns_.end(bj) - 1;
    peak top;
    sweep(bi, bj, [&](std::int64_t i, std::int64_t j, const cell& c) {
      if (c.h > top.score) top = {c.h, i, j};
      if (i == last_i) {
        *bottom(bottom_h_, bi, j) = c.h;
        *bottom(bottom_f_, bi, j) = c.f;
      }
      if (j == last_j) {
        *right(right_h_, bj, i) = c.h;
        *right(right_e_, bj, i) = c.e;
      }
    });
    peak_of(bi, bj) = top;
  }

  /// One block with all its cells, for tracing back.
  struct window {
    std::int64_t bi = -1, bj = -1;
    std::vector<cell> cells;
  };
  const cell& cell_at(window& w, std::int64_t i, std::int64_t j) {
    const std::int64_t bi = i / rows_.each, bj = j / columns_.each;
    if (w.bi != bi || w.bj != bj) {
      w.bi = bi;
      w.bj = bj;
      w.cells.clear();
      sweep(bi, bj, [&w](std::int64_t, std::int64_t, const cell& c) { w.cells.push_back(c); });
    }
    return w.cells[static_cast<std::size_t>((i - rows_.begin(bi)) * columns_.size(bj) + j - columns_.begin(bj))];
  }
  /// The score of a cell that is in the window, or next to its upper or left edge.
  score h_near(window& w, std::int64_t i, std::int64_t j) {
    if (i < 0 || j < 0) return 0;
    const std::int64_t bi = i / rows_.each, bj = j / columns_.each;
    if (bi == w.bi && bj == w.bj) return cell_at(w, i, j).h;
    return bi != w.bi ? *bottom(bottom_h_, bi, j) : *right(right_h_, bj, i);
  }

  alignment trace_back() override {
    alignment al;
    if (best().score == 0) return al;
    std::int64_t i = best().i, j = best().j;
    window w;
    enum { any, gap_in_a, gap_in_b } state = any;
    while (i >= 0 && j >= 0) {
      const cell c = cell_at(w, i, j);
      if (state == any) {
        if (c.h == 0) break;
        if (c.h == h_near(w, i - 1, j - 1) + scores_.of(letter_a(i), letter_b(j))) {
          al.add(letter_a(i--), letter_b(j--));
        } else {
          state = c.h == c.e ? gap_in_a : gap_in_b;
        }
      } else if (state == gap_in_a) {
        if (c.e == h_near(w, i, j - 1) - first_) state = any;
        al.add('-', letter_b(j--));
      } else {
        if (c.f == h_near(w, i - 1, j) - first_) state = any;
        al.add(letter_a(i--), '-');
      }
    }
    al.finish(i + 1, j + 1);
    return al;
  }

  /// Computes column by column, with the open gaps of a whole column.
  void serial() {
    const auto n = static_cast<std::size_t>(rows_.items), m = static_cast<std::size_t>(columns_.items);
    expected_bottom_.resize(bottom_h_.size());
    expected_right_.resize(right_h_.size());
    std::vector<score> before(n + 1, 0), now(n + 1, 0), in_a(n + 1, never);
    for (std::size_t j = 0; j < m; ++j) {
      score in_b = never;
      for (std::size_t i = 0; i < n; ++i) {
        in_a[i + 1] = std::max(in_a[i + 1] - further_, before[i + 1] - first_);
        in_b = std::max(in_b - further_, now[i] - first_);
        const score pair = before[i] + (input_.a[i] == input_.b[j] ? scores_.match : -scores_.mismatch);
        now[i + 1] = std::max(std::max(pair, 0), std::max(in_a[i + 1], in_b));
        expected_best_ = std::max<std::int64_t>(expected_best_, now[i + 1]);
        const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
        if (row + 1 == rows_.end(row / rows_.each)) *bottom(expected_bottom_, row / rows_.each, column) = now[i + 1];
        if (column + 1 == columns_.end(column / columns_.each))
          *right(expected_right_, column / columns_.each, row) = now[i + 1];
      }
      std::swap(before, now);
      now[0] = 0;
    }
  }

  score first_, further_;  // costs of the first letter of a gap, and of each further letter
  std::vector<score> bottom_h_, bottom_f_, right_h_, right_e_;
  std::vector<score> expected_bottom_, expected_right_;
  std::int64_t expected_best_ = 0;
};

}  // namespace

const entry swn2_entry = {"swn2", "NabbitC", "local alignment of two sequences, affine gaps: O(n^2)", swn2_parameters,
                          make<smith_waterman_gotoh>};

}  // namespace kith::apps
