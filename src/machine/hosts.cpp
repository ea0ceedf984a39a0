#include "machine/hosts.hpp"

#include <kith/error.hpp>

namespace kith {

void size_to(int places, toml::table& root, const std::string& path) {
  toml::table *const cores = root["cores"].as_table(), *const distance = root["distance"].as_table();
  const auto refuse = [&](const std::string& why) {
    throw error(path + ": cannot be sized to " + std::to_string(places) + " hosts: " + why, error_kind::setting);
  };
  if (root["interconnect"]["kind"].value<std::string>() != "hosts" || cores == nullptr || distance == nullptr)
    refuse("expected a cluster of equal hosts (interconnect.kind = \"hosts\"), as xeon-5504-cluster");
  auto* const nodes = cores->get_as<std::int64_t>("nodes");
  auto* const given = cores->get_as<std::int64_t>("places");
  toml::array* const groups = distance->get_as<toml::array>("groups");
  if (nodes == nullptr || given == nullptr || groups == nullptr || groups->empty() || given->get() < 1 ||
      nodes->get() % given->get() != 0 || cores->contains("speeds") || (*cores)["per_node"].is_array())
    refuse("expected whole numbers cores.nodes and cores.places, nodes that are all alike, and distance.groups");
  toml::array* const last = groups->back().as_array();
  auto* const size = last == nullptr || last->empty() ? nullptr : last->front().as_integer();
  if (size == nullptr || size->get() != nodes->get()) refuse("expected the last of distance.groups to have all nodes");
  const std::int64_t all = nodes->get() / given->get() * places;
  if (all > most_nodes) refuse("it has up to " + std::to_string(most_nodes) + " nodes");
  nodes->get() = all;
  given->get() = places;
  size->get() = all;
}

}  // namespace kith
