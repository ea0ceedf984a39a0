// Reductions over tasks: `task_reduction`, `in_reduction`, and `reduction(task, ...)`.
//
// GCC passes a descriptor (what LLVM's programs pass is made into one). Its words are the number of variables, the
// bytes of a private block, its alignment, one for this library, the descriptor that continues this one (0: none), two
// for this library, and from the eighth on three for each variable: its address, where it is in a block, and one for
// this library. While the descriptor is registered, the third word is the address of the blocks, one for each thread of
// the team, and the seventh their end. The last descriptor of a construct is continued by those of enclosing groups.
// GCC's programs initialise the private copies, and combine them.
#pragma once

#include "base/address.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

/// The words of a descriptor.
struct descriptor_view {
  std::uintptr_t* words;

  static constexpr std::size_t words_for(std::size_t variables) noexcept { return 7 + 3 * variables; }

  std::uintptr_t& variables() const noexcept { return words[0]; }
  std::uintptr_t& block_bytes() const noexcept { return words[1]; }
  std::uintptr_t& blocks() const noexcept { return words[2]; }  // before: their alignment
  std::uintptr_t& owner() const noexcept { return words[3]; }  // of LLVM's programs: the object that has the descriptor
  std::uintptr_t& next() const noexcept { return words[4]; }
  std::uintptr_t& is_last() const noexcept { return words[5]; }  // of its construct
  std::uintptr_t& end() const noexcept { return words[6]; }
  std::uintptr_t& address_of(std::uintptr_t variable) const noexcept { return words[words_for(variable)]; }
  std::uintptr_t& offset_of(std::uintptr_t variable) const noexcept { return words[words_for(variable) + 1]; }

  bool has_block_at(std::uintptr_t address) const noexcept { return address >= blocks() && address < end(); }
  explicit operator bool() const noexcept { return words != nullptr; }
  descriptor_view following() const noexcept { return {static_cast<std::uintptr_t*>(at_address(next()))}; }
};

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
/// have left the construct; from it come the private blocks. Null: the caller comes first, and makes them. Called once
/// by each member for each such construct.
void begin_share_reductions(std::uintptr_t* descriptor, const std::uintptr_t* of_first);

}  // namespace kith::openmp
