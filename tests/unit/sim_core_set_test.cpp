// Sets of cores, compared with the standard library's.
#include "engine/sim/core_set.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <set>
#include <vector>

namespace {

using namespace kith;

TEST(core_sets, are_sets_by_line_beside_notes) {
  for (const std::size_t cores : {1u, 64u, 65u, 200u, 256u}) {
    for (const std::size_t notes : {0u, 1u}) {
      constexpr std::size_t lines = 5;
      sim::core_sets fast(lines, cores, notes);
      std::vector<std::set<std::size_t>> slow(lines);
      rng draw(11, purpose::test, 0);
      for (std::uint32_t i = 0; i < 3000; ++i) {
        const std::size_t line = draw.below(lines), core = draw.below(static_cast<std::uint32_t>(cores));
        if (draw.below(3) != 0) {
          fast.add(line, core);
          slow[line].insert(core);
        } else {
          fast.remove(line, core);
          slow[line].erase(core);
        }
        if (draw.below(50) == 0) {
          fast.clear(line);
          slow[line].clear();
        }
        if (notes != 0) fast.note(line) = line + 7;
        ASSERT_EQ(fast.has(line, core), slow[line].contains(core));
        ASSERT_EQ(fast.none(line), slow[line].empty());
        ASSERT_EQ(fast.only(line, core), slow[line] == std::set{core});
        std::vector<std::size_t> all;
        fast.cores_of(line).each([&](std::size_t c) { all.push_back(c); });
        ASSERT_EQ(all, std::vector<std::size_t>(slow[line].begin(), slow[line].end()));
        if (notes != 0) {
          ASSERT_EQ(fast.note(line), line + 7);
        }
      }
      fast.clear();
      for (std::size_t l = 0; l < lines; ++l) ASSERT_TRUE(fast.none(l));
    }
  }
}

}  // namespace
