// The tables [distance] and [interconnect] of a machine's description: the distances of nodes, and the links
// between them.
#include "machine/grid.hpp"
#include "machine/hosts.hpp"
#include "machine/model_parts.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace kith {

namespace {

grid read_grid(model_section& s, int nodes, bool torus) {
  grid g;
  g.wraps = torus;
  if (torus) {
    g.x = static_cast<int>(s.whole("x", 1, most_nodes));
    g.y = static_cast<int>(s.whole("y", 1, most_nodes));
    g.z = static_cast<int>(s.whole("z", 1, most_nodes));
  } else {
    g.x = static_cast<int>(s.whole("width", 1, most_nodes));
    g.y = (nodes + g.x - 1) / g.x;
  }
  if (std::int64_t{g.x} * g.y * g.z != nodes) {
    const char* const key = torus ? "x" : "width";
    s.refuse(
        s.find(key), key,
        std::string(torus ? "x * y * z to be " : "a divisor of ") + std::to_string(nodes) + ", the number of nodes");
  }
  return g;
}

std::string node_name(int n) { return "node " + std::to_string(n); }

std::vector<machine_link> read_links(model_section& s) {
  const std::string expected = "[[\"node 0\", \"switch\", gigabytes a second], ...]";
  const toml::node& n = s.need("links", expected);
  std::vector<machine_link> links;
  for (const toml::node& row : s.list(n, "links", expected)) {
    const toml::array& three = s.list(row, "links", expected);
    if (three.size() != 3 || !three[0].is_string() || !three[1].is_string()) s.refuse(&row, "links", expected);
    links.push_back(
        {*three[0].value<std::string>(), *three[1].value<std::string>(), s.number(three[2], "links", 0.001, 100000)});
  }
  return links;
}

/// The links of one place, repeated for each place; places meet at the vertices `shared`.
void read_host_links(model_section& s, machine_model& m) {
  const int each = static_cast<int>(m.hardware.nodes.size()) / m.places;
  std::vector<std::string> shared;
  const std::string expected = "a list of names, such as [\"switch\"]";
  for (const toml::node& name : s.list(s.need("shared", expected), "shared", expected)) {
    if (!name.is_string()) s.refuse(&name, "shared", expected);
    shared.push_back(*name.value<std::string>());
  }
  const std::vector<machine_link> of_place = read_links(s);
  for (int p = 0; p < m.places; ++p) {
    const auto vertex = [&](const std::string& name) {
      for (int n = 0; n < each; ++n) {
        if (name == node_name(n)) return node_name(p * each + n);
      }
      return std::ranges::find(shared, name) != shared.end() ? name : name + " " + std::to_string(p);
    };
    for (const machine_link& l : of_place) m.links.push_back({vertex(l.from), vertex(l.to), l.gbs});
  }
}

constexpr int local_distance = 10, most_distance = 100000;

using distance_table = std::vector<std::vector<int>>;

/// Sets the distances of all pairs of different nodes.
void fill(distance_table& d, const auto& distance) {
  const int nodes = static_cast<int>(d.size());
  for (int a = 0; a < nodes; ++a) {
    for (int b = 0; b < nodes; ++b) {
      if (a != b) d[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = distance(a, b);
    }
  }
}

// The forms of [distance]. Each returns whether the description has it.

/// All pairs of different nodes have the same distance.
bool read_remote(model_section& s, distance_table& d) {
  const toml::node* n = s.find("remote");
  if (n == nullptr) return false;
  const int remote = static_cast<int>(s.whole(*n, "remote", local_distance, most_distance));
  fill(d, [&](int, int) { return remote; });
  return true;
}

/// All pairs of nodes within a group have the same distance; groups are nested.
bool read_groups(model_section& s, distance_table& d) {
  const toml::node* n = s.find("groups");
  if (n == nullptr) return false;
  const std::string expected = "[[nodes, distance], ...], the smallest group first, the last of all nodes";
  const int nodes = static_cast<int>(d.size());
  std::vector<std::pair<int, int>> groups;
  for (const toml::node& row : s.list(*n, "groups", expected)) {
    const toml::array& pair = s.list(row, "groups", expected);
    if (pair.size() != 2) s.refuse(&row, "groups", expected);
    groups.emplace_back(s.whole(pair[0], "groups", 1, nodes),
                        s.whole(pair[1], "groups", local_distance, most_distance));
  }
  if (groups.empty() || groups.back().first != nodes) s.refuse(n, "groups", expected);
  fill(d, [&](int a, int b) {
    for (const auto& [size, distance] : groups) {
      if (a / size == b / size) return distance;
    }
    return groups.back().second;
  });
  return true;
}

bool read_matrix(model_section& s, distance_table& d) {
  const toml::node* n = s.find("matrix");
  if (n == nullptr) return false;
  const std::string expected = std::to_string(d.size()) + " rows of as many whole numbers";
  const toml::array& rows = s.list(*n, "matrix", expected);
  if (rows.size() != d.size()) s.refuse(n, "matrix", expected);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    const toml::array& row = s.list(rows[a], "matrix", expected);
    if (row.size() != rows.size()) s.refuse(&rows[a], "matrix", expected);
    for (std::size_t b = 0; b < row.size(); ++b) {
      const auto value = static_cast<int>(s.whole(row[b], "matrix", 1, most_distance));
      if (a == b && value != local_distance) s.refuse(&row[b], "matrix", "10 on the diagonal");
      d[a][b] = value;
    }
  }
  return true;
}

/// `kind`: mesh or torus. The distance grows with the hops between two nodes.
bool read_hops(model_section& s, const char* kind, distance_table& d) {
  if (s.find(kind) == nullptr) return false;
  model_section inner = s.inner(kind);
  const grid g = read_grid(inner, static_cast<int>(d.size()), kind == std::string("torus"));
  const double base = inner.number("base", 0, most_distance), hop = inner.number("hop", 0, most_distance);
  inner.all_known();
  fill(d, [&](int a, int b) { return grid_distance(base, hop, g.hops(a, b)); });
  return true;
}

}  // namespace

