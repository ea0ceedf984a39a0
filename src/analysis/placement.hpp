// Where one run put the blocks of an array, and the tasks that write them. For `kith placement`.
#pragma once

#include "analysis/arrays.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith::analysis {

struct placed_block {
  std::uint32_t region = 0;
  std::vector<std::uint64_t> bytes = {};  // by node, as the run left them
  std::int32_t home = -1;                 // the node with most of them, the lowest of equals; -1: never touched
  bool spread = false;                    // on several nodes
  std::int32_t ran = -1;  // the node that ran most of the tasks that write it, the lowest of equals; -1: none
  std::uint64_t tasks = 0, tasks_at_home = 0;  // tasks that write it; of these, those that ran on its home
};

struct array_placement {
  std::size_t nodes = 0;
  std::vector<placed_block> blocks = {};  // as in the array
  std::vector<std::uint64_t> bytes = {};  // by node, of the array
  std::vector<std::uint64_t> tasks = {};  // by node: tasks that write blocks of it
  std::uint64_t nowhere = 0;              // bytes that were never touched
  /// The fullest node's bytes over the mean of all nodes that have workers; 0 if no bytes have a home.
  double balance = 0;
  /// The share of pairs of linked blocks (links_of(), weighted by count) that have homes on different nodes, in
  /// percent.
  double cut_percent = 0;
};

array_placement place_array(const recording&, const block_array&);

}  // namespace kith::analysis
