// The tables [distance] and [interconnect] of a machine's description: how far nodes are apart, and the links between
// them.
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

/// The links of one place, which each has; places meet at the vertices `shared`.
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

}  // namespace

int grid_distance(double base, double hop, int hops) {
  return std::max(10, static_cast<int>(std::lround(base + hop * hops)));
}

void read_distance(model_section s, machine_model& m) {
  constexpr int local = 10;
  const int nodes = static_cast<int>(m.hardware.nodes.size());
  std::vector<std::vector<int>>& d = m.hardware.distances;
  d.assign(static_cast<std::size_t>(nodes), std::vector<int>(static_cast<std::size_t>(nodes), local));
  const auto fill = [&](const auto& distance) {
    for (int a = 0; a < nodes; ++a) {
      for (int b = 0; b < nodes; ++b) {
        if (a != b) d[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = distance(a, b);
      }
    }
  };
  int given = 0;
  if (const toml::node* n = s.find("remote")) {
    const int remote = static_cast<int>(s.whole(*n, "remote", local, 100000));
    fill([&](int, int) { return remote; });
    ++given;
  }
  if (const toml::node* n = s.find("groups")) {
    const std::string expected = "[[nodes, distance], ...], the smallest group first, the last of all nodes";
    std::vector<std::pair<int, int>> groups;
    for (const toml::node& row : s.list(*n, "groups", expected)) {
      const toml::array& pair = s.list(row, "groups", expected);
      if (pair.size() != 2) s.refuse(&row, "groups", expected);
      groups.emplace_back(s.whole(pair[0], "groups", 1, nodes), s.whole(pair[1], "groups", local, 100000));
    }
    if (groups.empty() || groups.back().first != nodes) s.refuse(n, "groups", expected);
    fill([&](int a, int b) {
      for (const auto& [size, distance] : groups) {
        if (a / size == b / size) return distance;
      }
      return groups.back().second;
    });
    ++given;
  }
  if (const toml::node* n = s.find("matrix")) {
    const std::string expected = std::to_string(nodes) + " rows of as many whole numbers";
    const toml::array& rows = s.list(*n, "matrix", expected);
    if (rows.size() != static_cast<std::size_t>(nodes)) s.refuse(n, "matrix", expected);
    for (std::size_t a = 0; a < rows.size(); ++a) {
      const toml::array& row = s.list(rows[a], "matrix", expected);
      if (row.size() != rows.size()) s.refuse(&rows[a], "matrix", expected);
      for (std::size_t b = 0; b < row.size(); ++b) {
        const auto value = static_cast<int>(s.whole(row[b], "matrix", 1, 100000));
        if (a == b && value != local) s.refuse(&row[b], "matrix", "10 on the diagonal");
        d[a][b] = value;
      }
    }
    ++given;
  }
  for (const char* kind : {"mesh", "torus"}) {
    const toml::node* n = s.find(kind);
    if (n == nullptr) continue;
    model_section inner = s.inner(kind);
    const grid g = read_grid(inner, nodes, kind == std::string("torus"));
    const double base = inner.number("base", 0, 100000), hop = inner.number("hop", 0, 100000);
    inner.all_known();
    fill([&](int a, int b) { return grid_distance(base, hop, g.hops(a, b)); });
    ++given;
  }
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
