// What starts places as processes.
#include "doctor/checks.hpp"
#include "launch/launchers.hpp"

#include <fmt/format.h>

namespace kith::tools {

finding check_places() {
  finding f{.key = "places"};
  std::string missing;
  bool any = false;
  for (const mpi_launcher& l : mpi_launchers()) {
    const std::string lacks = what_is_missing(l);
    any = any || l.usable();
    f.details[l.kind.transport] = {
        {"mpirun", l.mpirun}, {"version", l.version}, {"usable", l.usable()}, {"missing", lacks}};
    f.fact += fmt::format("{}{}: {}", f.fact.empty() ? "" : "; ", l.kind.name,
                          l.usable() ? fmt::format("{} ({})", l.version, l.mpirun) : "not usable");
    if (!l.usable()) missing += (missing.empty() ? "" : "; ") + std::string(l.kind.name) + ": " + lacks;
  }
  f.effect = any ? "`kith launch -n N -- PROGRAM` starts N processes, each a place"
                 : "places are threads of one process (KITH_PLACES)";
  if (!any) f.is = verdict::note;
  f.advice = missing;  // also if another MPI can be used: a program may need this one
  return f;
}

}  // namespace kith::tools
