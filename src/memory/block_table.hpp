// All allocations of this process, and the listeners that are called when memory is given back.
//
// There is one table, because addresses are shared by the whole process: an allocation may outlive its runtime
// and be used by another. Thread-safe; one lock, which is on no task's path. Node numbers are valid within a
// *space*: space 0 is this machine, and each runtime on a pretended machine has its own space.
#pragma once

#include "memory/page_map.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace kith {

struct memory_block {
  const page_map* at = nullptr;               // never destroyed
  distribution asked = distribution::system;  // the requested distribution; `at.what` is the one in effect
  std::uint64_t space = 0;                    // the space of `at.nodes`
  std::uint64_t owner = 0;                    // the runtime that allocated it; 0: none
};

/// Called for memory that is given back.
class memory_listener {
 public:
  /// `block` is what was released; null if the memory is not Kith's.
  virtual void forget(const void* begin, std::uint64_t bytes, const memory_block* block) = 0;

 protected:
  ~memory_listener() = default;
};

class block_table {
 public:
  /// The table of the process; never destroyed.
  static block_table& of_process();

  /// Placements never change and are never destroyed, because workers read them without a lock, perhaps after
  /// the memory was given back and allocated again. Allocations that are placed alike share a map of pages, so
  /// repeated allocations of the same sizes do not add more.
  memory_block add(page_map p, distribution asked, std::uint64_t space, std::uint64_t owner);
  /// The block that contains the address.
  std::optional<memory_block> find(const void* address);
  /// Removes and returns the block that begins there; none if there is no such block.
  std::optional<memory_block> remove(const void* begin);

  void add_listener(memory_listener& l);
  /// After this returns, no thread calls the listener.
  void remove_listener(memory_listener& l);
  void tell(const void* begin, std::uint64_t bytes, const memory_block* block);

 private:
  std::mutex guard_;  // guards the blocks
  std::map<std::uintptr_t, memory_block> blocks_;
  std::set<page_map> page_maps_;  // of all blocks ever made
  std::mutex telling_;            // guards the listeners; held while they are called
  std::vector<memory_listener*> listeners_;
};

}  // namespace kith
