// Graph growing. Every part grows from its fixed vertices, or from a seed far from all others. The lightest
// part is always extended next, by the vertex at its border with the best gain.
//
// The method is that of the RIP paper, section 3.1, and of Predari and Esnard, "A k-way greedy graph partitioning
// with initial fixed vertices", PDP 2016. The gain of a vertex for a part is the sum over its placed neighbours
// of weight times (mean distance - distance to the neighbour's part): near parts attract, far parts repel.
#include "partition/methods.hpp"

#include <algorithm>
#include <queue>

namespace kith::partition {

namespace {

class growing {
 public:
  explicit growing(const request& r)
      : r_(r), parts_(static_cast<std::size_t>(r.graph.vertices()), -1), parts_count_(r.onto.parts()) {
    const auto k = static_cast<std::size_t>(parts_count_);
    gain_.assign(parts_.size() * k, 0);
    touched_.assign(parts_.size(), 0);
    loads_.assign(k, 0);
    borders_.resize(k);
    for (std::int32_t p = 0; p < parts_count_; ++p) {
      std::int64_t sum = 0;
      for (std::int32_t q = 0; q < parts_count_; ++q) sum += r.onto.between(p, q);
      row_sum_.push_back(sum);
    }
  }

  std::vector<std::int32_t> run(std::int32_t start) {
    for (std::int32_t v = 0; v < r_.graph.vertices(); ++v) {
      if (!r_.fixed.empty() && r_.fixed[static_cast<std::size_t>(v)] >= 0)
        put(v, r_.fixed[static_cast<std::size_t>(v)]);
    }
    seed(start);
    while (placed_ < parts_.size()) {
      const std::int32_t p = lightest();
      const std::int32_t v = best_at_border(p);
      put(v >= 0 ? v : least_attached(), p);
    }
    return std::move(parts_);
  }

 private:
  struct candidate {
    std::int64_t gain;
    std::int32_t vertex;
    bool operator<(const candidate& o) const noexcept { return gain != o.gain ? gain < o.gain : vertex > o.vertex; }
  };
  std::int64_t& gain(std::int32_t v, std::int32_t p) {
    return gain_[static_cast<std::size_t>(v) * static_cast<std::size_t>(parts_count_) + static_cast<std::size_t>(p)];
  }
  bool placed(std::int32_t v) const { return parts_[static_cast<std::size_t>(v)] >= 0; }

  void put(std::int32_t v, std::int32_t p) {
    parts_[static_cast<std::size_t>(v)] = p;
    loads_[static_cast<std::size_t>(p)] += r_.graph.load[static_cast<std::size_t>(v)];
    ++placed_;
    for (const graph::arc& a : r_.graph.around(v)) {
      if (placed(a.to)) continue;
      touched_[static_cast<std::size_t>(a.to)] += a.weight;
      for (std::int32_t q = 0; q < parts_count_; ++q)  // scaled by the number of parts, to keep whole numbers
        gain(a.to, q) += a.weight * (row_sum_[static_cast<std::size_t>(q)] - parts_count_ * r_.onto.between(q, p));
      borders_[static_cast<std::size_t>(p)].push({gain(a.to, p), a.to});
    }
  }

  /// The part with the lowest load over capacity; the first among equals.
  std::int32_t lightest() const {
    std::int32_t best = -1;
    for (std::int32_t p = 0; p < parts_count_; ++p) {
      const std::int64_t mine = r_.onto.capacity[static_cast<std::size_t>(p)];
      if (mine == 0) continue;
      if (best < 0 || loads_[static_cast<std::size_t>(p)] * r_.onto.capacity[static_cast<std::size_t>(best)] <
                          loads_[static_cast<std::size_t>(best)] * mine)
        best = p;
    }
    return best;
  }

  /// The vertex with the best gain at the border of part p. An entry whose gain has fallen since is put back with the
  /// new gain.
  std::int32_t best_at_border(std::int32_t p) {
    std::priority_queue<candidate>& border = borders_[static_cast<std::size_t>(p)];
    while (!border.empty()) {
      const candidate c = border.top();
      border.pop();
      if (placed(c.vertex)) continue;
      if (c.gain <= gain(c.vertex, p)) return c.vertex;
      border.push({gain(c.vertex, p), c.vertex});
    }
    return -1;
  }

  /// For a part with no free neighbours: the vertex that has the least weight to placed vertices.
  std::int32_t least_attached() {
    for (; untouched_ < parts_.size(); ++untouched_) {
      if (parts_[untouched_] < 0 && touched_[untouched_] == 0) return static_cast<std::int32_t>(untouched_);
    }
    std::int32_t best = -1;
    for (std::int32_t v = 0; v < r_.graph.vertices(); ++v) {
      if (!placed(v) && (best < 0 || touched_[static_cast<std::size_t>(v)] < touched_[static_cast<std::size_t>(best)]))
        best = v;
    }
    return best;
  }

  /// Gives each part without vertices a first one: the vertex farthest, by edges, from all placed vertices.
  void seed(std::int32_t start) {
    const std::int32_t n = r_.graph.vertices();
    for (std::int32_t p = 0; p < parts_count_ && placed_ < parts_.size(); ++p) {
      if (r_.onto.capacity[static_cast<std::size_t>(p)] == 0 || loads_[static_cast<std::size_t>(p)] != 0) continue;
      std::vector<std::int32_t> reached;
      if (placed_ == 0) {
        reached = {start * (n / 4) % n};  // the first seed is the vertex farthest from this one
      } else {
        for (std::int32_t v = 0; v < n; ++v) {
          if (placed(v)) reached.push_back(v);
        }
      }
      put(farthest(std::move(reached)), p);
    }
  }

  /// Vertices that cannot be reached are farther than all others.
  std::int32_t farthest(std::vector<std::int32_t> reached) const {
    std::vector<bool> seen(parts_.size(), false);
    for (std::int32_t v : reached) seen[static_cast<std::size_t>(v)] = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const graph::arc& a : r_.graph.around(reached[i])) {
        if (seen[static_cast<std::size_t>(a.to)]) continue;
        seen[static_cast<std::size_t>(a.to)] = true;
        reached.push_back(a.to);
      }
    }
    const auto alone = std::ranges::find(seen, false);
    if (alone != seen.end()) return static_cast<std::int32_t>(alone - seen.begin());
    return reached.back();  // not placed, since some vertex is not
  }

  const request& r_;
  std::vector<std::int32_t> parts_;
  std::int32_t parts_count_;
  std::size_t placed_ = 0, untouched_ = 0;
  std::vector<std::int64_t> gain_;     // by vertex and part
  std::vector<std::int64_t> touched_;  // by vertex: weight of its edges to placed vertices
  std::vector<std::int64_t> loads_, row_sum_;
  std::vector<std::priority_queue<candidate>> borders_;
};

}  // namespace

std::vector<std::int32_t> grow(const request& r, std::int32_t start) { return growing(r).run(start); }

}  // namespace kith::partition
