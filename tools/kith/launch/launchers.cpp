#include "launch/launchers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

std::string find_in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
  }
  return {};
}

/// The first line with a number of the output of `mpirun --version`; and the whole output.
std::pair<std::string, std::string> version_of(const std::string& mpirun) {
  const std::string command = "'" + mpirun + "' --version 2>&1 </dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
  std::string all;
  char part[512];
  while (out != nullptr && std::fgets(part, sizeof part, out.get()) != nullptr) all += part;
  std::istringstream lines(all);
  std::string line, found;
  while (found.empty() && std::getline(lines, line)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (line.find_first_of("0123456789") != std::string::npos) found = line.substr(begin);
  }
  if (const std::size_t gap = found.rfind("  "); gap != std::string::npos) found.erase(0, found.find_last_of(' ') + 1);
  return {found, all};
}

/// Whether the text of an mpirun shows that it is of this kind.
bool is_of(const distributed::mpi_kind& k, std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return std::string_view(k.transport) == "openmpi" ? has("Open MPI") || has("OpenRTE") || has("PRTE") || has("prte")
                                                    : has("HYDRA") || has("Intel(R) MPI");
}

}  // namespace

std::vector<mpi_launcher> mpi_launchers() {
  std::vector<mpi_launcher> all;
  for (const distributed::mpi_kind& k : distributed::mpi_kinds()) {
    mpi_launcher l{k, distributed::find_plugin(k.transport), {}, {}};
    for (const std::string& name : {std::string("mpirun"), std::string("mpirun.") + k.transport}) {
      const std::string file = find_in_path(name);
      if (file.empty()) continue;
      const auto [version, text] = version_of(file);
      if (!is_of(k, text)) continue;
      l.mpirun = file;
      l.version = version;
      break;
    }
    all.push_back(std::move(l));
  }
  return all;
}

std::string what_is_missing(const mpi_launcher& l) {
  if (l.mpirun.empty() && !l.plugin) {
    return fmt::format(
        "{0} has no mpirun in PATH, and Kith was built without its transport; install it (Debian: {1}), and build Kith "
        "again",
        l.kind.name, l.kind.package);
  }
  if (l.mpirun.empty())
    return fmt::format("{} has no mpirun in PATH; install it (Debian: {})", l.kind.name, l.kind.package);
  if (!l.plugin) {
    return fmt::format(
        "Kith was built without its transport; install what {} programs are built with (Debian: {}), and build "
        "Kith again",
        l.kind.name, l.kind.package);
  }
  return {};
}

std::vector<std::string> launch_words(const mpi_launcher& l, int places) {
  std::vector<std::string> words{l.mpirun, "-n", std::to_string(places)};
  // Each process distributes its cores itself: Open MPI would bind it, its progress thread included, to one core.
  if (std::string_view(l.kind.transport) == "openmpi")
    words.insert(words.end(), {"--quiet", "--oversubscribe", "--bind-to", "none"});
  return words;
}

}  // namespace kith::tools
