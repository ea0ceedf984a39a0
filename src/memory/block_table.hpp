// All allocations of this process, and who wants to know when memory is given back.
//
// One table, because addresses are the process's: an allocation may outlive its runtime, and be used by another. Any
// thread; one lock, off every task's path. Node numbers mean something within a *space*: space 0 is this machine, each
// runtime on a pretended machine has one of its own.
#pragma once

#include "memory/placement.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace kith {

struct memory_block {
  const placement* at = nullptr;              // stays for good
  distribution asked = distribution::system;  // for; `at.what` is what became of it
  std::uint64_t space = 0;                    // that `at.nodes` belong to
  std::uint64_t owner = 0;                    // the runtime that gave it out; 0: none
};

/// Told about memory that is given back.
class memory_listener {
 public:
  /// `block`: what was released; null if the memory is not Kith's.
  virtual void forget(const void* begin, std::uint64_t bytes, const memory_block* block) = 0;

 protected:
  ~memory_listener() = default;
};

class block_table {
 public:
  /// The process's; lives until its end.
  static block_table& of_process();

  /// Placements stay, unchanged, for good: workers look at them without a lock, and may do so after the memory was given back
  /// and out again. An allocation that is placed as one before it was shares its placement, so that a program that gives out
  /// and takes back the same sizes keeps no more of them.
  memory_block add(placement p, distribution asked, std::uint64_t space, std::uint64_t owner);
  /// The block that the address is in.
  std::optional<memory_block> find(const void* address);
  /// Takes out the block that begins there. None: there is no such block.
  std::optional<memory_block> remove(const void* begin);

  void add_listener(memory_listener& l);
  /// When this returns, the listener is not being called, and will not be.
  void remove_listener(memory_listener& l);
  void tell(const void* begin, std::uint64_t bytes, const memory_block* block);

 private:
  std::mutex guard_;  // of the blocks
  std::map<std::uintptr_t, memory_block> blocks_;
  std::set<placement> placements_;  // of all blocks there ever were
  std::mutex telling_;              // of the listeners; held while they are called
  std::vector<memory_listener*> listeners_;
};

}  // namespace kith
