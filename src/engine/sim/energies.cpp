#include "engine/sim/energies.hpp"

namespace kith::sim {

std::string missing_energies(const machine_model& m, bool in_unit) {
  const event_energies& e = m.energies;
  std::string missing;
  const auto need = [&](bool there, const char* key) {
    if (!there) missing += std::string(missing.empty() ? "" : ", ") + "energy." + key;
  };
  need(e.flit_bytes != 0, "flit_hop");
  need(e.first_access.has_value(), "first_access");
  need(e.second_access.has_value(), "second_access");
  need(e.directory_access.has_value() || m.line.homes, "directory_access");
  need(e.memory_access.has_value(), "memory_access");
  need(e.unit_operation.has_value() || !in_unit, "unit_operation");
  return missing;
}

std::optional<part_energies> energies_of(const line_counts& n, double network, std::uint64_t operations,
                                         const machine_model& m, bool in_unit) {
  if (!missing_energies(m, in_unit).empty()) return std::nullopt;
  const event_energies& e = m.energies;
  const auto all = [](std::uint64_t events, double picojoules) {
    return static_cast<double>(events) * picojoules / 1000;
  };
  std::uint64_t second = n.first_misses + n.second_misses + n.written_back;
  second += m.line.homes ? n.upgrades : n.from_cores;
  return part_energies{
      .first = all(n.touches, *e.first_access),
      .second = all(second, *e.second_access),
      .directory = m.line.homes ? 0 : all(n.second_misses + n.upgrades + n.written_back, *e.directory_access),
      .memory = all(n.from_memory + n.written_back, *e.memory_access),
      .network = network,
      .unit = in_unit ? all(operations, *e.unit_operation) : 0};
}

}  // namespace kith::sim
