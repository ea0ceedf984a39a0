// Reading machines/*.toml.
#include "machine/model.hpp"

#include "base/environment.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "machine/hosts.hpp"
#include "machine/limits.hpp"
#include "machine/model_parts.hpp"
#include "machine/toml_text.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <system_error>
#include <utility>

namespace kith {

namespace {

void read_cores(model_section s, machine_model& m) {
  const std::int64_t nodes = s.whole("nodes", 1, most_nodes);
  std::vector<std::int64_t> cores(static_cast<std::size_t>(nodes));
  const toml::node& per = s.need("per_node", "a number, or one for each node");
  if (per.is_array()) {
    const toml::array& all = *per.as_array();
    if (all.size() != cores.size()) s.refuse(&per, "per_node", std::to_string(nodes) + " numbers, one for each node");
    for (std::size_t n = 0; n < cores.size(); ++n) cores[n] = s.whole(all[n], "per_node", 0, most_workers);
  } else {
    std::ranges::fill(cores, s.whole(per, "per_node", 1, most_workers));
  }
  const std::int64_t all_cores = std::accumulate(cores.begin(), cores.end(), std::int64_t{0});
  if (all_cores < 1 || all_cores > most_workers)
    s.refuse(&per, "per_node", "1 to " + std::to_string(most_workers) + " cores in all");
  m.ghz = s.number("ghz", 0.01, 100);
  m.speeds.assign(static_cast<std::size_t>(all_cores), 1);
  if (const toml::node* given = s.find("speeds")) {
    const toml::array& all = s.list(*given, "speeds", "a list of numbers");
    if (all.size() != m.speeds.size()) s.refuse(given, "speeds", std::to_string(all_cores) + " numbers, one a core");
    for (std::size_t c = 0; c < all.size(); ++c) m.speeds[c] = s.number(all[c], "speeds", 0.001, 1000);
  }
  if (const toml::node* given = s.find("places")) {
    m.places = static_cast<int>(s.whole(*given, "places", 1, nodes));
    if (nodes % m.places != 0) s.refuse(given, "places", "a divisor of the number of nodes");
  }
  s.all_known();

  for (std::int64_t n = 0; n < nodes; ++n) {
    machine::node node{node_id(static_cast<int>(n)), static_cast<int>(n), 0, {}};
    for (std::int64_t c = 0; c < cores[static_cast<std::size_t>(n)]; ++c) {
      const core_id core(static_cast<int>(m.hardware.cores.size()));
      m.hardware.cores.push_back({core, node.id, {core.value}});
      node.cores.push_back(core);
    }
    m.hardware.nodes.push_back(std::move(node));
  }
  // Slower cores are of higher classes.
  std::vector<double> speeds = m.speeds;
  std::ranges::sort(speeds, std::greater<>());
  speeds.erase(std::ranges::unique(speeds).begin(), speeds.end());
  for (std::size_t c = 0; c < m.speeds.size(); ++c)
    m.hardware.cores[c].core_class = static_cast<int>(std::ranges::find(speeds, m.speeds[c]) - speeds.begin());
}

void read_cache(model_section s, machine_model& m) {
  m.cache_bytes = static_cast<std::uint64_t>(s.whole("bytes", 0, std::int64_t{1} << 40));
  m.cache_gbs = s.number("gbs", 0.001, 100000);
  if (const toml::node* given = s.find("per_node")) {
    std::size_t least = most_workers;
    for (const machine::node& n : m.hardware.nodes) {
      if (!n.cores.empty()) least = std::min(least, n.cores.size());
    }
    m.caches_per_node = static_cast<int>(s.whole(*given, "per_node", 1, static_cast<std::int64_t>(least)));
  }
  const toml::node* between = s.find("between_gbs");
  if (between == nullptr && m.caches_per_node > 1)
    s.refuse(nullptr, "between_gbs", "a number: what a core draws from another of its node's caches");
  if (between != nullptr) m.between_gbs = s.number(*between, "between_gbs", 0.001, 100000);
  if (const toml::node* given = s.find("private_bytes"))
    m.private_bytes = static_cast<std::uint64_t>(s.whole(*given, "private_bytes", 0, std::int64_t{1} << 40));
  if (m.private_bytes != 0) m.private_gbs = s.number("private_gbs", 0.001, 100000);
  s.all_known();
  for (const machine::core& c : m.hardware.cores) {
    if (m.private_bytes != 0) m.hardware.caches.push_back({2, m.private_bytes, 64, {c.id}});
  }
  for (const machine::node& n : m.hardware.nodes) {
    for (int c = 0; c < m.caches_per_node && m.cache_bytes != 0 && !n.cores.empty(); ++c) {
      machine::cache shared{3, m.cache_bytes, 64, {}};
      for (core_id core : n.cores) {
        if (m.cache_of(core) % m.caches_per_node == c) shared.cores.push_back(core);
      }
      m.hardware.caches.push_back(std::move(shared));
    }
  }
}

void read_costs(model_section s, scheduler_costs& c) {
  constexpr double most = 1e9;
  c.create = s.number("create", 0, most);
  c.dependence = s.number("dependence", 0, most);
  c.push = s.number("push", 0, most);
  c.pop = s.number("pop", 0, most);
  c.attempt = s.number("attempt", 0, most);
  c.steal = s.number("steal", 0, most);
  c.wake = s.number("wake", 0, most);
  c.explore = s.number("explore", 0, most);
  s.all_known();
}

/// Throws if KITH_MACHINES is a folder without a description: each name would be unknown, and no name could be listed.
void refuse_no_machines(const std::vector<std::string>& names) {
  const std::optional<std::string> set = value_of(var::machines);
  if (!set || !names.empty()) return;
  std::error_code ignored;
  throw error(std::string(var::machines.name) + "=" + *set +
                  (std::filesystem::is_directory(*set, ignored) ? ": has no machine description (NAME.toml)"
                                                                : ": there is no such folder") +
                  "; name a folder of descriptions (docs/machines.md), or unset it",
              error_kind::setting);
}

/// Throws if the description lacks tables that each has.
void refuse_missing_tables(const std::string& file, const toml::table& root) {
  std::string missing;
  for (const char* name :
       {"cores", "distance", "cache", "memory", "interconnect", "scheduler", "tasks", "abstract", "sources"}) {
    if (root[name].as_table() == nullptr) missing += (missing.empty() ? "[" : ", [") + std::string(name) + "]";
  }
  if (!missing.empty())
    throw error(file + ": no table " + missing + "; docs/machines.md lists what is needed", error_kind::input);
}

/// Reads the sources, and requires one for every number.
void read_sources(const std::string& file, const toml::table& root, machine_model& m) {
  static constexpr const char* kinds[] = {"printed:", "derived:", "vendor:", "measured:", "fitted:", "assumed"};
  model_section s(file, root, "sources");
  for (const std::string& key : s.keys()) {
    const std::string text = s.text(key);
    if (std::ranges::none_of(kinds, [&](const char* k) { return text.starts_with(k); }))
      s.refuse(s.find(key), key, "a text that begins with printed:, derived:, vendor:, measured:, fitted: or assumed:");
    m.sources[key] = text;
  }
  for (const char* name : {"cores", "distance", "cache", "memory", "interconnect", "scheduler", "tasks", "abstract",
                           "scheduling_unit", "line", "energy"}) {
    if (!root.contains(name)) continue;  // the last three
    for (const std::string& key : model_section(file, root, name).keys()) {
      const std::string full = std::string(name) + "." + key;
      if (key != "kind" && m.sources.count(full) == 0 && m.sources.count(name) == 0)
        s.miss(full, "the source of this value, or one for all of \"" + std::string(name) + "\"");
    }
  }
  s.all_there();
  for (const auto& [key, text] : m.sources) {
    const std::size_t dot = key.find('.');
    const toml::node_view<const toml::node> at = root[key.substr(0, dot)];
    if (!at || (dot != std::string::npos && !at[key.substr(dot + 1)]))
      s.refuse(s.find(key), key, "the name of a table, or of a table's key");
  }
}

std::string folder() {
  namespace fs = std::filesystem;
  if (const std::optional<std::string> set = value_of(var::machines)) return *set;
  std::error_code why;
  const fs::path beside = fs::read_symlink("/proc/self/exe", why).parent_path().parent_path() / "share/kith/machines";
  if (!why && fs::is_directory(beside, why)) return beside;  // of an installed tool, wherever its tree was moved to
  return fs::is_directory(KITH_SOURCE_MACHINES, why) ? KITH_SOURCE_MACHINES : KITH_INSTALLED_MACHINES;
}

}  // namespace

int machine_model::cache_of(core_id core) const {
  const machine::core& c = hardware.cores[core.index()];
  const std::vector<core_id>& all = hardware.nodes[c.node.index()].cores;
  const auto position = static_cast<std::int64_t>(std::ranges::find(all, core) - all.begin());
  return c.node.value * caches_per_node +
         static_cast<int>(position * caches_per_node / static_cast<std::int64_t>(all.size()));
}

machine_model model_from_file(const std::string& path, int places) {
  std::error_code ignored;
  std::ifstream in(path);
  if (!std::filesystem::exists(path, ignored))
    throw error(path + ": no such file; expected a machine's description (docs/machines.md), or one of `kith machines`",
                error_kind::input);
  if (!in || !std::filesystem::is_regular_file(path, ignored))
    throw error(path + ": cannot be read; expected a machine's description (docs/machines.md)", error_kind::input);
  if (std::filesystem::file_size(path, ignored) > most_toml_bytes)
    throw error(
        path + ": is larger than any description of a machine, of up to " + std::to_string(most_toml_bytes) + " bytes",
        error_kind::input);
  return model_from_text({std::istreambuf_iterator<char>(in), {}}, path, places);
}

machine_model model_from_text(const std::string& description, const std::string& path, int places) {
  toml::table given = parse_toml(description, path);
  machine_model m;
  if (places != 0) m.hosts = size_to(places, given, path);
  const toml::table& root = given;
  m.file = path;
  const auto text = [&](const char* key, bool needed) {
    const toml::node* n = root.get(key);
    if (n == nullptr && !needed) return std::string();
    if (n == nullptr || !n->is_string())
      throw error(
          path + ":" + std::to_string(n == nullptr ? 1 : n->source().begin.line) + ": " + key + ": expected a text",
          error_kind::input);
    return *n->value<std::string>();
  };
  m.hardware.name = text("name", true);
  m.title = text("title", true) + (places == 0 ? "" : ", sized to " + std::to_string(places) + " hosts");
  m.paper = text("paper", false);
  m.hardware.pretended = true;
  static constexpr const char* known[] = {"name",     "title",   "paper",           "cores",     "distance",
                                          "cache",    "memory",  "interconnect",    "scheduler", "tasks",
                                          "abstract", "sources", "scheduling_unit", "line",      "energy"};
  for (const auto& [key, value] : root) {
    if (std::ranges::none_of(known, [&](const char* k) { return key.str() == k; }))
      throw error(path + ":" + std::to_string(value.source().begin.line) + ": " + printable(key.str()) +
                      ": no such key; docs/machines.md lists them",
                  error_kind::input);
  }
  refuse_missing_tables(path, root);
  read_cores(model_section(path, root, "cores"), m);
  read_distance(model_section(path, root, "distance"), m);
  read_cache(model_section(path, root, "cache"), m);
  model_section memory(path, root, "memory");
  m.memory_gbs = memory.number("gbs", 0.001, 100000);
  m.core_gbs = memory.number("core_gbs", 0.001, 100000);
  m.page_bytes = static_cast<std::uint32_t>(memory.whole("page_bytes", 64, 1 << 30));
  memory.all_known();
  read_interconnect(model_section(path, root, "interconnect"), m);
  read_costs(model_section(path, root, "scheduler"), m.costs);
  model_section tasks(path, root, "tasks");
  m.metadata_bytes = static_cast<std::uint64_t>(tasks.whole("metadata_bytes", 0, 1 << 30));
  m.overlap = tasks.number("overlap", 0, 1);
  m.noise = tasks.number("noise", 0, 0.9);
  tasks.all_known();
  model_section abstract(path, root, "abstract");
  m.memory_share = abstract.number("memory_share", 0, 1);
  m.remote_factor = abstract.number("remote_factor", 1, 1000);
  abstract.all_known();
  if (root.contains("scheduling_unit")) read_unit(model_section(path, root, "scheduling_unit"), m);
  if (root.contains("line")) read_line(model_section(path, root, "line"), m.line);
  if (root.contains("energy")) read_energies(model_section(path, root, "energy"), m.energies);
  read_sources(path, root, m);
  if (m.hosts) m.places = m.hosts->shape.vertices();
  return m;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  const std::filesystem::path where = folder();
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(where, ignored)) {
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> model_names_or_throw() {
  std::vector<std::string> names = model_names();
  refuse_no_machines(names);
  return names;
}

std::string model_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return {};
  const std::filesystem::path at = std::filesystem::path(folder()) / (name + ".toml");
  std::error_code ignored;  // such as a name that is too long
  return std::filesystem::is_regular_file(at, ignored) ? at.string() : std::string();
}

machine_model model_by_name(const std::string& name_or_file, int places) {
  if (const std::string listed = model_file(name_or_file); !listed.empty()) return model_from_file(listed, places);
  std::error_code ignored;
  const bool a_path = name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".toml");
  if (a_path || std::filesystem::is_regular_file(name_or_file, ignored)) return model_from_file(name_or_file, places);
  throw error(no_such("machine", name_or_file, model_names_or_throw()) + "; or the path of a description",
              error_kind::input);
}

}  // namespace kith
