// Partitioning: compared with the optimum on small graphs; and what must hold on all graphs: limits, fixed
// vertices, repeatability.
#include "partition/partition.hpp"
#include "base/rng.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace {

using namespace kith::partition;
using kith::purpose;
using kith::rng;

targets uniform(std::int32_t parts) {
  targets t;
  t.capacity.assign(static_cast<std::size_t>(parts), 1);
  for (std::int32_t a = 0; a < parts; ++a) {
    for (std::int32_t b = 0; b < parts; ++b) t.distance.push_back(a == b ? 10 : 20);
  }
  return t;
}

/// Pairs at distance 18, all others at 36: modules of two sockets.
targets modules(std::int32_t parts) {
  targets t = uniform(parts);
  for (std::int32_t a = 0; a < parts; ++a) {
    for (std::int32_t b = 0; b < parts; ++b)
      t.distance[static_cast<std::size_t>(a) * static_cast<std::size_t>(parts) + static_cast<std::size_t>(b)] =
          a == b           ? 10
          : a / 2 == b / 2 ? 18
                           : 36;
  }
  return t;
}

graph random_graph(std::uint64_t seed, std::int32_t vertices, std::int32_t edges) {
  rng draw(seed, purpose::test, 0);
  std::vector<edge> all;
  const auto n = static_cast<std::uint32_t>(vertices);
  for (std::int32_t e = 0; e < edges; ++e) {
    all.push_back({static_cast<std::int32_t>(draw.below(n)), static_cast<std::int32_t>(draw.below(n)),
                   1 + static_cast<std::int64_t>(draw.below(1000))});
  }
  return graph_of(std::vector<std::int32_t>(n, 1), std::move(all));
}

graph grid(std::int32_t side) {
  std::vector<edge> all;
  for (std::int32_t i = 0; i < side; ++i) {
    for (std::int32_t j = 0; j < side; ++j) {
      if (i + 1 < side) all.push_back({i * side + j, (i + 1) * side + j, 100});
      if (j + 1 < side) all.push_back({i * side + j, i * side + j + 1, 100});
    }
  }
  return graph_of(std::vector<std::int32_t>(static_cast<std::size_t>(side * side), 1), std::move(all));
}

/// The lowest cost of all assignments that keep the limits.
std::int64_t best_cost(const request& r) {
  const std::vector<std::int64_t> limits = limits_of(r);
  std::vector<std::int32_t> parts(static_cast<std::size_t>(r.graph.vertices()), 0);
  std::int64_t best = -1;
  for (;;) {
    const std::vector<std::int64_t> loads = loads_of(r, parts);
    bool allowed = true;
    for (std::size_t p = 0; p < loads.size(); ++p) allowed = allowed && loads[p] <= limits[p];
    for (std::size_t v = 0; v < r.fixed.size(); ++v) allowed = allowed && (r.fixed[v] < 0 || r.fixed[v] == parts[v]);
    if (allowed) {
      const std::int64_t cost = cost_of(r.graph, r.onto, parts);
      if (best < 0 || cost < best) best = cost;
    }
    std::size_t v = 0;
    for (; v < parts.size() && ++parts[v] == r.onto.parts(); ++v) parts[v] = 0;
    if (v == parts.size()) return best;
  }
}

class partition : public testing::TestWithParam<method> {
 protected:
  /// Parts that satisfy all guarantees.
  static std::vector<std::int32_t> checked(const request& r) {
    const std::vector<std::int32_t> parts = parts_of(r, GetParam());
    EXPECT_EQ(parts.size(), r.graph.load.size());
    for (std::int32_t p : parts) EXPECT_TRUE(p >= 0 && p < r.onto.parts()) << p;
    const std::vector<std::int64_t> loads = loads_of(r, parts), limits = limits_of(r);
    for (std::size_t p = 0; p < loads.size(); ++p) EXPECT_LE(loads[p], limits[p]) << "part " << p;
    for (std::size_t v = 0; v < r.fixed.size(); ++v) {
      EXPECT_TRUE(r.fixed[v] < 0 || parts[v] == r.fixed[v]) << "vertex " << v;
    }
    EXPECT_EQ(parts, parts_of(r, GetParam())) << "the same again";
    return parts;
  }
};
/// A build without SCOTCH has one method.
std::vector<method> methods() {
  return have_scotch() ? std::vector{method::scotch, method::greedy} : std::vector{method::greedy};
}
std::string name_of(const testing::TestParamInfo<method>& of) {
  return of.param == method::scotch ? "scotch" : "greedy";
}
INSTANTIATE_TEST_SUITE_P(by, partition, testing::ValuesIn(methods()), name_of);

TEST_P(partition, is_near_the_best_on_small_graphs) {
  double sum = 0, best = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const graph g = random_graph(seed, 9, 14);
    const targets t = seed % 2 == 0 ? uniform(3) : modules(4);
    if (t.parts() == 4 && seed > 11) continue;  // 4^9 assignments each
    const request r{g, t};
    sum += static_cast<double>(cost_of(g, t, checked(r)));
    best += static_cast<double>(best_cost(r));
  }
  EXPECT_GE(sum, best);
  EXPECT_LE(sum, 1.25 * best);
}

