// A graph whose results a serial sweep can compute, and which detects a node that runs twice or too early.
#pragma once

#include "base/rng.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace kith::test {

/// A random graph over 0..size-1: node k needs some of the nodes below it. Counts the paths to node 0.
struct path_graph {
  using key = std::uint32_t;

  path_graph(std::uint32_t size, std::uint32_t most, std::uint64_t seed)
      : needs(size), paths(size), computed(size), named(size) {
    kith::rng draw(seed, kith::purpose::test, 0);
    for (key k = 1; k < size; ++k) {
      const std::uint32_t degree = 1 + draw.below(most);
      for (std::uint32_t d = 0; d < degree; ++d) needs[k].push_back(draw.below(k));
      std::ranges::sort(needs[k]);
      needs[k].erase(std::ranges::unique(needs[k]).begin(), needs[k].end());
    }
  }

  void predecessors(key k, kith::keys<key>& all) {
    ++named[k];
    for (key p : needs[k]) all.add(p);
  }
  void compute(key k) {
    std::uint64_t sum = k == 0;
    for (key p : needs[k]) {
      if (computed[p] != 1) ++too_early;
      sum += paths[p];
    }
    paths[k] = sum;
    ++computed[k];
  }
  int color(key k) const { return static_cast<int>(k % 7) - 1; }  // some of them invalid

  /// The result of a serial sweep, with 0 for nodes that `wanted` does not need.
  std::vector<std::uint64_t> serial(key wanted) const {
    std::vector<std::uint64_t> sums(needs.size());
    std::vector<bool> needed(needs.size());
    needed[wanted] = true;
    for (key k = wanted + 1; k-- > 0;) {
      if (needed[k]) {
        for (key p : needs[k]) needed[p] = true;
      }
    }
    for (key k = 0; k <= wanted; ++k) {
      sums[k] = k == 0;
      for (key p : needs[k]) sums[k] += sums[p];
    }
    for (key k = 0; k < needs.size(); ++k) {
      if (!needed[k]) sums[k] = 0;
    }
    return sums;
  }

  std::vector<std::vector<key>> needs;
  std::vector<std::uint64_t> paths;
  std::vector<std::atomic<int>> computed, named;
  std::atomic<int> too_early{0};
};

}  // namespace kith::test
