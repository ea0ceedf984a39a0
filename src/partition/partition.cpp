#include "partition/partition.hpp"

#include "base/atomic.hpp"
#include "partition/methods.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace kith::partition {

namespace {

/// Keeps sums of weights times distances far within 64 bits.
constexpr std::int64_t heaviest_graph = std::int64_t{1} << 40;
/// The number of starts for growing; the best result counts.
constexpr std::int32_t starts = 4;

/// The quality of a result: overload first, then cost.
struct quality {
  std::int64_t over, cost;
  auto operator<=>(const quality&) const = default;
};

quality quality_of(const request& r, std::span<const std::int64_t> limits, std::span<const std::int32_t> parts) {
  const std::vector<std::int64_t> loads = loads_of(r, parts);
  std::int64_t over = 0;
  for (std::size_t p = 0; p < loads.size(); ++p) over += std::max<std::int64_t>(loads[p] - limits[p], 0);
  return {over, cost_of(r.graph, r.onto, parts)};
}

std::vector<std::int32_t> grow_and_refine(const request& r, std::span<const std::int64_t> limits) {
  std::vector<std::int32_t> best;
  quality of_best{};
  for (std::int32_t s = 0; s < starts; ++s) {
    std::vector<std::int32_t> parts = grow(r, s);
    refine(r, limits, parts);
    exchange_parts(r, parts);
    const quality q = quality_of(r, limits, parts);
    if (!best.empty() && q >= of_best) continue;
    of_best = q;
    best = std::move(parts);
  }
  return best;
}

/// Maps by SCOTCH onto the targets with capacity, because SCOTCH has no targets without.
std::vector<std::int32_t> scotch_onto_some(const request& r, std::span<const std::int64_t> limits) {
  std::vector<std::int32_t> numbers, place(static_cast<std::size_t>(r.onto.parts()), -1);
  for (std::int32_t p = 0; p < r.onto.parts(); ++p) {
    if (limits[static_cast<std::size_t>(p)] == 0) continue;
    place[static_cast<std::size_t>(p)] = static_cast<std::int32_t>(numbers.size());
    numbers.push_back(p);
  }
  targets some;
  for (std::int32_t a : numbers) {
    some.capacity.push_back(std::max(r.onto.capacity[static_cast<std::size_t>(a)], 1));
    for (std::int32_t b : numbers) {
      some.distance.push_back(
          r.onto.distance[static_cast<std::size_t>(a) * r.onto.capacity.size() + static_cast<std::size_t>(b)]);
    }
  }
  std::vector<std::int32_t> fixed(r.fixed.begin(), r.fixed.end());
  for (std::int32_t& f : fixed) f = f < 0 ? -1 : place[static_cast<std::size_t>(f)];
  std::vector<std::int32_t> parts = some.parts() == 1
                                        ? std::vector<std::int32_t>(static_cast<std::size_t>(r.graph.vertices()), 0)
                                        : map_by_scotch({r.graph, some, fixed, r.imbalance});
  for (std::int32_t& p : parts) p = numbers[static_cast<std::size_t>(p)];
  return parts;
}

}  // namespace

method available(method wanted) {
  if (wanted != method::scotch || have_scotch()) return wanted;
  static constinit atomic<bool> warned{false};
  if (!warned.exchange(true, relaxed))
    std::fprintf(stderr, "kith: built without SCOTCH (libscotch-dev): tasks are partitioned by graph growing\n");
  return method::greedy;
}

std::vector<std::int64_t> loads_of(const request& r, std::span<const std::int32_t> parts) {
  std::vector<std::int64_t> loads(r.onto.capacity.size());
  for (std::size_t v = 0; v < parts.size(); ++v) {
    if (parts[v] >= 0) loads[static_cast<std::size_t>(parts[v])] += r.graph.load[v];
  }
  return loads;
}

std::vector<std::int64_t> limits_of(const request& r) {
  const auto all = std::accumulate(r.graph.load.begin(), r.graph.load.end(), std::int64_t{0});
  const auto room = std::accumulate(r.onto.capacity.begin(), r.onto.capacity.end(), std::int64_t{0});
  if (room <= 0) throw error("partition: no target has a capacity; expected at least one");
  const std::int64_t heaviest = r.graph.load.empty() ? 1 : *std::ranges::max_element(r.graph.load);
  const std::vector<std::int64_t> held =
      r.fixed.empty() ? std::vector<std::int64_t>(r.onto.capacity.size(), 0) : loads_of(r, r.fixed);
  std::vector<std::int64_t> limits;
  for (std::size_t p = 0; p < r.onto.capacity.size(); ++p) {
    const std::int64_t capacity = r.onto.capacity[p];
    const std::int64_t share = (all * capacity + room - 1) / room;
    const auto more = static_cast<std::int64_t>(
        std::floor(static_cast<double>(all * capacity) / static_cast<double>(room) * (1 + r.imbalance)));
    limits.push_back(std::max(capacity == 0 ? 0 : std::max(share + heaviest - 1, more), held[p]));
  }
  return limits;
}

std::int64_t cost_of(const graph& g, const targets& t, std::span<const std::int32_t> parts) {
  std::int64_t cost = 0;
  for (std::int32_t v = 0; v < g.vertices(); ++v) {
    for (const graph::arc& a : g.around(v)) {
      if (a.to > v)
        cost += a.weight * t.between(parts[static_cast<std::size_t>(v)], parts[static_cast<std::size_t>(a.to)]);
    }
  }
  return cost;
}

std::vector<std::int32_t> parts_of(const request& given, method how) {
  const graph g = scaled(given.graph, heaviest_graph);
  const request r{g, given.onto, given.fixed, given.imbalance};
  const std::vector<std::int64_t> limits = limits_of(r);
  if (g.vertices() == 0) return {};
  if (how == method::greedy || !have_scotch()) return grow_and_refine(r, limits);
  std::vector<std::int32_t> parts = scotch_onto_some(r, limits);
  if (quality_of(r, limits, parts).over > 0) refine(r, limits, parts);
  return parts;
}

void say_failure(const std::exception& e) noexcept {
  static atomic<bool> warned{false};
  if (warned.exchange(true, relaxed)) return;
  std::fprintf(stderr, "kith: partition: %s; the tasks of this window go where their data is, as under `dep`\n",
               e.what());
}

std::uint64_t expected_nanoseconds(method how, std::size_t vertices, std::size_t edges) noexcept {
  const std::uint64_t size = vertices + edges;
  return how == method::scotch && have_scotch() ? 300'000 + 900 * size : 20'000 + 800 * size;
}

}  // namespace kith::partition
