// All allocations of this process, and who wants to know when memory is given back.
//
// One table, because addresses are the process's: an allocation may outlive its runtime, and be used by another. Any
// thread; one lock, off every task's path. Node numbers mean something within a *space*: space 0 is this machine, each
// runtime on a pretended machine has one of its own.
#pragma once

#include "memory/placement.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kith {

struct memory_block {
  placement at;
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

  /// Descriptions stay readable for good: a late look at memory that was given back reads stale values.
  const memory_block& add(memory_block b);
  /// The block that the address is in; null: none.
  const memory_block* find(const void* address);
  /// Takes out the block that begins there. None: there is no such block.
  std::optional<memory_block> remove(const void* begin);

  void add_listener(memory_listener& l);
  /// When this returns, the listener is not being called, and will not be.
  void remove_listener(memory_listener& l);
  void tell(const void* begin, std::uint64_t bytes, const memory_block* block);

 private:
  std::mutex guard_;  // of the blocks
  std::map<std::uintptr_t, std::unique_ptr<memory_block>> blocks_;
  std::vector<std::unique_ptr<memory_block>> spare_;
  std::mutex telling_;  // of the listeners; held while they are called
  std::vector<memory_listener*> listeners_;
};

}  // namespace kith
