// Real machines: this one, or one that hwloc exported to a file.
#include "machine/model.hpp"
#include "machine/topology.hpp"

#include "base/environment.hpp"
#include "base/made_once.hpp"
#include "base/nearest.hpp"

#include <kith/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kith {

namespace {

/// The processor's name according to hwloc; empty if it has none.
std::string processor(const topology& t) {
  const hwloc_obj_t root = hwloc_get_root_obj(t.get());
  for (hwloc_obj_t o : {hwloc_get_obj_by_type(t.get(), HWLOC_OBJ_PACKAGE, 0), root}) {
    const char* name = o != nullptr ? hwloc_obj_get_info_by_name(o, "CPUModel") : nullptr;
    if (name != nullptr) return name;
  }
  const char* architecture = hwloc_obj_get_info_by_name(root, "Architecture");
  return architecture != nullptr ? architecture : "";
}

/// Whether a text describes levels ("node:8 core:10", "8 10"): any other single word is a machine's name.
bool is_line(const std::string& text) {
  return text.find_first_of(":[( \t") != std::string::npos || text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

machine discover_machine() {
  const topology t = new_topology();
  load(t, "this machine");
  machine found = machine_of(t);
  found.name = processor(t).empty() ? "this machine" : processor(t);
  return found;
}

machine machine_from_file(const std::string& path) {
  const std::string expected = "; expected an XML file exported by hwloc (`lstopo machine.xml` makes one)";
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) throw error(path + ": no such file" + expected, error_kind::setting);
  if (!std::filesystem::is_regular_file(status))
    throw error(path + ": not a regular file" + expected, error_kind::setting);
  if (!std::ifstream(path)) throw error(path + ": cannot be read: " + std::strerror(errno), error_kind::setting);
  const topology t = new_topology();
  if (hwloc_topology_set_xml(t.get(), path.c_str()) != 0 || !try_load(t)) {
    throw error(path + ": not a topology that hwloc can read" + expected, error_kind::setting);
  }
  machine found = machine_of(t);
  found.name = std::filesystem::path(path).stem().string();
  if (!processor(t).empty()) found.name += " (" + processor(t) + ")";
  found.pretended = true;
  return found;
}

machine machine_by_name(const std::string& file_or_line) {
  if (const std::string listed = model_file(file_or_line); !listed.empty()) return model_from_file(listed).hardware;
  if (file_or_line.ends_with(".toml")) return model_from_file(file_or_line).hardware;
  std::error_code ignored;
  if (std::filesystem::exists(file_or_line, ignored)) return machine_from_file(file_or_line);
  const bool a_path = file_or_line.find('/') != std::string::npos && file_or_line.find(':') == std::string::npos;
  if (a_path || file_or_line.ends_with(".xml")) return machine_from_file(file_or_line);  // throws: no such file
  if (!is_line(file_or_line))
    throw error(no_such("machine", file_or_line, model_names_or_throw()) +
                    "; or a file: a description (.toml) or what hwloc exported (.xml); or levels, such as 'node:8 "
                    "core:10'",
                error_kind::setting);
  return synthetic_machine(file_or_line);
}

machine current_machine(const std::optional<std::string>& option) {
  const std::optional<std::string> name = option ? option : value_of(var::machine);
  if (!name || name->empty()) return this_machine();
  try {
    return machine_by_name(*name);
  } catch (const error& e) {
    throw error(std::string(option ? "machine: " : "KITH_MACHINE: ") + e.what(), error_kind::setting);
  }
}

machine this_machine() {
  static constinit made_once<machine> found;
  return found.get(discover_machine);
}

}  // namespace kith
