// random_dag: a random directed acyclic graph of tasks. Each task adds up the numbers of paths of its successors.
//
// Nabbit's micro-benchmark. Node 0 is the root. Each node that exists draws 1..degree successors among the nodes
// with higher numbers, which then exist. The last node is the sink. The number of paths from a node to the sink does
// not depend on the order in which the nodes are computed, as long as it respects the edges. Properties checked:
//  R1  each node that exists was computed exactly once, and no other node was;
//  R2  each node's number of paths (modulo 2^64) equals that of a serial sweep from the sink;
//  R3  each node did all its work.
#include "hash.hpp"
#include "list.hpp"

#include <algorithm>

namespace kith::apps {

namespace {

constexpr parameter random_dag_parameters[] = {
    {"size", "200000", "20000", "numbers that nodes may have"},
    {"degree", "20", "12", "most successors that a node draws"},
    {"work", "5000", "500", "rounds of arithmetic in each node"},
};

struct result_of_node {
  std::uint64_t paths;
  std::uint64_t worked;    // the result of `work` rounds of arithmetic
  std::uint64_t computed;  // how many times
};

std::uint64_t mix(std::uint64_t i, std::int64_t rounds) {
  std::uint64_t x = i | 1;
  for (std::int64_t r = 0; r < rounds; ++r) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

class random_dag final : public app {
 public:
  explicit random_dag(const arguments& a)
      : size_(static_cast<std::uint64_t>(a.number("size", 2, 1 << 28))),
        rounds_(a.number("work", 0, 1 << 30)),
        results_(size_) {
    draw(a.seed(), static_cast<std::uint64_t>(a.number("degree", 1, 64)));
  }

  void prepare(const target&) override { std::fill(results_.begin(), results_.end(), result_of_node{}); }

  void solve(const target& where) override {
    static const task_type type{"random_dag"};
    std::vector<handle<result_of_node>> nodes;
    nodes.reserve(size_);
    for (result_of_node& r : results_) nodes.emplace_back(r);
    where.on.run([&] {
      // A node waits for its successors, so these are created first.
      for (std::uint64_t i = size_; i-- > 0;) {
        if (!exists(i)) continue;
        access_list accesses;
        accesses.add(out(nodes[i]));
        for (std::uint64_t s : successors(i)) accesses.add(in(nodes[s]));
        spawn([this, i] { compute(i); }, accesses, type,
              where.of(static_cast<std::int64_t>(i), static_cast<std::int64_t>(size_)));
      }
    });
  }

  verdict verify() override {
    std::vector<std::uint64_t> paths(size_, 0);
    std::uint64_t wrong = 0, nodes = 0;
    for (std::uint64_t i = size_; i-- > 0;) {
      for (std::uint64_t e = first_[i]; e < first_[i + 1]; ++e) paths[i] += paths[edges_[e]];
      if (i == size_ - 1) paths[i] = 1;
      nodes += exists(i);
      const result_of_node& r = results_[i];
      wrong += exists(i) ? r.computed != 1 || r.paths != paths[i] || r.worked != mix(i, rounds_) : r.computed != 0;
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(nodes) +
                            " nodes were computed not exactly once, or have not the serial program's number of paths"};
  }

  std::vector<figure> figures() const override {
    const auto existing = std::count(exists_.begin(), exists_.end(), true);
    return {{"nodes", static_cast<std::int64_t>(existing)}, {"edges", static_cast<std::int64_t>(edges_.size())}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(results_)); }

 private:
  void draw(std::uint64_t seed, std::uint64_t degree) {
    exists_.assign(size_, false);
    exists_[0] = true;
    std::uint64_t drawn = 0;
    for (std::uint64_t i = 0; i < size_; ++i) {
      first_.push_back(edges_.size());
      if (!exists_[i] || i + 1 == size_) continue;
      for (std::uint64_t left = 1 + hash(seed, drawn++) % degree; left > 0; --left) {
        edges_.push_back(i + 1 + hash(seed, drawn++) % (size_ - 1 - i));
      }
      const auto from = edges_.begin() + static_cast<std::ptrdiff_t>(first_.back());
      std::sort(from, edges_.end());
      edges_.erase(std::unique(from, edges_.end()), edges_.end());
      for (std::uint64_t e = first_.back(); e < edges_.size(); ++e) exists_[edges_[e]] = true;
    }
    first_.push_back(edges_.size());
  }

  bool exists(std::uint64_t i) const { return exists_[i]; }
  std::span<const std::uint64_t> successors(std::uint64_t i) const {
    return {edges_.data() + first_[i], edges_.data() + first_[i + 1]};
  }

  void compute(std::uint64_t i) {
    result_of_node& r = results_[i];
    r.worked = mix(i, rounds_);
    r.paths = i + 1 == size_ ? 1 : 0;
    for (std::uint64_t s : successors(i)) r.paths += results_[s].paths;
    ++r.computed;
  }

  std::uint64_t size_;
  std::int64_t rounds_;
  std::vector<result_of_node> results_;
  std::vector<bool> exists_;
  std::vector<std::uint64_t> first_;  // where a node's edges begin
  std::vector<std::uint64_t> edges_;
};

}  // namespace

const entry random_dag_entry = {"random_dag", "NabbitC", "a random task graph, whose path counts are known",
                                random_dag_parameters, make<random_dag>};

}  // namespace kith::apps
