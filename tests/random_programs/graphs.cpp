// Loops and graphs, some of whose nodes create tasks or wait themselves.
#include "body.hpp"

#include <functional>
#include <utility>

namespace kith::random_programs {

namespace {

struct point {
  int x, y;
  bool operator==(const point&) const = default;
};

}  // namespace

}  // namespace kith::random_programs

template <>
struct std::hash<kith::random_programs::point> {
  std::size_t operator()(const kith::random_programs::point& p) const noexcept {
    return static_cast<std::size_t>(p.x) * 31 + static_cast<std::size_t>(p.y);
  }
};

namespace kith::random_programs {

namespace {

constexpr int side = 6;

/// A node's value is one more than the sum of the values to the left and below.
struct grid {
  using key = point;
  using value = word;

  context where;
  point throwing;
  bool waits;
  witness held{};

  void predecessors(const point& p, keys<point>& all) {
    if (p.x > 0) all.add({p.x - 1, p.y});
    if (p.y > 0) all.add({p.x, p.y - 1});
  }
  word compute(const point& p, const values<word>& from) {
    if (p == throwing) throw fault{where.domain};
    word sum = 1;
    for (const word v : from) sum += v;
    if (waits && (p.x + p.y) % 3 == 0) sum += number_of_children() - 2;
    return sum;
  }
  /// Two; fewer if other bodies cancel, which may skip them.
  word number_of_children() const {
    std::atomic<word> ran{0};
    spawn([&ran, held = witness()] { ++ran; });
    spawn([&ran] { spawn([&ran] { ++ran; }); });
    wait();
    return where.failing ? 2 : ran.load();
  }
};

word grid_value(const point& wanted) {
  word v[side][side];
  for (int x = 0; x <= wanted.x; ++x) {
    for (int y = 0; y <= wanted.y; ++y) v[x][y] = 1 + (x > 0 ? v[x - 1][y] : 0) + (y > 0 ? v[x][y - 1] : 0);
  }
  return v[wanted.x][wanted.y];
}

schedule drawn_schedule(dice& choose, const context& where) {
  constexpr schedule::kind kinds[] = {schedule::static_, schedule::dynamic, schedule::guided};
  const schedule::kind deal = choose.of(kinds);
  return {where.program->size.repeatable ? schedule::static_ : deal, choose.below(5)};
}

word term(word seed, std::int64_t i) { return mix(seed + static_cast<word>(i)); }

word sum_of_terms(word seed, int length) {
  word sum = 0;
  for (int i = 0; i < length; ++i) sum += term(seed, i);
  return sum;
}

/// A static graph, with how often each of its nodes has ended.
struct counted_nodes {
  context where;
  std::vector<std::atomic<int>> ended;
  std::vector<std::vector<std::size_t>> before;  // by node: its predecessors
  std::size_t throwing;

  counted_nodes(const context& s, std::size_t nodes) : where(s), ended(nodes), before(nodes), throwing(nodes) {}

  void run_node(std::size_t n) {
    for (const std::size_t p : before[n]) {
      if (ended[p] != ended[n] + 1) where.complain("node ", n, " of a static graph ran before node ", p);
    }
    if (n == throwing) throw fault{where.domain};
    if (n % 4 == 1)
      spawn([this, n] { ++ended[n]; });
    else
      ++ended[n];
  }
};

}  // namespace

void loop(body& b, draw& d) {
  const int length = d.choose.below(60);
  const word expected = sum_of_terms(d.seed, length);
  b.sum += expected;
  if (b.where.in_model()) return;
  std::atomic<word> sum{0};
  const auto iteration = [&](std::int64_t i) {
    if (i % 13 != 5) {
      sum += term(d.seed, i);
      return;
    }
    spawn([&, i] { sum += term(d.seed, i); });
    if (i % 2 != 0) wait();
  };
  parallel_for(0, length, iteration, drawn_schedule(d.choose, b.where));
  if (!b.where.failing && sum != expected) b.where.complain("a loop's sum is wrong");
}

void reduction(body& b, draw& d) {
  const int length = d.choose.below(60);
  const word expected = sum_of_terms(d.seed, length);
  b.sum += expected;
  if (b.where.in_model()) return;
  const auto part = [&](std::int64_t from, std::int64_t to, word sum) {
    for (std::int64_t i = from; i < to; ++i) sum += term(d.seed, i);
    return sum;
  };
  const word sum = parallel_reduce(0, length, word{0}, part, std::plus<word>(), drawn_schedule(d.choose, b.where));
  if (!b.where.failing && sum != expected) b.where.complain("a reduction's sum is wrong");
}

void keyed_grid(body& b, draw& d) {
  const point wanted{d.choose.below(side), d.choose.below(side)};
  const word expected = grid_value(wanted);
  b.sum += expected;
  if (b.where.in_model()) return;
  grid g{b.where, {-1, -1}, d.choose.one_in(2)};
  if (b.where.failing && d.choose.one_in(2)) g.throwing = {d.choose.below(side), d.choose.below(side)};
  const word got = explore(g, wanted);
  if (got != expected) b.where.complain("a keyed graph's value is ", got, ", not ", expected);
}

void static_nodes(body& b, draw& d) {
  const int nodes = 1 + d.choose.below(12), runs = 1 + d.choose.below(3);
  if (b.where.in_model()) return;
  counted_nodes counted(b.where, static_cast<std::size_t>(nodes));
  static_graph g;
  for (int n = 0; n < nodes; ++n) {
    const auto node = static_cast<static_graph::node>(n);
    g.add([&counted, node, held = witness()] { counted.run_node(node); }, d.urgency);
    for (static_graph::node p = 0; p < node; ++p) {
      if (!d.choose.one_in(3)) continue;
      g.edge(p, node);
      counted.before[node].push_back(p);
    }
  }
  if (b.where.failing && d.choose.one_in(2)) counted.throwing = static_cast<std::size_t>(d.choose.below(nodes));
  for (int r = 1; r <= runs; ++r) {
    g.run();
    for (const std::atomic<int>& n : counted.ended) {
      if (!b.where.failing && n != r) b.where.complain("a node of a static graph ended ", n, " times in ", r, " runs");
    }
  }
}

}  // namespace kith::random_programs
