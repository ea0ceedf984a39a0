// kith launch: starts a program as several processes, each a place.
//
// mpirun ends all processes of a job as soon as one has failed. So each process runs below a guard, which is this tool
// again and stays until all others have ended: then these find the loss themselves and can write their recordings.
// Processes that do not end are killed: by mpirun, and by their guards, because MPICH's mpirun hangs if a process dies
// in MPI_Init.
#include "verbs.hpp"

#include "base/environment.hpp"
#include "child.hpp"
#include "launch/launchers.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "places/job.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
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

/// How a process ended, in the guards' folder: a file named by its place, with waitpid()'s status.
fs::path status_file(const fs::path& folder, int place) { return folder / std::to_string(place); }
std::optional<int> read_status(const fs::path& folder, int place) {
  std::ifstream file(status_file(folder, place));
  int status = 0;
  return file >> status ? std::optional(status) : std::nullopt;
}
void write_status(const fs::path& folder, int place, int status) {
  const fs::path part = folder / ("part-" + std::to_string(place));
  std::ofstream(part) << status << '\n';
  fs::rename(part, status_file(folder, place));
}

// ---- a guard

/// How long a place may go on after another one has failed. One that has joined the job finds the loss itself, within
/// 5 s, and then writes its recording. The others wait for the lost one in MPI_Init, which does not return.
constexpr std::chrono::seconds patience{10}, patience_at_start{4};

/// The file in the guards' folder that exists once a guard runs.
fs::path start_file(const fs::path& folder) { return folder / "started"; }
/// The file in the guards' folder that exists once a place has failed, with the number of one that has.
fs::path failure_file(const fs::path& folder) { return folder / "failed"; }
/// The file in the guards' folder that exists if this tool has ended the place.
fs::path ended_file(const fs::path& folder, int place) { return folder / ("ended-" + std::to_string(place)); }
/// Only the first one is named: guards end the others.
void name_failed(const fs::path& folder, int place) {
  const fs::path part = folder / ("failed-" + std::to_string(place));
  std::ofstream(part) << place << '\n';
  std::error_code failed, ignored;
  fs::create_hard_link(part, failure_file(folder), failed);  // fails if there is one, and where there are no links
  if (failed && !fs::exists(failure_file(folder), ignored)) fs::rename(part, failure_file(folder), ignored);
}
/// The text for messages.
std::string failed_place(const fs::path& folder) {
  std::ifstream file(failure_file(folder));
  int place = 0;
  return file >> place ? "place " + std::to_string(place) : "another place";
}

/// Whether the program survives losses, and place 0, without which the others cannot go on, has not failed.
bool survivors_go_on(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / distributed::survivors_file, ignored) && read_status(folder, 0).value_or(0) == 0;
}
bool should_end(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(failure_file(folder), ignored) && !survivors_go_on(folder);
}
/// Whether the place waits in MPI_Init, or soon after, for one that has ended without joining the job: it would wait
/// for ever.
bool waits_in_vain(const fs::path& folder, int place, int places) {
  std::error_code ignored;
  const auto joined = [&](int p) { return fs::exists(folder / distributed::joined_file(p), ignored); };
  if (!fs::exists(folder / distributed::joining_file(place), ignored) || joined(place)) return false;
  for (int p = 0; p < places; ++p) {
    if (!read_status(folder, p) || joined(p)) continue;
    name_failed(folder, p);
    return true;
  }
  return false;
}

/// The children of a process, theirs and so on. A place's program may run below a shell.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> all{process};
  std::error_code ignored;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Threads and processes may end meanwhile.
    const std::string threads = "/proc/" + std::to_string(all[i]) + "/task";
    for (fs::directory_iterator at(threads, ignored), end; at != end; at.increment(ignored)) {
      std::ifstream children(at->path() / "children");
      for (pid_t child = 0; children >> child;) all.push_back(child);
    }
  }
  all.erase(all.begin());
  return all;
}

/// Ends a place's process if it runs for too long after another one has failed, unless survivors go on.
class patient_end {
 public:
  patient_end(pid_t process, const fs::path& folder, int place, int places)
      : process_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
        thread_([this, process, folder, place, places](const std::stop_token& stop) {
          if (process_ < 0) return;
          // A place may be lost before place 0 has said that the others go on.
          const auto now = [] { return std::chrono::steady_clock::now(); };
          const fs::path joined = folder / distributed::joined_file(place);
          bool finds_losses = false;
          for (auto failed = now(); now() - failed < (finds_losses ? patience : patience_at_start);) {
            if (!should_end(folder) && !waits_in_vain(folder, place, places)) failed = now();
            std::error_code ignored;
            finds_losses = fs::exists(joined, ignored);
            if (sleep(stop, std::chrono::milliseconds(500))) return;
          }
          fmt::print(stderr, "kith launch: place {} is ended, because {} has failed{}\n", place, failed_place(folder),
                     finds_losses ? "" : " before all had joined the job");
          std::ofstream(ended_file(folder, place)) << '\n';
          const std::vector<pid_t> below = descendants_of(process);
          signal(SIGTERM);
          for (const pid_t p : below) kill(p, SIGTERM);
          if (sleep(stop, std::chrono::seconds(3))) return;
          signal(SIGKILL);
          for (const pid_t p : below) kill(p, SIGKILL);
        }) {}
  ~patient_end() {
    thread_.request_stop();
    thread_.join();
    if (process_ >= 0) ::close(process_);
  }
  patient_end(const patient_end&) = delete;
  patient_end& operator=(const patient_end&) = delete;

