// What each task touches, line by line, as the fidelity *line* replays it.
//
// Made once from a recording's addresses, and shared by all runs. Memory is laid out again, so that a line's number
// does not depend on where the system had put the program:
//
//  * What tasks share has the lines from 0 on, page after page in the order of the recorded addresses. Distances of up
//    to a GiB are kept modulo 1 MiB (which a way of a cache divides). Larger ones are the operating system's choice and
//    are not kept. Memory that was freed and allocated again counts as other memory.
//  * Each core has memory of its own: for the stacks of the tasks that it runs, and for blocks that only the task that
//    allocated them touches, or only one thread. These have the same addresses on every core, as when an allocator
//    reuses them.
#pragma once

#include "recording/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::sim {

inline constexpr std::uint64_t line_bytes = 64;  // unless the machine's first level has shorter ones
inline constexpr std::uint64_t most_lines = std::uint64_t{1} << 30;  // of the memory of a program

/// Touches of one line: either all are reads, or the first one writes. All but the first are hits of the first level,
/// unless another core takes the line meanwhile: between them the task touches few other lines, and none that can be in
/// the same set. They are near each other in time (most_merged touches).
struct line_touches {
  std::uint32_t line : 31;
  std::uint32_t writes : 1;
  std::uint32_t count;
};
static_assert(sizeof(line_touches) == 8);

struct line_streams {
  std::vector<std::uint64_t> first;  // by task, into `rows`; empty: there are no addresses
  std::vector<line_touches> rows;
  std::uint32_t shared = 0;  // the number of shared lines; those of a core's own memory follow
  std::uint32_t own = 0;     // lines of a core's own memory; a program's stacks come first
  /// Where a program's stacks are in a core's own memory. The first line is where the outermost body began; others are
  /// below.
  struct stack_area {
    std::uint32_t first = 0, size = 0;  // a power of two
  };
  std::vector<stack_area> stacks;          // by member of the program
  std::vector<std::uint32_t> stack_depth;  // by task: the lines of its stack that it touches, in whole pages
  std::uint64_t bytes = line_bytes;        // of a line
  // By task: instructions for each of its accesses; negative: its instructions were not counted, or it has no accesses.
  // Empty: none were counted.
  std::vector<double> instructions;

  /// A page of shared memory: where it was recorded, and its first line. Sorted by address; memory that was allocated
  /// again has several pages at one address.
  struct page {
    std::uint64_t address = 0;
    std::uint32_t first = 0;
  };
  static constexpr std::uint64_t page_bytes = 4096;
  std::vector<page> pages;

  std::span<const line_touches> rows_of(std::size_t task) const noexcept {
    return {rows.data() + first[task], rows.data() + first[task + 1]};
  }
  /// The number of lines on a machine with this number of cores.
  std::uint64_t lines(std::size_t cores) const noexcept { return shared + std::uint64_t{own} * cores; }
  /// The line that a core touches in a task whose body began `stack_base` lines below the outermost body's in these
  /// stacks.
  std::uint32_t line_of(std::uint32_t line, std::uint32_t core, std::uint32_t stack_base,
                        stack_area stacks_of_program) const noexcept {
    const auto [first_line, size] = stacks_of_program;
    if (line < shared) return line;
    const std::uint32_t mine = line - shared, depth = mine - first_line;  // wraps around if it is before the stacks
    return shared + core * own + (depth < size ? first_line + ((depth + stack_base) & (size - 1)) : mine);
  }
};

/// `sets`: the least number of sets that the modelled caches have, a power of two; `bytes`: of a line, a power of two
/// up to 64. Empty if the recording has no addresses. Throws kith::error for damaged ones, and if they take more than
/// half of this computer's memory.
line_streams line_streams_of(const recording&, std::uint32_t sets = 1, std::uint64_t bytes = line_bytes);

}  // namespace kith::sim