int grid_distance(double base, double hop, int hops) {
  return std::max(local_distance, static_cast<int>(std::lround(base + hop * hops)));
}

void read_distance(model_section s, machine_model& m) {
  const std::size_t nodes = m.hardware.nodes.size();
  distance_table& d = m.hardware.distances;
  d.assign(nodes, std::vector<int>(nodes, local_distance));
  int given = 0;
  if (read_remote(s, d)) ++given;
  if (read_groups(s, d)) ++given;
  if (read_matrix(s, d)) ++given;
  if (read_hops(s, "mesh", d)) ++given;
  if (read_hops(s, "torus", d)) ++given;
  if (given != 1 && nodes > 1) s.refuse(nullptr, "", "one of remote, groups, matrix, mesh, torus");
  s.all_known();
}

void read_interconnect(model_section s, machine_model& m) {
  const int nodes = static_cast<int>(m.hardware.nodes.size());
  const std::string kind = s.text("kind");
  if (kind == "links") {
    m.links = read_links(s);
  } else if (kind == "hosts") {
    read_host_links(s, m);
  } else if (kind == "full" || kind == "mesh" || kind == "torus") {
    grid g;
    if (kind != "full") g = read_grid(s, nodes, kind == "torus");
    const double gbs = s.number("gbs", 0.001, 100000);
    const auto join = [&](int a, int b) {
      if (a < b) m.links.push_back({node_name(a), node_name(b), gbs});
    };
    for (int a = 0; a < nodes; ++a) {
      if (kind == "full") {
        for (int b = a + 1; b < nodes; ++b) join(a, b);
      } else {
        for (const int b : g.neighbours_of(a)) join(a, b);
      }
    }
  } else if (kind != "none") {
    s.refuse(s.find("kind"), "kind", "links, hosts, full, mesh, torus or none");
  }
  s.all_known();
}

}  // namespace kith
