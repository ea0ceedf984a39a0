// What a team says of its workers' last-level caches.
#include "policy/contract/team.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <vector>

namespace {

using testing::ElementsAre;

TEST(team, knows_a_cache_of_a_worker_that_may_be_anywhere_on_its_node_if_there_is_only_one) {
  const auto caches = [](const char* line, bool stay) {
    const kith::machine m = kith::synthetic_machine(line);
    std::vector<kith::node_id> nodes;
    std::vector<kith::core_id> cores;
    for (const kith::machine::core& c : m.cores) {
      nodes.push_back(c.node);
      if (stay) cores.push_back(c.id);
    }
    const kith::team t(m, nodes, cores);
    std::vector<int> found;
    for (int w = 0; w < t.size(); ++w) {
      const int c = t.cache_of(kith::worker_id(w));
      found.push_back(c < 0 ? c : m.caches[static_cast<std::size_t>(c)].cores.front().value);
    }
    return found;
  };
  EXPECT_THAT(caches("l3:2 l2:2 core:1", true), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(caches("l3:2 l2:2 core:1", false), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(caches("node:2 l3:1 core:2", false), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(caches("core:2", true), ElementsAre(-1, -1));
}

}  // namespace
