// kith-bench: Kith beside other systems, in one run.
#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace {

/// Whether this process, and so its children, may run ahead of others. Asked for expressly and refused: an error.
bool run_first(bool expressly) {
  sched_param priority{};
  priority.sched_priority = 50;
  if (sched_setscheduler(0, SCHED_RR, &priority) == 0) return true;
  if (!expressly) return false;
  throw std::runtime_error(std::string("--realtime: real-time scheduling refused: ") + std::strerror(errno) +
                           "; run as root, allow it (ulimit -r 50), or leave the option out");
}

/// One benchmark at a time on a machine: two would measure each other. Held until the process ends.
void wait_for_turn() {
  const auto path = std::filesystem::temp_directory_path() / "kith-bench.lock";
  const int lock = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return;  // no lock file: measured all the same
  std::cerr << "kith-bench: another one is running; waiting for it (" << path.string() << ")\n";
  flock(lock, LOCK_EX);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kith::bench;
  signal(SIGPIPE, SIG_IGN);  // a child that died is seen by write()
  options chosen;
  CLI::App app("Kith beside other task systems, interleaved in one run");
  app.name("kith-bench");
  app.require_subcommand(1);
  auto add = [&](const char* name, const char* what) {
    CLI::App* verb = app.add_subcommand(name, what);
    verb->add_option("--systems", chosen.systems, "only these, comma-separated (default: all that were built)")
        ->delimiter(',');
    verb->add_option("--rounds", chosen.rounds, "samples of each figure (default 5; with --quick 2)")
        ->check(CLI::Range(1, 1000));
    verb->add_option("--workers", chosen.workers, "workers of each system (default: one for each core)")
        ->check(CLI::Range(1, 4096));
    verb->add_flag("--quick", chosen.quick, "about a minute, with fewer and shorter samples");
    verb->add_flag("--realtime,!--no-realtime", chosen.realtime,
                   "real-time scheduling, so that other programs disturb less (default: if it is allowed)");
    verb->add_flag("--json", chosen.json, "rows as JSON");
    return verb;
  };
  CLI::App* metg =
      add("metg", "smallest tasks that still keep the cores half (or three quarters) busy, for seven patterns");
  CLI::App* dag = add("dag", "nanoseconds and bytes of a task that does nothing, in three graphs");
  CLI11_PARSE(app, argc, argv);
  CLI::App* verb = app.get_subcommands().front();
  if (chosen.quick && verb->count("--rounds") == 0) chosen.rounds = 2;
  try {
    wait_for_turn();
    const bool said = verb->count("--realtime") > 0;
    if (chosen.realtime || !said) chosen.realtime = run_first(said);
    return verb == dag ? run_dag(chosen) : verb == metg ? run_metg(chosen) : 2;
  } catch (const std::exception& failure) {
    std::cerr << "kith-bench: " << failure.what() << "\n";
    return 1;
  }
}
