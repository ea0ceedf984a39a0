// kith launch: starts a program as several processes, each a place.
#include "verbs.hpp"

#include "base/environment.hpp"
#include "child.hpp"
#include "launch/guard.hpp"
#include "launch/guard_folder.hpp"
#include "launch/launchers.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "numbers.hpp"
#include "places/job.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

struct launch_options {
  int places = 2;
  std::optional<int> workers;
  std::string mpi;
  std::string guarded;  // the folder of the guards; empty: this process is not a guard
  std::vector<std::string> program;
};

mpi_launcher choose(const std::string& name) {
  const std::vector<mpi_launcher> all = mpi_launchers();
  std::string missing;
  for (const mpi_launcher& l : all) {
    if (!name.empty() && name != l.kind.transport) continue;
    if (l.usable()) return l;
    missing += (missing.empty() ? "" : "; ") + std::string(l.kind.name) + ": " + what_is_missing(l);
  }
  throw error("no MPI to start processes with. " + missing +
              ". Without one, KITH_PLACES=N PROGRAM has N places in one process");
}

/// Prints which places ended with which exit code, if not all with the same.
void tell_exit_codes(const launch_options& o, const guard_folder& folder) {
  std::map<int, int> codes;  // by place
  for (int p = 0; p < o.places; ++p) {
    if (const std::optional<int> status = folder.status(p); status && WIFEXITED(*status))
      codes[p] = WEXITSTATUS(*status);
  }
  const auto differs = [&codes](const auto& c) { return c.second != codes.begin()->second; };
  if (codes.size() == static_cast<std::size_t>(o.places) && std::ranges::none_of(codes, differs)) return;
  for (const auto& [place, code] : codes) {
    if (code != 0) fmt::print(stderr, "kith launch: place {} ended with exit code {}\n", place, code);
  }
}

/// The guards' results, as text on stderr and as an exit code.
outcome judge(const launch_options& o, const guard_folder& folder, const child_result& job) {
  int code = 0;
  bool lost = false, any = false, ended = false;
  const bool went_on = folder.survivors_go_on();
  for (int p = 0; p < o.places; ++p) {
    const std::optional<int> status = folder.status(p);
    if (!status) continue;
    any = true;
    if (WIFSIGNALED(*status)) {
      if (folder.is_ended(p)) {  // because another one has failed
        ended = true;
        continue;
      }
      lost = lost || !went_on;
      fmt::print(stderr, "kith launch: place {} was ended by signal {} ({}){}\n", p, WTERMSIG(*status),
                 strsignal(WTERMSIG(*status)), went_on ? "; the others went on" : "");
    } else if (code == 0) {
      code = WEXITSTATUS(*status);
    }
  }
  tell_exit_codes(o, folder);
  if (lost) return outcome::lost;
  if (code != 0) return static_cast<outcome>(code);
  if (ended) return outcome::lost;  // it waited for one that had returned 0
  if (job.clean() || (went_on && folder.status(0))) return outcome::fine;
  if (!any && folder.is_started()) {
    fmt::print(stderr, "kith launch: mpirun ended all places, as when one calls MPI_Abort or MPI refuses a call\n");
  } else if (!any) {
    fmt::print(stderr, "kith launch: mpirun failed before the program was started\n");
  }
  return outcome::error;
}

/// Prints a note if no process was a place. The program has ended well.
void tell_no_places(const launch_options& o, const guard_folder& folder) {
  if (o.places == 1) return;
  for (int p = 0; p < o.places; ++p) {
    if (folder.has_joined(p)) return;
  }
  fmt::print(
      stderr,
      "kith launch: none of the {} processes of {} has made a place (kith::place_runtime, docs/places.md); a program "
      "that does not use MPI itself then did all of its work in each\n",
      o.places, o.program.front());
}

/// Prints a note if the places will not get all workers that were asked for.
void tell_workers(const launch_options& o) {
  if (!o.workers || oversubscribe_setting()) return;
  const int cores = plan_workers(current_machine(), process_limits(), std::nullopt, false, {bind_mode::off}).workers;
  const int share = std::max(1, cores / o.places);
  if (*o.workers <= share) return;
  fmt::print(stderr,
             "kith launch: each of {} places has its share of {} cores, {}, not {}; KITH_OVERSUBSCRIBE=1 "
             "allows more\n",
             o.places, cores, counted(static_cast<std::size_t>(share), "worker"), *o.workers);
}

outcome launch(const launch_options& o) {
  if (!o.guarded.empty()) return guard_place(guard_folder(o.guarded), o.program);
  tell_workers(o);
  const std::optional<std::string> transport = value_of(var::transport);
  const auto known = [&](const distributed::mpi_kind& k) { return transport == k.transport; };
  const bool names_mpi = std::ranges::any_of(distributed::mpi_kinds(), known);
  if (names_mpi && !o.mpi.empty() && o.mpi != *transport)
    throw error("--mpi " + o.mpi + ", and KITH_TRANSPORT=" + *transport + "; leave one of them out");
  const mpi_launcher with = choose(names_mpi ? *transport : o.mpi);
  std::string folder = fs::temp_directory_path() / "kith-launch-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw error("launch: " + folder + ": " + std::strerror(errno));
  std::vector<std::string> words = launch_words(with, o.places);
  const std::string self = fs::read_symlink("/proc/self/exe");
  words.insert(words.end(), {self, "launch", "--guard", folder, "--"});
  words.insert(words.end(), o.program.begin(), o.program.end());
  std::vector<std::pair<std::string, std::string>> set{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                                       {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                       {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"}};
  if (!transport) set.emplace_back(var::transport.name, with.kind.transport);
  if (o.workers) set.emplace_back(var::workers.name, std::to_string(*o.workers));
  const child_result job = run_child(words, set, false, true);  // no job without its launcher
  const outcome result = judge(o, guard_folder(folder), job);
  if (result == outcome::fine && transport != "threads") tell_no_places(o, guard_folder(folder));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return result;
}

}  // namespace

std::function<outcome()> add_launch(CLI::App& command) {
  auto o = std::make_shared<launch_options>();
  command.add_option("-n,--places", o->places, "processes to start, each a place (2)")
      ->check(whole_number(1, var::places.most));
  command
      .add_option("--workers", o->workers,
                  "workers of each place; at most its share of the cores, unless KITH_OVERSUBSCRIBE=1 (KITH_WORKERS, "
                  "that share)")
      ->check(whole_number(1, var::workers.most));
  command.add_option("--mpi", o->mpi, "openmpi or mpich; default: the first that is there (`kith doctor`)")
      ->check(CLI::IsMember({"openmpi", "mpich"}))
      ->type_name("MPI");
  command.add_option("--guard", o->guarded)->group("");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith launch -n 4 [--workers 3] [--mpi openmpi|mpich] -- PROGRAM ARGS     PROGRAM may be `kith app NAME "
      "...`\n"
      "PROGRAM is a program with a kith::place_runtime (docs/places.md). All processes are on this machine; on "
      "several, use their mpirun or srun as for any MPI program. If a place is lost, the others end with an error that "
      "names it, and write their recordings; a program can ask that they go on (place_options::on_loss).\n"
      "Exit code: 0; 3 if a signal ended a place, as an uncaught exception does, and the others did not go on (places "
      "that are ended because another one has failed do not count); else "
      "that of the first place that failed; 2 for a wrong command line.");
  return [o] { return launch(*o); };
}

}  // namespace kith::tools
