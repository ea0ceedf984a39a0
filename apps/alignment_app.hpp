// Smith-Waterman in square blocks: shared by sw and swn2. Nodes are blocks, steps are anti-diagonals.
#pragma once

#include "blocks.hpp"
#include "nodes.hpp"
#include "sequences.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace kith::apps {

/// The parameters of such a program.
constexpr std::array<parameter, 9> alignment_parameters(parameter size, parameter block) {
  return {{{"input", "", "", "a FASTA file with two sequences"},
           size,
           block,
           {"match", "3", "3", "score of two equal letters"},
           {"mismatch", "3", "3", "cost of two unequal letters"},
           {"open", "4", "4", "cost of opening a gap"},
           {"extend", "1", "1", "cost of extending it"},
           as_parameter,
           colors_parameter}};
}

class alignment_app : public app, protected node_program {
 public:
  void solve(const target& where) override {
    run(*this, how_, where);
    if (!where.on.dry()) found_ = trace_back();
  }

  std::vector<figure> figures() const override {
    constexpr std::size_t shown = 60;
    return with_shape({{"source", input_.source},
                       {"sequence_a", input_.name_a + ", " + std::to_string(input_.a.size()) + " letters"},
                       {"sequence_b", input_.name_b + ", " + std::to_string(input_.b.size()) + " letters"},
                       {"score", best().score},
                       {"length", static_cast<std::int64_t>(found_.a.size())},
                       {"identity_percent", found_.identity_percent()},
                       {"begins_at", std::to_string(found_.begin_a + 1) + " and " + std::to_string(found_.begin_b + 1)},
                       {"aligned_a", found_.a.substr(0, shown)},
                       {"aligned_b", found_.b.substr(0, shown)}},
                      *this);
  }

 protected:
  /// Where the best alignment of a block, or of the whole, ends. Of several, the first cell row by row.
  struct peak {
    std::int64_t score = 0, i = 0, j = 0;
    void raise(std::int64_t s, std::int64_t at_i, std::int64_t at_j) noexcept {
      if (s > score || (s == score && std::pair(at_i, at_j) < std::pair(i, j))) *this = {s, at_i, at_j};
    }
  };

  alignment_app(const arguments& a, std::function<std::int32_t(std::int64_t)> gap)
      : how_(way_of(a, {{"wavefront", variant::loop_static}})),
        input_(read_sequences(a)),
        scores_{static_cast<std::int32_t>(a.number("match", 1, 1000)),
                static_cast<std::int32_t>(a.number("mismatch", 0, 1000)), std::move(gap)},
        rows_{static_cast<std::int64_t>(input_.a.size()), a.number("block", 1, 1 << 20)},
        columns_{static_cast<std::int64_t>(input_.b.size()), rows_.each},
        peaks_(static_cast<std::size_t>(rows_.count() * columns_.count())) {}

  // ---- node_program
  std::int32_t steps() const override { return static_cast<std::int32_t>(rows_.count() + columns_.count() - 1); }
  std::int32_t nodes(std::int32_t step) const override {
    return static_cast<std::int32_t>(std::min(step + 1, static_cast<std::int32_t>(rows_.count())) - first_row(step));
  }
  void predecessors(node_name n, keys<node_name>& all) const override {
    const auto [bi, bj] = block_of(n);
    if (bi > 0) all.add(name_of(bi - 1, bj));
    if (bj > 0) all.add(name_of(bi, bj - 1));
  }
  std::pair<std::int64_t, std::int64_t> share(node_name n) const override { return {block_of(n).first, rows_.count()}; }

  std::pair<std::int64_t, std::int64_t> block_of(node_name n) const noexcept {
    const std::int64_t bi = first_row(n.step) + n.index;
    return {bi, n.step - bi};
  }
  node_name name_of(std::int64_t bi, std::int64_t bj) const noexcept {
    const auto step = static_cast<std::int32_t>(bi + bj);
    return {step, static_cast<std::int32_t>(bi) - first_row(step)};
  }
  peak& peak_of(std::int64_t bi, std::int64_t bj) noexcept {
    return peaks_[static_cast<std::size_t>(bi * columns_.count() + bj)];
  }
  peak best() const noexcept {
    peak all;
    for (const peak& p : peaks_) {
      if (p.score > 0) all.raise(p.score, p.i, p.j);
    }
    return all;
  }
  char letter_a(std::int64_t i) const noexcept { return input_.a[static_cast<std::size_t>(i)]; }
  char letter_b(std::int64_t j) const noexcept { return input_.b[static_cast<std::size_t>(j)]; }

  /// The best alignment, from the computed scores.
  virtual alignment trace_back() = 0;

  way how_;
  sequences input_;
  scoring scores_;
  blocks rows_, columns_;
  std::vector<peak> peaks_;
  alignment found_;

 private:
  /// The first row of blocks on an anti-diagonal.
  std::int32_t first_row(std::int32_t step) const noexcept {
    return std::max(0, step - static_cast<std::int32_t>(columns_.count()) + 1);
  }
};

}  // namespace kith::apps
