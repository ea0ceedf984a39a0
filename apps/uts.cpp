// uts: counts the nodes of a very uneven tree, whose shape is known only by visiting it.
//
// A binomial tree, as in UTS (Olivier et al., LCPC 2006; also in BOTS): the root has `size` children; each other node
// has `children` of them with a probability of `q` millionths, else none. With children * q just below a million, some
// subtrees are a thousand times larger than others. A node's children are hashes of it (UTS takes SHA-1, so its
// trees are others). Joins split a node's children by halves. Property checked:
//  U1  nodes, leaves and depth are those that a loop with a list of open nodes finds.
#include "hash.hpp"
#include "list.hpp"

#include <algorithm>

namespace kith::apps {

namespace {

constexpr parameter uts_parameters[] = {
    {"size", "20000", "200", "children of the root"},
    {"children", "8", "8", "of a node that has any"},
    {"q", "124500", "120000", "the probability of that, in millionths"},
};

/// The counts of a subtree.
struct tree_counts {
  std::int64_t nodes = 0, leaves = 0, depth = 0;
  tree_counts operator+(const tree_counts& o) const noexcept {
    return {nodes + o.nodes, leaves + o.leaves, std::max(depth, o.depth)};
  }
  bool operator==(const tree_counts&) const = default;
};

struct tree_shape {
  std::uint64_t of_root, of_others, millionths;
  std::uint64_t children(std::uint64_t node, std::int64_t depth) const noexcept {
    if (depth == 0) return of_root;
    return hash(node, 0) % 1'000'000 < millionths ? of_others : 0;
  }
};

tree_counts visit(const tree_shape& shape, std::uint64_t node, std::int64_t depth);

/// The subtrees of the node's children from..to-1.
tree_counts visit_children(const tree_shape& shape, std::uint64_t node, std::int64_t depth, std::uint64_t from,
                           std::uint64_t to) {
  if (to - from == 1) return visit(shape, hash(node, from + 1), depth + 1);
  const std::uint64_t middle = from + (to - from) / 2;
  const auto [a, b] = join([=, &shape] { return visit_children(shape, node, depth, from, middle); },
                           [=, &shape] { return visit_children(shape, node, depth, middle, to); });
  return a + b;
}

tree_counts visit(const tree_shape& shape, std::uint64_t node, std::int64_t depth) {
  const std::uint64_t children = shape.children(node, depth);
  if (children == 0) return {1, 1, depth};
  return visit_children(shape, node, depth, 0, children) + tree_counts{1, 0, depth};
}

class uts final : public app {
 public:
  explicit uts(const arguments& a)
      : seed_(a.seed()),
        shape_{static_cast<std::uint64_t>(a.number("size", 1, 1 << 24)),
               static_cast<std::uint64_t>(a.number("children", 1, 1 << 16)),
               static_cast<std::uint64_t>(a.number("q", 0, 1'000'000))} {
    if (shape_.of_others * shape_.millionths >= 1'000'000)
      throw error("uts: --children times --q is a million or more, so the tree may have no end; expected less");
  }

  void prepare(const target&) override { found_ = {}; }
  void solve(const target& where) override {
    static const task_type type{"uts"};
    where.on.run([&] { spawn([this] { found_ = visit(shape_, seed_, 0); }, type); });
  }
  verdict verify() override {
    if (expected_.nodes == 0) expected_ = count_in_a_loop();
    return {found_ == expected_, text(found_) + "; a loop finds " + text(expected_)};
  }
  std::vector<figure> figures() const override {
    return {{"nodes", found_.nodes}, {"leaves", found_.leaves}, {"depth", found_.depth}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(&found_, 1)); }

 private:
  static std::string text(const tree_counts& c) {
    return std::to_string(c.nodes) + " nodes, " + std::to_string(c.leaves) + " leaves, depth " +
           std::to_string(c.depth);
  }
  tree_counts count_in_a_loop() const {
    struct open_node {
      std::uint64_t node;
      std::int64_t depth;
    };
    tree_counts all;
    for (std::vector<open_node> open{{seed_, 0}}; !open.empty();) {
      const open_node now = open.back();
      open.pop_back();
      ++all.nodes;
      all.depth = std::max(all.depth, now.depth);
      const std::uint64_t children = shape_.children(now.node, now.depth);
      if (children == 0) ++all.leaves;
      for (std::uint64_t c = 1; c <= children; ++c) open.push_back({hash(now.node, c), now.depth + 1});
    }
    return all;
  }

  std::uint64_t seed_;
  tree_shape shape_;
  tree_counts found_, expected_;
};

}  // namespace

const entry uts_entry = {"uts", "BOTS", "counts the nodes of a very uneven tree: joins that must be balanced",
                         uts_parameters, make<uts>};

}  // namespace kith::apps
