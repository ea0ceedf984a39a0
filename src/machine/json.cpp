#include "machine/machine.hpp"

#include <nlohmann/json.hpp>

namespace kith {

namespace {

nlohmann::ordered_json numbers(const std::vector<core_id>& cores) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (core_id c : cores) list.push_back(c.value);
  return list;
}

}  // namespace

std::string to_json(const machine& m) {
  nlohmann::ordered_json all{{"name", m.name}, {"pretended", m.pretended}};
  for (const machine::node& n : m.nodes) {
    all["nodes"].push_back(
        {{"id", n.id.value}, {"os_index", n.os_index}, {"memory_bytes", n.memory_bytes}, {"cores", numbers(n.cores)}});
  }
  for (const machine::core& c : m.cores) {
    all["cores"].push_back({{"id", c.id.value}, {"node", c.node.value}, {"cpus", c.cpus}, {"kind", c.core_class}});
  }
  all["caches"] = nlohmann::ordered_json::array();
  for (const machine::cache& c : m.caches) {
    all["caches"].push_back(
        {{"level", c.level}, {"bytes", c.bytes}, {"line_bytes", c.line_bytes}, {"cores", numbers(c.cores)}});
  }
  all["distances"] = m.distances;
  // A processor's name may hold any bytes: those that are not UTF-8 are replaced, not refused.
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kith
