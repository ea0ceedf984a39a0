#include "analysis/costs.hpp"

#include "analysis/homes.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <sstream>

namespace kith::analysis {

namespace {

/// Reads "10,16/16,10". Empty if the text is not a square of numbers from 10 on.
std::vector<std::vector<int>> distances_from(const std::string& text) {
  std::vector<std::vector<int>> all;
  std::istringstream rows(text);
  for (std::string row; std::getline(rows, row, '/');) {
    std::istringstream numbers(row);
    all.emplace_back();
    for (std::string number; std::getline(numbers, number, ',');) {
      int value = 0;
      const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), value);
      if (failed != std::errc() || end != number.data() + number.size() || value < 10) return {};
      all.back().push_back(value);
    }
  }
  const bool square = std::ranges::all_of(all, [&](const auto& row) { return row.size() == all.size(); });
  return square ? all : std::vector<std::vector<int>>();
}

}  // namespace

data_costs::data_costs(const recording& r, const machine_model& m)
    : model_(m), links_(m), distances_(m.hardware.distances), source_(m.hardware.name) {
  const std::size_t nodes = nodes_of(r);
  if (distances_.size() < nodes)
    throw error(m.hardware.name + " has " + std::to_string(distances_.size()) +
                " memory nodes; the recorded run used " + std::to_string(nodes) +
                ": expected a machine with as many (kith machines)");
}

data_costs::data_costs(const recording& r) : distances_(distances_from(r.meta_or("distances", ""))) {
  if (distances_.size() < nodes_of(r)) distances_.clear();
  if (!distances_.empty()) source_ = r.meta_or("machine", "the recorded machine");
}

std::optional<double> data_costs::nanoseconds(std::size_t from, std::size_t at, std::uint64_t bytes) const {
  if (!model_) return std::nullopt;
  const node_id source(static_cast<int>(from)), here(static_cast<int>(at));
  sim::picoseconds longest =
      sim::rate(model_->core_gbs)(bytes) * static_cast<sim::picoseconds>(distances_[at][from]) / 10;
  longest = std::max(longest, sim::rate(model_->memory_gbs)(bytes));
  for (const std::uint32_t l : links_->route(source, here))
    longest = std::max(longest, links_->links[l].server.time_of(bytes));
  return static_cast<double>(longest) / 1000;
}

std::optional<int> data_costs::distance(std::size_t from, std::size_t at) const {
  if (distances_.empty()) return std::nullopt;
  return distances_[at][from];
}

data_costs costs_for(const recording& r, const std::string& machine) {
  if (!machine.empty()) return {r, model_by_name(machine)};
  const std::vector<std::string> names = model_names();
  const std::string recorded = r.meta_or("machine", "");
  if (std::ranges::find(names, recorded) != names.end()) {
    const machine_model m = model_by_name(recorded);
    if (m.hardware.nodes.size() >= nodes_of(r)) return {r, m};
  }
  return data_costs(r);
}

}  // namespace kith::analysis
