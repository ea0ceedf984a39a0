#include "recording/merge_machines.hpp"

#include "recording/merge.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace kith {

namespace {

std::vector<std::vector<std::string>> matrix_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, '/');) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

}  // namespace

std::vector<std::int16_t> merge_machines(std::span<const place_part> parts, recording& out) {
  std::map<std::string, std::pair<std::int16_t, std::int16_t>> hosts;  // first node, nodes
  std::vector<std::vector<std::string>> near;                          // the rows of all machines
  std::vector<std::pair<std::size_t, std::size_t>> span;               // of each row: its machine's first node, and end
  std::int64_t nodes = 0;
  std::string worker_nodes;
  std::vector<std::int16_t> first_nodes;
  bool known = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const recording& r = parts[i].recorded;
    const auto mine = std::clamp<std::int64_t>(r.meta_number("nodes", 1), 1, 1024);
    const auto [host, fresh] = hosts.try_emplace(parts[i].host, static_cast<std::int16_t>(nodes), mine);
    if (fresh) {
      if (nodes + mine > 1024) throw error("the places' machines have more than 1024 memory nodes in all");
      const std::vector<std::vector<std::string>> rows = matrix_of(r.meta_or("distances", ""));
      known = known && std::cmp_equal(rows.size(), mine);
      for (const std::vector<std::string>& row : rows) {
        near.push_back(row);
        span.emplace_back(nodes, nodes + mine);
      }
      nodes += mine;
    }
    first_nodes.push_back(host->second.first);
    recorded_place& to = out.places[parts[i].number];
    to.first_node = host->second.first;
    to.nodes = host->second.second;
    for (std::uint32_t w = to.first_worker; w < to.first_worker + to.workers; ++w) {
      out.worker_node[w] = static_cast<std::int16_t>(out.worker_node[w] + to.first_node);
      worker_nodes += (worker_nodes.empty() ? "" : " ") + std::to_string(out.worker_node[w]);
    }
  }
  out.meta["worker_nodes"] = worker_nodes;
  out.meta["nodes"] = std::to_string(nodes);
  if (hosts.size() == 1) return first_nodes;
  out.meta["machine"] += " and others, " + std::to_string(hosts.size()) + " machines";
  std::string distances;
  for (std::size_t row = 0; known && row < near.size(); ++row) {
    distances += row == 0 ? "" : "/";
    for (std::size_t to = 0; to < near.size(); ++to) {
      const bool here = to >= span[row].first && to < span[row].second && to - span[row].first < near[row].size();
      distances +=
          (to == 0 ? "" : ",") + (here ? near[row][to - span[row].first] : std::to_string(distance_of_machines));
    }
  }
  out.meta["distances"] = distances;
  return first_nodes;
}

}  // namespace kith