TEST_P(partition, cuts_a_grid_about_as_well_as_squares) {
  const graph g = grid(32);
  const targets t = uniform(16);
  const std::int64_t squares{6 * 32 * 100 * 10};  // six lines of 32 edges, at distance 10
  EXPECT_LE(cost_of(g, t, checked({g, t})), squares * (GetParam() == method::scotch ? 13 : 15) / 10);
}

TEST_P(partition, puts_neighbours_onto_near_targets) {
  const graph g = grid(16);
  const targets t = modules(4);
  const std::vector<std::int32_t> parts = checked({g, t});
  std::vector<std::int32_t> other = parts;  // the same parts, with one part of each module exchanged
  for (std::int32_t& p : other) p = p == 1 ? 2 : p == 2 ? 1 : p;
  EXPECT_LE(cost_of(g, t, parts), cost_of(g, t, other));
}

TEST_P(partition, keeps_fixed_vertices_and_grows_around_them) {
  const graph g = grid(12);
  const targets t = uniform(4);
  std::vector<std::int32_t> fixed(144, -1);
  fixed[0] = 3;
  fixed[11] = 2;
  fixed[132] = 1;
  fixed[143] = 0;
  const std::vector<std::int32_t> parts = checked({g, t, fixed});
  if (GetParam() == method::greedy) {  // SCOTCH gives them little weight
    EXPECT_EQ(parts[1], 3);
    EXPECT_EQ(parts[142], 0);
    EXPECT_LE(cost_of(g, t, parts), 2 * 12 * 100 * 10 * 3 / 2);
  }
}

TEST_P(partition, more_fixed_in_a_part_than_its_share_is_no_error) {
  const graph g = grid(6);
  const targets t = uniform(4);
  std::vector<std::int32_t> fixed(36, -1);
  for (std::size_t v = 0; v < 20; ++v) fixed[v] = 0;
  const std::vector<std::int32_t> parts = checked({g, t, fixed});
  EXPECT_EQ(std::ranges::count(parts, 0), 20);
}

TEST_P(partition, without_edges_it_balances) {
  const graph g = graph_of(std::vector<std::int32_t>(100, 1), {});
  const targets t = uniform(8);
  checked({g, t});
}

TEST_P(partition, keeps_components_whole_where_they_fit) {
  std::vector<edge> all;  // forty chains of five
  for (std::int32_t c = 0; c < 40; ++c) {
    for (std::int32_t v = 0; v < 4; ++v) all.push_back({5 * c + v, 5 * c + v + 1, 1000});
  }
  const graph g = graph_of(std::vector<std::int32_t>(200, 1), std::move(all));
  const targets t = uniform(8);
  EXPECT_EQ(cost_of(g, t, checked({g, t})), 0);
}

TEST_P(partition, more_parts_than_vertices) {
  const targets t = modules(16);
  for (std::int32_t n : {0, 1, 2, 5}) {
    const graph g = random_graph(3, std::max(n, 1), 4);
    if (n == 0) {
      EXPECT_TRUE(parts_of({graph_of({}, {}), t}, GetParam()).empty());
    } else {
      checked({g, t});
    }
  }
}

TEST_P(partition, targets_without_capacity_get_nothing) {
  const graph g = grid(10);
  targets t = modules(6);
  t.capacity = {2, 0, 1, 0, 1, 0};
  const std::vector<std::int32_t> parts = checked({g, t});
  for (std::int32_t p : parts) EXPECT_EQ(p % 2, 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(parts, 0)), 50, 3);
}

TEST_P(partition, random_graphs_with_loads_and_huge_weights) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    graph g = random_graph(seed, 200, 500);
    rng draw(seed, purpose::test, 1);
    for (std::int32_t& l : g.load) l = 1 + static_cast<std::int32_t>(draw.below(5));
    for (graph::arc& a : g.arcs) a.weight *= std::int64_t{1} << 34;
    const targets t = modules(8);
    std::vector<std::int32_t> fixed(200, -1);
    for (std::size_t v = 0; v < 30; ++v) fixed[v] = static_cast<std::int32_t>(draw.below(8));
    checked({g, t});
    checked({g, t, fixed});
  }
}

TEST(partition_graph, sums_parallel_edges_and_drops_loops) {
  const graph g = graph_of({1, 1, 1}, {{0, 1, 5}, {1, 0, 7}, {2, 2, 9}, {1, 2, 0}});
  EXPECT_EQ(g.edges(), 2u);
  EXPECT_EQ(g.around(0).size(), 1u);
  EXPECT_EQ(g.around(0)[0].weight, 12);
  EXPECT_EQ(g.around(2)[0].weight, 1);
}

TEST(partition_graph, is_scaled_without_losing_an_edge) {
  const graph g = scaled(graph_of({1, 1, 1}, {{0, 1, 1000000}, {1, 2, 1}}), 2000);
  EXPECT_EQ(g.around(2)[0].weight, 1);
  EXPECT_LE(g.around(0)[0].weight, 1000);
  EXPECT_GE(g.around(0)[0].weight, 500);
}

TEST(partition_graph, no_capacity_anywhere_is_an_error) {
  const graph g = grid(2);
  targets t = uniform(2);
  t.capacity = {0, 0};
  EXPECT_THAT([&] { parts_of({g, t}, method::greedy); },
              testing::ThrowsMessage<kith::error>(testing::HasSubstr("no target has a capacity")));
}

}  // namespace
