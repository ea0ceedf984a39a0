#include "engine/sim/records.hpp"

#include "engine/sim/program.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>

namespace kith::sim {

std::vector<task_record> records_of(const program& p) {
  const std::uint64_t most = std::max({p.recorded.accesses.size(), p.recorded.dependences.size(), p.actions.size()});
  if (most > std::numeric_limits<std::uint32_t>::max() - 1)
    throw error("the program has " + std::to_string(most) +
                " accesses, dependences or actions; up to 2^32 - 2 can be "
                "simulated");
  std::vector<task_record> all;
  all.reserve(p.tasks());
  const auto at = [](std::uint64_t i) { return static_cast<std::uint32_t>(i); };
  for (std::size_t i = 0; i < p.tasks(); ++i) {
    const recorded_task& t = p.recorded.tasks[i];
    all.push_back({.first_access = at(p.recorded.first_access[i]),
                   .end_access = at(p.recorded.first_access[i + 1]),
                   .first_dependence = at(p.recorded.first_dependence[i]),
                   .end_dependence = at(p.recorded.first_dependence[i + 1]),
                   .first_action = at(p.first_action[i]),
                   .end_action = at(p.first_action[i + 1]),
                   .bytes = p.bytes[i],
                   .scope = t.scope,
                   .color = std::max(t.color, -1),
                   .node = t.node,
                   .type = t.type,
                   .flags = t.of_data_flow() ? static_cast<std::uint8_t>(t.flags & ~recorded_task::generated) : t.flags,
                   .priority = t.priority,
                   .names = p.first_named[i] != p.first_named[i + 1],
                   .exclusive = p.exclusive[i] != 0,
                   .continues = t.continues() && !p.recorded.places.empty(),
                   .flow = t.of_data_flow()});
  }
  return all;
}

}  // namespace kith::sim
