// The tables [scheduling_unit], [line] and [energy] of a machine's description: parts of chips that are modelled line
// by line.
#include "machine/model_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

namespace kith {

namespace {

line_costs::cache read_line_cache(model_section& s, const std::string& level, std::int64_t line) {
  line_costs::cache c;
  const std::int64_t bytes = s.whole(level + "_bytes", line, std::int64_t{1} << 30);
  c.ways = static_cast<std::uint32_t>(s.whole(level + "_ways", 1, 64));
  c.cycles = s.number(level + "_cycles", 0, 1e6);
  c.bytes = static_cast<std::uint64_t>(bytes);
  const std::uint64_t way = c.bytes / c.ways;
  if (way * c.ways != c.bytes || way < static_cast<std::uint64_t>(line) || way > 1 << 20 || !std::has_single_bit(way))
    s.refuse(s.find(level + "_bytes"), level + "_bytes",
             level + "_ways (" + std::to_string(c.ways) + ") times a power of two from " + std::to_string(line) +
                 " to 1048576, as " +
                 std::to_string(c.ways * std::clamp<std::uint64_t>(std::bit_floor(way), line, 1 << 20)));
  return c;
}

}  // namespace

void read_unit(model_section s, machine_model& m) {
  m.unit.present = true;
  m.unit.cycles = s.number("cycles", 0, 1e6);
  m.unit.node = node_id(static_cast<int>(s.whole("node", 0, static_cast<std::int64_t>(m.hardware.nodes.size()) - 1)));
  m.unit.hop_cycles = s.number("hop_cycles", 0, 1e6);
  m.unit.prefetch = static_cast<int>(s.whole("prefetch", 0, most_prefetched));
  m.unit.message_bytes = static_cast<int>(s.whole("message_bytes", 0, 1 << 20));
  m.unit.descriptor_bytes = static_cast<int>(s.whole("descriptor_bytes", 0, 1 << 20));
  s.all_known();
}

void read_line(model_section s, line_costs& l) {
  l.present = true;
  if (s.find("first_line_bytes") != nullptr) {
    l.first_line_bytes = static_cast<int>(s.whole("first_line_bytes", 8, 64));
    if (!std::has_single_bit(static_cast<unsigned>(l.first_line_bytes)))
      s.refuse(s.find("first_line_bytes"), "first_line_bytes", "8, 16, 32 or 64");
  }
  l.first = read_line_cache(s, "first", l.first_line_bytes);
  l.second = read_line_cache(s, "second", 64);
  if (l.first.bytes > l.second.bytes)
    s.refuse(s.find("first_bytes"), "first_bytes",
             "at most second_bytes (" + std::to_string(l.second.bytes) + "): L2 holds what L1 holds");
  l.memory_cycles = s.number("memory_cycles", 0, 1e6);
  l.hop_cycles = s.number("hop_cycles", 0, 1e6);
  l.flit_bytes = static_cast<int>(s.whole("flit_bytes", 1, 1 << 20));
  l.control_bytes = static_cast<int>(s.whole("control_bytes", 1, 1 << 20));
  l.data_bytes = static_cast<int>(s.whole("data_bytes", 64, 1 << 20));
  l.access_cycles = s.number("access_cycles", 0, 1e6);
  if (s.find("instruction_cycles") != nullptr) l.instruction_cycles = s.number("instruction_cycles", 0, 1e6);
  l.homes = s.find("home_cycles") != nullptr;
  if (l.homes) {
    l.home_cycles = s.number("home_cycles", 0, 1e6);
    const std::string copies = s.text("home_copies");
    if (copies != "updated" && copies != "dropped" && copies != "first-level")
      s.refuse(s.find("home_copies"), "home_copies", "updated, dropped or first-level");
    l.copies = copies == "updated"   ? home_copies::updated
               : copies == "dropped" ? home_copies::dropped
                                     : home_copies::first_level;
  }
  if (!l.homes && l.first_line_bytes != 64)
    s.refuse(s.find("first_line_bytes"), "first_line_bytes", "64, unless there are home caches (home_cycles)");
  s.all_known();
}

void read_energies(model_section s, event_energies& e) {
  e.flit_bytes = static_cast<int>(s.whole("flit_bytes", 1, 1 << 20));
  e.flit_hop = s.number("flit_hop", 0, 1e9);
  for (const auto& [key, value] : {std::pair{"first_access", &e.first_access},
                                   {"second_access", &e.second_access},
                                   {"directory_access", &e.directory_access},
                                   {"memory_access", &e.memory_access},
                                   {"unit_operation", &e.unit_operation}}) {
    if (const toml::node* given = s.find(key)) *value = s.number(*given, key, 0, 1e9);
  }
  s.all_known();
}

}  // namespace kith
