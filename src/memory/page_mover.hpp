// Moves pages of written data to the node that writes it.
//
// RIP paper, section 6.5: pages with the output of tasks go to the socket of the core that executes the task. Not in the
// paper: they are collected and moved many at a time, for one system call costs more than most tasks. A worker's own.
#pragma once

#include "memory/memory_space.hpp"

#include <cstdint>
#include <vector>

namespace kith {

class page_mover {
 public:
  explicit page_mover(const memory_space& of) : of_(of) {}

  /// A task that runs here writes the region's first `bytes`; it is at home elsewhere.
  void add(region& r, std::uint64_t bytes);
  /// True if enough has come together: move() now.
  bool full() const noexcept { return pages_.size() >= enough || waiting_.size() >= enough; }
  bool empty() const noexcept { return waiting_.empty(); }
  /// Moves what was added to node `to`, with one system call for 4096 pages; returns the bytes of regions whose home it is
  /// now. A region most of whose pages stayed keeps its home, as does one whose memory was given back meanwhile.
  std::uint64_t move(node_id to);

 private:
  static constexpr std::size_t enough = 64;
  struct request {
    region* what;
    std::int32_t home;  // it had
    std::uint64_t bytes;
    std::size_t pages_until;  // its pages are those behind the pages of the request before
  };
  const memory_space& of_;
  std::vector<request> waiting_;
  std::vector<void*> pages_;
  std::vector<int> to_, status_;
};

}  // namespace kith
