// What it costs to read a task's input from a node: what `numa` and `home-cache` have in common.
//
// MIR thesis, sections 3.2 and 3.3; artifact. Bytes of input by node, each times the distance to the node. Output does not
// count: writes are buffered. Distances are the machine's (10 is local): the papers speak of latencies, their code has these.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/data_weights.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

class input_cost {
 public:
  input_cost(const policy_context& s, counted what) : team_(s.workers), weights_(s.memory), what_(what) {}

  using room_type = data_weights::room_type;
  room_type room() const { return weights_.room(); }

  /// Fills `bytes`, which room() has made: the task's input by node. Data that nobody has touched is nowhere, and costs
  /// nothing.
  void weigh(const task& t, room_type& bytes) const { weights_.weigh(t, bytes, what_); }

  std::uint64_t sum(const room_type& bytes) const noexcept {
    std::uint64_t all = 0;
    for (int n = 0; n < team_.nodes(); ++n) all += bytes[static_cast<std::size_t>(n)];
    return all;
  }

  /// True if the nodes (with workers, or with some of the bytes) have the same number of them: the standard deviation is at
  /// most so many percent of the mean.
  bool uniform(const room_type& bytes, std::int64_t percent) const noexcept {
    double sum = 0, squares = 0, nodes = 0;
    for (int n = 0; n < team_.nodes(); ++n) {
      const auto b = static_cast<double>(bytes[static_cast<std::size_t>(n)]);
      if (b == 0 && team_.workers_at(node_id(n)).empty()) continue;
      sum += b;
      squares += b * b;
      ++nodes;
    }
    const double bound = static_cast<double>(percent) / 100 * sum;
    return nodes * squares - sum * sum <= bound * bound;
  }

  /// The cheapest of the nodes that have workers. They are compared in turn, `first` of them first, and the earliest of
  /// equals wins.
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
    std::uint64_t cost = 0;
    for (int n = 0; n < team_.nodes(); ++n) {
      const std::uint64_t b = bytes[static_cast<std::size_t>(n)];
      if (b != 0) cost += b * static_cast<std::uint64_t>(team_.distance(f, node_id(n)));
    }
    return cost;
  }

  const team& team_;
  data_weights weights_;
  counted what_;
};

}  // namespace kith
