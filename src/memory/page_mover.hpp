// Moves pages to the node that uses them.
//
// RIP paper, section 6.5: pages with a task's output go to the socket of the core that executes the task. Not
// in the paper: they are collected and moved in batches, because one system call costs more than most tasks; and a
// policy may ask for regions that a task only reads.
// Each worker has its own mover.
#pragma once

#include "memory/memory_space.hpp"

#include <cstdint>
#include <vector>

namespace kith {

class page_mover {
 public:
  explicit page_mover(const memory_space& memory) : memory_(memory) {}

  /// A task on this worker uses the first `bytes` of the region, whose home is another node.
  void add(region& r, std::uint64_t bytes);
  /// True if enough was added; move() should be called.
  bool full() const noexcept { return pages_.size() >= enough || waiting_.size() >= enough; }
  bool empty() const noexcept { return waiting_.empty(); }
  /// Moves what was added to node `to`, with one system call per 4096 pages. Returns the bytes of regions that
  /// now have their home there. A region keeps its home if most of its pages stayed, or if another worker has moved it
  /// or its memory was given back meanwhile.
  std::uint64_t move(node_id to);

 private:
  static constexpr std::size_t enough = 64;
  struct request {
    region* what;
    std::int16_t home;  // at the time of add()
    std::uint64_t bytes;
    std::size_t pages_until;  // the end of its pages, which begin where those of the previous request end
  };
  void drop_outdated();

  const memory_space& memory_;
  std::vector<request> waiting_;
  std::vector<void*> pages_;
  std::vector<int> to_, status_;
};

}  // namespace kith
