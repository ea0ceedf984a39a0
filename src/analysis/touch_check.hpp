// What tasks touched against what they declared. For `kith check`.
//
// Not counted as undeclared: the stacks and thread-local data, memory that cannot be written, variables that no task
// writes, what the task itself has allocated, Kith's own memory, and what Kith's headers touch. Other memory that no
// task writes or declares, such as an object with a program's sizes and pointers, is listed apart: reads of it need no
// order. Roots cannot declare anything, and are not checked; what they write counts as written.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith::analysis {

/// Bytes of one block, and of one region at most, that a task touched from one place without having declared it.
struct undeclared_touch {
  std::int32_t task = -1;
  std::uint32_t site = 0, block = 0;
  bool writes = false;               // it writes them; else it only reads
  bool declared_in = false;          // it is written, and declared as read only
  std::int32_t region = -1;          // a region of the recording that has some of these bytes; -1: none
  std::uint64_t begin = 0, end = 0;  // the range in the block
  std::uint64_t touches = 0;
};
/// Memory of one block that tasks read, and that no task writes and none of them declares.
struct constant_read {
  std::int32_t task = -1;                // the first task that reads it
  std::uint32_t site = 0, block = 0;     // site: its first read
  std::uint64_t begin = 0, end = 0;      // the range in the block
  std::uint64_t tasks = 0, touches = 0;  // over all tasks
};
/// An access of which the task touched no byte.
struct untouched_access {
  std::int32_t task = -1;
  std::uint32_t region = 0;
  std::uint8_t mode = 0;
};
struct touch_report {
  std::vector<undeclared_touch> undeclared;  // by task; of one task in the order of the first touch
  std::vector<constant_read> constants;      // in the order of the first read
  std::vector<untouched_access> untouched;   // by task, in the order of declaration
  std::uint64_t tasks = 0;                   // the number that were checked
  std::uint64_t touches = 0;                 // those of these tasks
  std::uint64_t unknown = 0;                 // those of these that are in memory of no known block
};

/// The recording must have addresses. Throws kith::error if a stream is damaged. Costs O(touches), twice.
touch_report check_touches(const recording&);

}  // namespace kith::analysis
