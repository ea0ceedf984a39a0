// Refinement in the manner of Fiduccia and Mattheyses (DAC 1982), for k parts. Vertices move one at a time, each
// at most once in a pass, the best move first even if it raises the cost. The best state of the pass is kept.
//
// A part may exceed its limit by one vertex in between; then the next move must leave that part. So two
// vertices can change places even if all parts are full.
#include "partition/methods.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace kith::partition {

namespace {

constexpr int most_passes = 10;
/// The number of moves that are examined to choose one out of an overloaded part.
constexpr std::size_t most_tried = 32;

class refinement {
 public:
  refinement(const request& r, std::span<const std::int64_t> limits, std::vector<std::int32_t>& parts)
      : r_(r),
        limits_(limits),
        parts_(parts),
        count_(r.onto.parts()),
        loads_(loads_of(r, parts)),
        weights_(parts.size() * static_cast<std::size_t>(count_)),
        stamps_(parts.size()),
        moves_(static_cast<std::size_t>(count_)) {
    for (std::int32_t v = 0; v < r.graph.vertices(); ++v) {
      for (const graph::arc& a : r.graph.around(v)) weight(v, part_of(a.to)) += a.weight;
    }
  }

  /// True if the state became better.
  bool pass() {
    locked_.assign(parts_.size(), false);
    for (std::int32_t v = 0; v < r_.graph.vertices(); ++v) {
      if (!r_.fixed.empty() && r_.fixed[static_cast<std::size_t>(v)] >= 0) locked_[static_cast<std::size_t>(v)] = true;
    }
    for (std::priority_queue<move>& m : moves_) m = {};
    for (std::int32_t v = 0; v < r_.graph.vertices(); ++v) offer(v);
    std::vector<std::pair<std::int32_t, std::int32_t>> made;  // vertex, where it was
    std::int64_t gained = 0, best = 0;
    std::int64_t over = overload(), least_over = over;
    std::size_t best_at = 0;
    const std::size_t most_failed_moves = 50 + parts_.size() / 20;
    while (made.size() - best_at < most_failed_moves) {
      const move m = choose();
      if (m.vertex < 0) break;
      made.emplace_back(m.vertex, part_of(m.vertex));
      apply(m.vertex, m.to);
      gained += m.gain;
      over = overload();
      if (std::pair(-over, gained) > std::pair(-least_over, best)) {
        least_over = over;
        best = gained;
        best_at = made.size();
      }
    }
    for (std::size_t i = made.size(); i > best_at; --i) undo(made[i - 1].first, made[i - 1].second);
    return best_at != 0;
  }

 private:
  struct move {
    std::int64_t gain = 0;
    std::int32_t vertex = -1, to = -1;
    std::uint32_t stamp = 0;
    bool operator<(const move& o) const noexcept { return gain != o.gain ? gain < o.gain : vertex > o.vertex; }
  };
  std::int32_t part_of(std::int32_t v) const { return parts_[static_cast<std::size_t>(v)]; }
  /// The weight of v's edges into part p.
  std::int64_t& weight(std::int32_t v, std::int32_t p) {
    return weights_[static_cast<std::size_t>(v) * static_cast<std::size_t>(count_) + static_cast<std::size_t>(p)];
  }
  std::int64_t cost_at(std::int32_t v, std::int32_t p) {
    std::int64_t cost = 0;
    for (std::int32_t q = 0; q < count_; ++q) cost += weight(v, q) * r_.onto.between(p, q);
    return cost;
  }
  std::int64_t overload() const {
    std::int64_t over = 0;
    for (std::size_t p = 0; p < loads_.size(); ++p) over += std::max<std::int64_t>(loads_[p] - limits_[p], 0);
    return over;
  }
  /// The first part that is over its limit; -1 if there is none.
  std::int32_t overloaded() const {
    for (std::int32_t p = 0; p < count_; ++p) {
      if (loads_[static_cast<std::size_t>(p)] > limits_[static_cast<std::size_t>(p)]) return p;
    }
    return -1;
  }