 private:
  /// True if the thread was stopped meanwhile.
  static bool sleep(const std::stop_token& stop, std::chrono::milliseconds time) {
    std::mutex guard;
    std::unique_lock lock(guard);
    std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
    return stop.stop_requested();
  }
  /// Signals by the process's descriptor, which stays valid when its number is reused.
  void signal(int number) const { syscall(SYS_pidfd_send_signal, process_, number, nullptr, 0); }

  int process_;
  std::jthread thread_;
};

int number_of_variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::optional<std::string> value = environment(name)) return std::atoi(value->c_str());
  }
  throw error("launch: --guard is for `kith launch` itself");
}

outcome guard(const launch_options& o) {
  const int place = number_of_variable({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  const int places = number_of_variable({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  const pid_t launcher = getppid();
  std::ofstream(start_file(o.guarded)) << '\n';
  child_result ended;
  std::optional<patient_end> end;
  try {
    ended = run_child(o.program, {{var::guard.name, o.guarded}}, false, true,
                      [&](pid_t process) { end.emplace(process, o.guarded, place, places); });
  } catch (const error& e) {
    if (place == 0) fmt::print(stderr, "kith launch: {}\n", e.what());
    ended.status = 127 << 8;
  }
  end.reset();
  write_status(o.guarded, place, ended.status);
  if (!ended.clean()) {
    name_failed(o.guarded, place);
  } else if (std::error_code ignored; !fs::exists(failure_file(o.guarded), ignored)) {
    return outcome::fine;
  }
  // The guard of a survivor waits too: the survivor has not finalised MPI, for which mpirun would end the others.
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (int p = 0; p < places;) {
    if (getppid() != launcher) return outcome::error;  // it was killed, so the results are not read
    if (!should_end(o.guarded)) deadline = std::chrono::steady_clock::now() + patience;
    if (std::chrono::steady_clock::now() > deadline) return outcome::error;  // mpirun ends the others
    if (read_status(o.guarded, p)) {
      ++p;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  return outcome::fine;  // `kith launch` prints the messages
}

// ---- the job

mpi_launcher choose(const std::string& name) {
  const std::vector<mpi_launcher> all = mpi_launchers();
  std::string missing;
  for (const mpi_launcher& l : all) {
    if (!name.empty() && name != l.kind.transport) continue;
    if (l.usable()) return l;
    missing += (missing.empty() ? "" : "; ") + std::string(l.kind.name) + ": " + what_is_missing(l);
  }
  throw error("launch: no MPI to start processes with. " + missing +
              ". Without one, KITH_PLACES=N PROGRAM has N places in one process");
}

/// Prints which places ended with which exit code, if not all with the same.
void tell_exit_codes(const launch_options& o, const fs::path& folder) {
  std::map<int, int> codes;  // by place
  for (int p = 0; p < o.places; ++p) {
    if (const std::optional<int> status = read_status(folder, p); status && WIFEXITED(*status))
      codes[p] = WEXITSTATUS(*status);
  }
  const auto differs = [&codes](const auto& c) { return c.second != codes.begin()->second; };
  if (codes.size() == static_cast<std::size_t>(o.places) && std::ranges::none_of(codes, differs)) return;
  for (const auto& [place, code] : codes) {
    if (code != 0) fmt::print(stderr, "kith launch: place {} ended with exit code {}\n", place, code);
  }
}

/// The guards' results, as text on stderr and as an exit code.
outcome judge(const launch_options& o, const fs::path& folder, const child_result& job) {
  int code = 0;
  bool lost = false, any = false, ended = false;
  const bool went_on = survivors_go_on(folder);
  for (int p = 0; p < o.places; ++p) {
    const std::optional<int> status = read_status(folder, p);
    if (!status) continue;
    any = true;
    if (WIFSIGNALED(*status)) {
      if (std::error_code none; fs::exists(ended_file(folder, p), none)) {  // because another one has failed
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
  if (job.clean() || (went_on && read_status(folder, 0))) return outcome::fine;
  std::error_code ignored;
  if (!any && fs::exists(start_file(folder), ignored)) {
    fmt::print(stderr, "kith launch: mpirun ended all places, as when one calls MPI_Abort or MPI refuses a call\n");
  } else if (!any) {
    fmt::print(stderr, "kith launch: mpirun failed before the program was started\n");
  }
  return outcome::error;
}

/// Prints a note if the places will not get all workers that were asked for.
void tell_workers(const launch_options& o) {
  if (!o.workers || oversubscribe_setting()) return;
  const int cores = plan_workers(current_machine(), process_limits(), std::nullopt, false, {bind_mode::off}).workers;
  const int share = std::max(1, cores / o.places);
  if (*o.workers <= share) return;
  fmt::print(stderr,
             "kith launch: each of {} places has its share of {} cores, {} worker{}, not {}; KITH_OVERSUBSCRIBE=1 "
             "allows more\n",
             o.places, cores, share, share == 1 ? "" : "s", *o.workers);
}

outcome launch(const launch_options& o) {
  if (!o.guarded.empty()) return guard(o);
  tell_workers(o);
  const std::optional<std::string> transport = value_of(var::transport);
  const auto known = [&](const distributed::mpi_kind& k) { return transport == k.transport; };
  const bool names_mpi = std::ranges::any_of(distributed::mpi_kinds(), known);
  if (names_mpi && !o.mpi.empty() && o.mpi != *transport)
    throw error("launch: --mpi " + o.mpi + ", and KITH_TRANSPORT=" + *transport + "; leave one of them out");
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
  const outcome result = judge(o, folder, job);
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
