#include "engine/sim/links.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <map>

namespace kith::sim {

namespace {

constexpr std::size_t most_steps = std::size_t{1} << 26;

}  // namespace

interconnect::interconnect(const machine_model& m) : nodes_(m.hardware.nodes.size()) {
  if (m.hosts) {
    join_hosts(*m.hosts);
    return;
  }
  std::map<std::string, std::size_t> vertex;
  for (std::size_t n = 0; n < nodes_; ++n) vertex["node " + std::to_string(n)] = n;
  for (const machine_link& l : m.links) {
    vertex.try_emplace(l.from, vertex.size());
    vertex.try_emplace(l.to, vertex.size());
    links.push_back({l.from, l.to, {0, rate(l.gbs)}});
    links.push_back({l.to, l.from, {0, rate(l.gbs)}});
  }
  std::vector<std::vector<std::uint32_t>> outgoing(vertex.size());
  std::vector<std::size_t> begins, ends;  // by link: its vertices
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    begins.push_back(vertex[links[l].from]);
    ends.push_back(vertex[links[l].to]);
    outgoing[begins.back()].push_back(l);
  }
  first_.push_back(0);
  for (std::size_t from = 0; from < nodes_; ++from) {
    constexpr std::uint32_t none = 0xffffffff;
    std::vector<std::uint32_t> reached_by(vertex.size(), none);  // the link by which a vertex was reached
    std::vector<std::size_t> reached{from};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (std::uint32_t l : outgoing[reached[i]]) {
        const std::size_t to = ends[l];
        if (to == from || reached_by[to] != none) continue;
        reached_by[to] = l;
        reached.push_back(to);
      }
    }
    for (std::size_t to = 0; to < nodes_; ++to) {
      const std::size_t begin = routes_.size();
      for (std::size_t v = to; v != from; v = begins[reached_by[v]]) {
        if (reached_by[v] == none)
          throw error(m.file + ": interconnect.links: there is no way from node " + std::to_string(from) + " to node " +
                          std::to_string(to),
                      error_kind::setting);
        if (routes_.size() == most_steps)
          throw error(m.file + ": interconnect: the ways between " + std::to_string(nodes_) + " nodes have more than " +
                          std::to_string(most_steps) + " links in all; expected shorter ones",
                      error_kind::setting);
        routes_.push_back(reached_by[v]);
      }
      std::reverse(routes_.begin() + static_cast<std::ptrdiff_t>(begin), routes_.end());
      first_.push_back(static_cast<std::uint32_t>(routes_.size()));
    }
  }
}

/// Makes the links of hosts in a grid, in the order in which the description of a torus of nodes gives them.
void interconnect::join_hosts(const host_grid& h) {
  hosts_ = h.shape;
  const int hosts = h.shape.vertices();
  outgoing_.resize(static_cast<std::size_t>(hosts));
  const auto name = [](int host) { return "host " + std::to_string(host); };
  std::vector<std::size_t> known(outgoing_.size());  // by host: how many of its links have been added
  for (int a = 0; a < hosts; ++a) {
    for (const int b : h.shape.neighbours_of(a)) {
      if (b < a) continue;
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        const auto begin = static_cast<std::size_t>(from);
        outgoing_[begin][known[begin]++] = static_cast<std::uint32_t>(links.size());
        links.push_back({name(from), name(to), {0, rate(h.gbs)}});
      }
    }
  }
  const int longest = h.shape.x + h.shape.y + h.shape.z;
  found_.resize(static_cast<std::size_t>(longest));
}

std::span<const std::uint32_t> interconnect::route_in_grid(node_id from, node_id to) const noexcept {
  std::size_t steps = 0;
  for (int at = from.value; at != to.value; ++steps) {
    const int left = hosts_->hops(at, to.value);
    const grid::neighbours around = hosts_->neighbours_of(at);
    std::size_t way = 0;
    while (hosts_->hops(around[way], to.value) >= left) ++way;
    found_[steps] = outgoing_[static_cast<std::size_t>(at)][way];
    at = around[way];
  }
  return {found_.data(), steps};
}

}  // namespace kith::sim
