// The cost of reading a task's input from a node. Shared by `numa` and `home-cache`.
//
// MIR thesis, sections 3.2 and 3.3; artifact. The cost is the sum over all nodes of the input's bytes there times
// the distance. Output does not count, because writes are buffered. Distances are the machine's (10 is local), as
// in the papers' code; the papers speak of latencies.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/data_weights.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith {

/// The cost of reading these bytes, given by node, from node `from`. distance(a, b) is 10 for local.
template <class Distance>
std::uint64_t reading_cost(std::size_t from, std::span<const std::uint64_t> bytes, const Distance& distance) {
  std::uint64_t cost = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (bytes[n] != 0) cost += bytes[n] * static_cast<std::uint64_t>(distance(from, n));
  }
  return cost;
}

/// True if the bytes are spread evenly over the nodes that have workers or some of the bytes: the standard
/// deviation is at most `percent` percent of the mean. inhabited(n) says whether node n has workers.
template <class Inhabited>
bool is_even(std::span<const std::uint64_t> bytes, std::int64_t percent, const Inhabited& inhabited) {
  double sum = 0, squares = 0, nodes = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto b = static_cast<double>(bytes[n]);
    if (b == 0 && !inhabited(n)) continue;
    sum += b;
    squares += b * b;
    ++nodes;
  }
  const double bound = static_cast<double>(percent) / 100 * sum;
  return nodes * squares - sum * sum <= bound * bound;
}

/// As input_cost::weigh(), for `kith why`.
[[gnu::cold]] inline std::vector<std::uint64_t> input_by_node(const placement_facts& f, counted what) {
  std::vector<std::uint64_t> bytes(f.nodes.size());
  for (const placement_facts::access& a : f.data) {
    if (what == counted::inputs && a.how == mode::out) continue;
    for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] += a.at_node[n];
  }
  return bytes;
}

/// Says which of the nodes with workers reads these bytes at least cost, and the cost on each.
[[gnu::cold]] inline void explain_cheapest(explainer& e, const std::vector<std::uint64_t>& bytes) {
  const placement_facts& f = e.facts;
  std::string costs;
  std::vector<std::int32_t> cheapest;
  std::uint64_t least = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (f.nodes[n].workers == 0) continue;
    const std::uint64_t cost = reading_cost(n, bytes, f.distance) / 10;
    costs += (costs.empty() ? "" : ", ") + e.text(cost) + " from node " + std::to_string(n);
    if (cheapest.empty() || cost < least) {
      least = cost;
      cheapest.clear();
    }
    if (cost == least) cheapest.push_back(static_cast<std::int32_t>(n));
  }
  e.say_of_policy("a task runs where its input is read at least cost: " + e.nodes_text(cheapest) +
                  " (bytes times distance: " + costs + ")");
  if (cheapest.size() > 1) e.say("equal costs are taken in turn");
  if (std::ranges::find(cheapest, f.node_ran_on) == cheapest.end()) e.compare_with(cheapest.front());
}

class input_cost {
 public:
  input_cost(const policy_context& context, counted what)
      : team_(context.workers), weights_(context.memory), what_(what) {}

  using room_type = data_weights::room_type;
  room_type room() const { return weights_.room(); }

  /// Fills `bytes`, which room() made, with the task's input by node. Untouched data has no node and costs
  /// nothing.
  void weigh(const task& t, room_type& bytes) const { weights_.weigh(t, bytes, what_); }

  std::uint64_t sum(const room_type& bytes) const noexcept {
    std::uint64_t all = 0;
    for (int n = 0; n < team_.nodes(); ++n) all += bytes[static_cast<std::size_t>(n)];
    return all;
  }

  bool uniform(const room_type& bytes, std::int64_t percent) const noexcept {
    return is_even(by_node(bytes), percent,
                   [this](std::size_t n) { return !team_.workers_at(node_id(static_cast<int>(n))).empty(); });
  }

  /// The cheapest of the nodes that have workers. They are compared in turn, starting with number `first`; the
  /// first of equals wins.
  node_id cheapest(const room_type& bytes, std::size_t first) const noexcept {
    const std::vector<node_id>& nodes = team_.inhabited();
    node_id best;
    std::uint64_t least = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const node_id f = nodes[(first + i) % nodes.size()];
      const std::uint64_t cost = from(f, bytes);
      if (best && cost >= least) continue;
      best = f;
      least = cost;
    }
    return best;
  }

 private:
  std::uint64_t from(node_id f, const room_type& bytes) const noexcept {
    return reading_cost(f.index(), by_node(bytes), [this](std::size_t a, std::size_t b) {
      return team_.distance(node_id(static_cast<int>(a)), node_id(static_cast<int>(b)));
    });
  }
  std::span<const std::uint64_t> by_node(const room_type& bytes) const noexcept {
    return {bytes.data(), static_cast<std::size_t>(team_.nodes())};
  }

  const team& team_;
  data_weights weights_;
  counted what_;
};

}  // namespace kith