  /// The best move of v. If no part is over its limit, the target may exceed its own by v; else it may not.
  move best_move(std::int32_t v, bool out_of_overload) {
    const std::int32_t from = part_of(v);
    const std::int64_t here = cost_at(v, from);
    move best;
    for (std::int32_t p = 0; p < count_; ++p) {
      if (p == from || limits_[static_cast<std::size_t>(p)] == 0) continue;
      if (weight(v, p) == 0 && !out_of_overload) continue;
      const bool fits = loads_[static_cast<std::size_t>(p)] + r_.graph.load[static_cast<std::size_t>(v)] <=
                        limits_[static_cast<std::size_t>(p)];
      // A full part takes a vertex in exchange if it can give one back.
      if (!fits && (out_of_overload || loads_[static_cast<std::size_t>(p)] > limits_[static_cast<std::size_t>(p)]))
        continue;
      const std::int64_t gain = here - cost_at(v, p);
      if (best.vertex < 0 || gain > best.gain) best = {gain, v, p, stamps_[static_cast<std::size_t>(v)]};
    }
    return best;
  }
  void offer(std::int32_t v) {
    if (locked_[static_cast<std::size_t>(v)]) return;
    const move m =
        best_move(v, loads_[static_cast<std::size_t>(part_of(v))] > limits_[static_cast<std::size_t>(part_of(v))]);
    if (m.vertex >= 0) moves_[static_cast<std::size_t>(part_of(v))].push(m);
  }

  /// The best move that is possible in this state; vertex -1 if there is none.
  move choose() {
    const std::int32_t over = overloaded();
    if (over >= 0) return choose_out_of(over);
    for (;;) {
      std::int32_t best = -1;
      for (std::int32_t p = 0; p < count_; ++p) {
        std::priority_queue<move>& q = moves_[static_cast<std::size_t>(p)];
        while (!q.empty() && stale(q.top())) q.pop();
        if (!q.empty() && (best < 0 || moves_[static_cast<std::size_t>(best)].top() < q.top())) best = p;
      }
      if (best < 0) return {};
      const move m = moves_[static_cast<std::size_t>(best)].top();
      moves_[static_cast<std::size_t>(best)].pop();
      const move now = best_move(m.vertex, false);  // loads have changed since
      if (now.vertex < 0) continue;
      if (now.gain >= m.gain) return now;
      moves_[static_cast<std::size_t>(best)].push(now);
    }
  }

  /// The cheapest move out of an overloaded part: of vertices at its border, if one of them can move.
  move choose_out_of(std::int32_t p) {
    std::priority_queue<move>& border = moves_[static_cast<std::size_t>(p)];
    std::vector<move> kept;
    move best;
    while (!border.empty() && kept.size() < most_tried) {
      const move m = border.top();
      if (best.vertex >= 0 && m.gain <= best.gain) break;
      border.pop();
      if (stale(m)) continue;
      const move now = best_move(m.vertex, true);
      kept.push_back(m);
      if (now.vertex >= 0 && (best.vertex < 0 || now.gain > best.gain)) best = now;
    }
    for (const move& m : kept) border.push(m);
    if (best.vertex >= 0) return best;
    for (std::int32_t v = 0; v < r_.graph.vertices(); ++v) {
      if (part_of(v) != p || locked_[static_cast<std::size_t>(v)]) continue;
      const move m = best_move(v, true);
      if (m.vertex >= 0 && (best.vertex < 0 || m.gain > best.gain)) best = m;
    }
    return best;
  }

  bool stale(const move& m) const {
    return locked_[static_cast<std::size_t>(m.vertex)] || m.stamp != stamps_[static_cast<std::size_t>(m.vertex)];
  }

  void shift(std::int32_t v, std::int32_t to) {
    const std::int32_t from = part_of(v);
    parts_[static_cast<std::size_t>(v)] = to;
    loads_[static_cast<std::size_t>(from)] -= r_.graph.load[static_cast<std::size_t>(v)];
    loads_[static_cast<std::size_t>(to)] += r_.graph.load[static_cast<std::size_t>(v)];
    for (const graph::arc& a : r_.graph.around(v)) {
      weight(a.to, from) -= a.weight;
      weight(a.to, to) += a.weight;
    }
  }
  void apply(std::int32_t v, std::int32_t to) {
    locked_[static_cast<std::size_t>(v)] = true;
    shift(v, to);
    for (const graph::arc& a : r_.graph.around(v)) {
      ++stamps_[static_cast<std::size_t>(a.to)];
      offer(a.to);
    }
  }
  void undo(std::int32_t v, std::int32_t back) { shift(v, back); }

  const request& r_;
  std::span<const std::int64_t> limits_;
  std::vector<std::int32_t>& parts_;
  std::int32_t count_;
  std::vector<std::int64_t> loads_, weights_;
  std::vector<std::uint32_t> stamps_;  // older offers of a vertex do not count
  std::vector<bool> locked_;
  std::vector<std::priority_queue<move>> moves_;  // by the part that they leave
};

}  // namespace

void refine(const request& r, std::span<const std::int64_t> limits, std::vector<std::int32_t>& parts) {
  refinement all(r, limits, parts);
  for (int p = 0; p < most_passes && all.pass(); ++p) {
  }
}

}  // namespace kith::partition
