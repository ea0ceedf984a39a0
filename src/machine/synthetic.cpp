// Makes a machine from a line of text. hwloc reads the levels; this file reads the distances between nodes.
#include "machine/topology.hpp"

#include "machine/limits.hpp"
#include "machine/text.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cctype>

namespace kith {

namespace {

[[noreturn]] void refuse(std::string_view line, const std::string& why, const std::string& expected) {
  throw error("synthetic machine '" + std::string(line) + "': " + why + "; expected " + expected, error_kind::setting);
}

const std::string levels_expected =
    "levels from large to small, such as 'node:8 core:10' or 'pack:2 node:2 core:8 pu:2 distance:21'; or a name that "
    "`kith machines` lists, or a file: a description (.toml) or what hwloc exported (.xml)";
const std::string distances_expected =
    "'distance:21' for all, or a row for each node, such as 'distance:10,16/16,10' for two";

/// Splits the line into words. Spaces inside (...) and [...] do not separate words; the end of such a bracket does.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  int depth = 0;
  for (char c : line) {
    depth += (c == '(' || c == '[') ? 1 : (c == ')' || c == ']') ? -1 : 0;
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0 && depth == 0;
    if (!space) words.back() += c;
    if ((space || ((c == ')' || c == ']') && depth == 0)) && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// hwloc's time grows at least with the square of a level; at these limits it takes seconds.
constexpr std::int64_t most_in_level = 1024;
constexpr std::int64_t most_threads = most_workers;

/// The count of a level. hwloc would also accept "0x10", "010" (as 8) and "2core:3"; these are refused as mistakes.
std::int64_t count_of(std::string_view line, const std::string& level) {
  const std::string word = level.substr(0, level.find('('));
  const std::string count = word.substr(word.find(':') + 1);  // no ':': the whole word is the count
  const std::optional<std::int64_t> value = text::number(count);
  if (!value || *value < 1 || count.front() == '0')
    refuse(line, "'" + level + "' has no positive decimal count", levels_expected);
  if (*value > most_in_level)
    refuse(line, "'" + level + "' is more than " + std::to_string(most_in_level) + " in a level", levels_expected);
  return *value;
}

/// Refuses large machines, because hwloc would build one of any size, and that cannot be stopped.
void check_size(std::string_view line, const std::vector<std::string>& levels) {
  std::int64_t product = 1;
  for (const std::string& level : levels) {
    if (level.front() == '[') continue;
    product *= count_of(line, level);
    if (product > most_threads)
      refuse(line, "more than " + std::to_string(most_threads) + " hardware threads", levels_expected);
  }
}

/// A core must have one node; refuses nodes that split a core.
void check_order(std::string_view line, const topology& t) {
  for (hwloc_obj_t n = nullptr; (n = hwloc_get_next_obj_by_type(t.get(), HWLOC_OBJ_NUMANODE, n)) != nullptr;) {
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t.get(), HWLOC_OBJ_CORE, n);
    if (core != nullptr && hwloc_bitmap_isincluded(core->cpuset, n->cpuset) == 0)
      refuse(line, "memory nodes inside a core", levels_expected);
  }
}

std::vector<std::vector<int>> distances_of(std::string_view line, const std::string& word, std::size_t nodes) {
  const std::string values = word.substr(word.find(':') + 1);
  const auto value_of = [&](const std::string& entry) {
    const std::optional<std::int64_t> value = text::number(entry);
    if (!value || *value < 10 || *value > 1'000'000)
      refuse(line, "the distance '" + entry + "' is not a number from 10 (a node's own memory) to 1000000",
             distances_expected);
    return static_cast<int>(*value);
  };
  std::vector<std::vector<int>> table;
  if (values.find_first_of(",/") == std::string::npos) {
    table.assign(nodes, std::vector<int>(nodes, value_of(values)));
    for (std::size_t n = 0; n < nodes; ++n) table[n][n] = 10;
    return table;
  }
  for (const std::string& row : text::split(values, '/')) {
    table.emplace_back();
    for (const std::string& entry : text::split(row, ',')) table.back().push_back(value_of(entry));
    if (table.back().size() != nodes) {
      refuse(line,
             "row " + std::to_string(table.size()) + " of the distances has " + std::to_string(table.back().size()) +
                 " entries for " + std::to_string(nodes) + " nodes",
             distances_expected);
    }
    if (table.size() <= nodes && table.back()[table.size() - 1] != 10) {
      refuse(line, "row " + std::to_string(table.size()) + " of the distances: the distance of a node to itself is 10",
             distances_expected);
    }
  }
  if (table.size() != nodes) {
    refuse(line, std::to_string(table.size()) + " rows of distances for " + std::to_string(nodes) + " nodes",
           distances_expected);
  }
  return table;
}

}  // namespace

machine synthetic_machine(std::string_view line) {
  std::vector<std::string> levels = words_of(line);
  std::string distance;
  std::erase_if(levels, [&](const std::string& w) {
    if (!w.starts_with("distance:")) return false;
    if (!distance.empty()) refuse(line, "two words 'distance:'", distances_expected);
    distance = w;
    return true;
  });
  std::string innermost;
  std::string description;
  for (const std::string& level : levels) {
    description += (description.empty() ? "" : " ") + level;
    if (level.front() != '[') innermost = level;
  }
  if (innermost.empty()) refuse(line, "no level", levels_expected);
  check_size(line, levels);
  // hwloc requires hardware threads as the innermost level; a line without them means one for each core.
  const bool named = std::isalpha(static_cast<unsigned char>(innermost.front())) != 0;
  if (named && !innermost.starts_with("pu:") && !innermost.starts_with("PU:")) description += " pu:1";

  const topology t = new_topology();
  if (hwloc_topology_set_synthetic(t.get(), description.c_str()) != 0)
    refuse(line, "hwloc does not understand it", levels_expected);
  load(t, "synthetic machine '" + std::string(line) + "'");
  check_order(line, t);
  machine made = machine_of(t);
  if (!distance.empty()) made.distances = distances_of(line, distance, made.nodes.size());
  made.name = line;
  made.pretended = true;
  return made;
}

}  // namespace kith
