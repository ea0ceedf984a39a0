// The means to start places as processes: for each MPI its launcher, its library and Kith's transport.
#include "doctor/checks.hpp"
#include "doctor/mpi_library.hpp"
#include "launch/launchers.hpp"

#include <fmt/format.h>

namespace kith::tools {

namespace {

/// Everything that an MPI lacks, and how to get it; empty if a program can use it.
std::string lacks_of(const mpi_launcher& l, const mpi_library& library) {
  std::string lacks = what_is_missing(l);
  if (library.version.empty() && (!l.mpirun.empty() || l.plugin)) {
    lacks += fmt::format("{}its library cannot be loaded ({}); install it (Debian: {})", lacks.empty() ? "" : "; ",
                         library.error, l.kind.package);
  }
  return lacks;
}

}  // namespace

finding check_places() {
  finding f{.key = "places"};
  std::string missing;
  bool any = false;
  for (const mpi_launcher& l : mpi_launchers()) {
    const mpi_library library = probe_mpi_library(l.kind);
    const bool loads = !library.version.empty(), usable = l.usable() && loads;
    const std::string lacks = lacks_of(l, library);
    any = any || usable;
    const auto or_null = [](const std::string& text) { return text.empty() ? nlohmann::json() : nlohmann::json(text); };
    f.details[l.kind.transport] = {{"usable", usable},
                                   {"mpirun", or_null(l.mpirun)},
                                   {"version", or_null(l.version)},
                                   {"library", or_null(library.version)},
                                   {"transport", l.plugin ? nlohmann::json(l.plugin->string()) : nlohmann::json()},
                                   {"ulfm", loads ? nlohmann::json(library.has_ulfm) : nlohmann::json()},
                                   {"missing", lacks}};
    f.fact += fmt::format(
        "{}{}: launcher {}, library {}, transport {}", f.fact.empty() ? "" : "; ", l.kind.name,
        l.mpirun.empty() ? "missing" : fmt::format("{} ({})", l.version, l.mpirun),
        loads ? fmt::format("{} ({} ULFM)", library.version, library.has_ulfm ? "with" : "without") : "missing",
        l.plugin ? "built" : "missing");
    if (!lacks.empty()) missing += (missing.empty() ? "" : "; ") + std::string(l.kind.name) + ": " + lacks;
  }
  f.effect =
      any ? "`kith launch -n N -- PROGRAM` starts N processes, each a place; there the others can go on when one "
            "is lost (place_options::on_loss); under mpirun only with Open MPI 5, by --with-ft ulfm"
          : "places are threads of one process (KITH_PLACES)";
  if (!any) f.is = verdict::note;
  f.advice = missing;  // also if another MPI can be used: a program may need this one
  return f;
}

}  // namespace kith::tools
