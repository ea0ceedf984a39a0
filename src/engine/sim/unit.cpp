#include "engine/sim/unit.hpp"

#include "engine/sim/line_streams.hpp"
#include "engine/sim/links.hpp"
#include "engine/sim/simulation.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::sim {

unit::unit(const machine_model& m, const hardware_queues& asked, const model_parts& parts) : machine_(m) {
  if (!m.unit.present)
    throw error("machine " + m.hardware.name +
                    " has no scheduling unit; expected a machine with a table [scheduling_unit], as cmp-32 has "
                    "(docs/machines.md)",
                error_kind::setting);
  const double cycle = 1000 / m.ghz;
  const auto time_of = [&](double cycles) { return static_cast<picoseconds>(cycles * cycle); };
  each_ = parts.scheduling ? time_of(asked.cycles ? *asked.cycles : m.unit.cycles) : 0;
  interval_ = parts.scheduling && asked.interval ? time_of(*asked.interval) : each_;
  buffered_ = asked.prefetch ? *asked.prefetch : static_cast<std::size_t>(m.unit.prefetch);
  entries_ = asked.entries.value_or(0);
  if (entries_ != 0) {
    if (!m.line.present)
      throw error(
          "machine " + m.hardware.name +
              " does not say how long memory takes, where tasks go that its scheduling unit has no entries for; "
              "expected a table [line] with memory_cycles (docs/machines.md)",
          error_kind::setting);
    memory_ = parts.scheduling ? time_of(m.line.memory_cycles) : 0;
    line_tasks_ = std::max<std::size_t>(1, line_bytes / static_cast<std::size_t>(std::max(1, m.unit.descriptor_bytes)));
  }
  const interconnect links(m);
  const bool far = parts.scheduling && parts.latency;
  for (const machine::node& n : m.hardware.nodes) {
    const auto hops = static_cast<double>(links.route(n.id, m.unit.node).size());
    travel_.push_back(far ? time_of(hops * m.unit.hop_cycles) : 0);
  }
}

}  // namespace kith::sim
