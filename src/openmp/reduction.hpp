// Reductions over tasks: `task_reduction`, `in_reduction`, and `reduction(task, ...)`.
//
// GCC passes a descriptor (what LLVM's programs pass is made into one): words, of which the first is the number of
// variables, the second the bytes of a private block, the third its alignment, the fifth the descriptor that continues
// this one (0: none), and from the eighth on three for each variable: its address, where it is in a block, and one for
// this library. While the descriptor is registered, the third word is the address of the blocks, one for each thread of
// the team, and the seventh their end. The last descriptor of a construct is continued by those of enclosing groups.
// GCC's programs initialise the private copies, and combine them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

/// Registers the descriptor in the innermost group of the running task.
void register_reductions(std::uintptr_t* descriptor);

/// Gives the descriptor zeroed private blocks for this number of threads. It is continued by `enclosing`; null: none.
void make_private_blocks(std::uintptr_t* descriptor, std::uintptr_t* enclosing, int threads);

/// Frees them.
void free_private_blocks(std::uintptr_t* descriptor);

struct private_copy {
  void* original;
  void* here;
  const std::uintptr_t* descriptor;
  std::size_t variable;  // its number in the descriptor
};
/// Where a thread's copy of the variable is that has this address, or has a copy of any thread there; by this
/// descriptor, or those that it continues. Ends the program if there is none.
private_copy find_private_copy(std::uintptr_t* descriptor, void* variable, int thread);

/// Opens a task group in the calling member, for a construct with task reductions, and registers the descriptor in it.
/// `of_first`: the descriptor of the team's member that came first, which is registered and stays until all members
/// have left the construct; from it come the private blocks. Null: the
/// caller comes first, and makes them. Called once by each member for each such construct.
void begin_share_reductions(std::uintptr_t* descriptor, const std::uintptr_t* of_first);

}  // namespace kith::openmp
