#include "doctor/mpi_library.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace kith::tools {

namespace {

/// The files whose loading loads the MPI's library.
std::vector<std::string> names_of(const distributed::mpi_kind& k) {
  if (const auto plugin = distributed::find_plugin(k.transport)) return {*plugin};
  std::vector<std::string> names;
  for (const char* library : k.libraries) {
    if (library != nullptr) names.emplace_back(library);
  }
  return names;
}

/// The child's output: a letter (e: an error, u: with ULFM, n: without), and a text.
std::string loaded(const std::vector<std::string>& names) {
  std::string why;
  for (const std::string& name : names) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const text = dlerror();
      if (why.empty()) why = text == nullptr ? name : text;
      continue;
    }
    using version_function = int(char*, int*);
    auto* const ask = reinterpret_cast<version_function*>(dlsym(library, "MPI_Get_library_version"));
    if (ask == nullptr) return "e" + name + ": it has no MPI_Get_library_version";
    std::string version(8192, '\0');  // the largest that an MPI says it needs
    int length = 0;
    ask(version.data(), &length);  // one of the few functions that may be called before MPI_Init
    version.resize(std::strlen(version.c_str()));
    return (dlsym(library, "MPIX_Comm_revoke") != nullptr ? "u" : "n") + version;
  }
  return "e" + why;
}

/// Open MPI's line goes on after a comma; MPICH says "MPICH Version:" and a number.
std::string first_words(std::string text) {
  text.resize(std::min(text.find_first_of("\n,"), text.size()));
  if (const std::size_t colon = text.find(" Version:"); colon != std::string::npos)
    text = text.substr(0, colon) + " " + text.substr(std::min(text.find_first_not_of(" \t", colon + 9), text.size()));
  return text;
}

}  // namespace

mpi_library probe_mpi_library(const distributed::mpi_kind& k) {
  const std::vector<std::string> names = names_of(k);
  int ends[2];
  if (::pipe(ends) != 0) return {.error = std::string("pipe: ") + std::strerror(errno)};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = loaded(names);
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t got = 0; child > 0 && (got = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  if (child < 0) return {.error = std::string("fork: ") + std::strerror(errno)};
  int status = 0;
  ::waitpid(child, &status, 0);
  if (text.empty()) return {.error = names.front() + ": the process that loaded it has ended"};
  if (text.front() == 'e') return {.error = text.substr(1)};
  return {.version = first_words(text.substr(1)), .has_ulfm = text.front() == 'u'};
}

}  // namespace kith::tools
