#include "machine/hosts.hpp"

#include <kith/error.hpp>

#include <functional>

namespace kith {

namespace {

using refusal = std::function<void(const std::string&)>;  // throws

/// Hosts whose links meet at switches.
void size_switched(int places, toml::table& root, const refusal& refuse) {
  toml::table *const cores = root["cores"].as_table(), *const distance = root["distance"].as_table();
  auto* const nodes = cores->get_as<std::int64_t>("nodes");
  auto* const given = cores->get_as<std::int64_t>("places");
  toml::array* const groups = distance->get_as<toml::array>("groups");
  if (groups == nullptr || groups->empty()) refuse("expected distance.groups");
  toml::array* const last = groups->back().as_array();
  auto* const size = last == nullptr || last->empty() ? nullptr : last->front().as_integer();
  if (size == nullptr || size->get() != nodes->get()) refuse("expected the last of distance.groups to have all nodes");
  const std::int64_t all = nodes->get() / given->get() * places;
  if (all > most_nodes)
    refuse("it has up to " + std::to_string(most_nodes) + " nodes; a torus, as bluegene-p, has up to " +
           std::to_string(most_hosts));
  nodes->get() = all;
  given->get() = places;
  size->get() = all;
}

void size_torus(const grid& to, toml::table& table) {
  table.insert_or_assign("x", std::int64_t{to.x});
  table.insert_or_assign("y", std::int64_t{to.y});
  table.insert_or_assign("z", std::int64_t{to.z});
}

/// Hosts of one node each, which are the nodes of a torus.
std::optional<host_grid> size_torus_of_hosts(int places, toml::table& root, const refusal& refuse) {
  toml::table& cores = *root["cores"].as_table();
  toml::table& links = *root["interconnect"].as_table();
  toml::table* const distance = root["distance"]["torus"].as_table();
  auto* const nodes = cores.get_as<std::int64_t>("nodes");
  auto* const given = cores.get_as<std::int64_t>("places");
  if (nodes->get() != given->get() || distance == nullptr)
    refuse("expected a torus of hosts with one node each (cores.places = cores.nodes), and distance.torus");
  if (places > most_hosts) refuse("it has up to " + std::to_string(most_hosts) + " hosts");
  std::optional<host_grid> hosts;
  if (places > most_nodes) {
    // The next reader of the table refuses a missing key.
    hosts = {torus_of(places), (*distance)["base"].value_or(0.0), (*distance)["hop"].value_or(0.0),
             links["gbs"].value_or(0.0)};
  }
  const int written = hosts ? 1 : places;
  nodes->get() = given->get() = written;
  size_torus(torus_of(written), *distance);
  size_torus(torus_of(written), links);
  return hosts;
}

}  // namespace

grid torus_of(int vertices) {
  grid best{vertices, 1, 1, true};
  for (int z = 1; z * z * z <= vertices; ++z) {
    if (vertices % z != 0) continue;
    const int left = vertices / z;
    for (int y = z; y * y <= left; ++y) {
      if (left % y == 0 && left / y + y + z < best.x + best.y + best.z) best = {left / y, y, z, true};
    }
  }
  return best;
}

std::optional<host_grid> size_to(int places, toml::table& root, const std::string& path) {
  const toml::table* const cores = root["cores"].as_table();
  const refusal refuse = [&](const std::string& why) {
    throw error(path + ": cannot be sized to " + std::to_string(places) + " hosts: " + why, error_kind::setting);
  };
  const auto kind = root["interconnect"]["kind"].value<std::string>();
  if ((kind != "hosts" && kind != "torus") || cores == nullptr || !root["distance"].is_table())
    refuse(
        "expected a cluster of equal hosts (interconnect.kind = \"hosts\"), as xeon-5504-cluster, or a torus of "
        "hosts, as bluegene-p");
  const auto* const nodes = cores->get_as<std::int64_t>("nodes");
  const auto* const given = cores->get_as<std::int64_t>("places");
  if (nodes == nullptr || given == nullptr || given->get() < 1 || nodes->get() % given->get() != 0 ||
      cores->contains("speeds") || (*cores)["per_node"].is_array())
    refuse("expected whole numbers cores.nodes and cores.places, and nodes that are all alike");
  if (kind == "torus") return size_torus_of_hosts(places, root, refuse);
  size_switched(places, root, refuse);
  return {};
}

}  // namespace kith
