// The policy `auto` in the sequential world, with tasks that initialise the blocks of arrays, for tests.
#pragma once

#include "base/address.hpp"
#include "support/auto_bench.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

class initial_bench : public auto_bench {
 public:
  explicit initial_bench(const char* machine, const std::string& policy = "auto") : auto_bench(machine, policy) {}
  /// Creates tasks of this type, each of which initialises a block.
  void create(int tasks, std::uint16_t type = 0) {
    for (int i = 0; i < tasks; ++i) initialise(region(), type);
  }
  /// The same for the blocks of an array, which begins so many blocks above address 0.
  void create_at(int first, int tasks, std::uint16_t type = 0) {
    for (int i = 0; i < tasks; ++i) {
      const auto address = static_cast<std::uintptr_t>(first + i) * bytes;
      initialise(regions.find(kith::at_address(address), bytes), type);
    }
  }
  std::vector<int> homes() const {
    std::vector<int> all;
    for (const std::uint32_t r : blocks) all.push_back(regions[r].home_node().value);
    return all;
  }
  std::vector<std::uint32_t> blocks;
  std::uint64_t bytes = megabyte;  // of a block: not one of the small ones, which are dealt before their creator waits

 private:
  void initialise(std::uint32_t block, std::uint16_t type) {
    blocks.push_back(block);
    kith::task& t = task({{block, bytes, mode::out}});
    t.type = type;
    chosen->observer()->created(t, *by[0]);
    ready(t);
  }
};

}  // namespace kith::test
