// kith-bench: Kith beside other systems, in one run.
#include "verbs.hpp"

#include "command_line/command_line.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace kith::bench {

namespace {

/// Whether this process, and so its children, may run ahead of others. Throws if that is refused and was requested
/// `expressly`.
bool run_first(bool expressly) {
  sched_param priority{};
  priority.sched_priority = 50;
  if (sched_setscheduler(0, SCHED_RR, &priority) == 0) return true;
  if (!expressly) return false;
  throw std::runtime_error(std::string("--realtime: real-time scheduling refused: ") + std::strerror(errno) +
                           "; run as root, allow it (ulimit -r 50), or leave the option out");
}

/// The lock is held until the process ends.
void wait_for_turn() {
  const auto path = std::filesystem::temp_directory_path() / "kith-bench.lock";
  const int lock = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0) return;  // without a lock file it measures all the same
  std::cerr << "kith-bench: another one is running; waiting for it (" << path.string() << ")\n";
  flock(lock, LOCK_EX);
}

}  // namespace

CLI::Option* add_realtime(CLI::App& command, options& o) {
  return command.add_flag("--realtime,!--no-realtime", o.realtime,
                          "real-time scheduling, so that other programs disturb less (default: if it is allowed)");
}

void prepare(options& o, bool said) {
  wait_for_turn();
  if (o.realtime || !said) o.realtime = run_first(said);
}

}  // namespace kith::bench

namespace {

using namespace kith::bench;
using namespace kith::tools;

/// Declares the options that all verbs but places share. `measure` is the verb's function; `ahead`: it runs under
/// real-time scheduling if that is allowed, else only on request.
std::function<outcome()> add(CLI::App& command, void (*measure)(const options&), bool ahead = true) {
  auto o = std::make_shared<options>();
  command.add_option_function<std::string>(
      "--systems", [o](const std::string& text) { o->systems = split_choices(text); },
      "only these, comma-separated (default: all that were built); of dag and metg also kith:POLICY");
  CLI::Option* const rounds =
      command.add_option("--rounds", o->rounds, "samples of each figure (default 5; with --quick 2)")
          ->check(whole_number(1, 1000));
  command.add_option("--workers", o->workers, "workers of each system (default: one for each core)")
      ->check(whole_number(1, 4096));
  command.add_flag("--quick", o->quick, "about a minute, with fewer and shorter samples");
  CLI::Option* const realtime = add_realtime(command, *o);
  command.add_flag("--json", o->json, "rows as JSON");
  return [o, rounds, realtime, measure, ahead] {
    if (o->quick && rounds->count() == 0) o->rounds = 2;
    prepare(*o, realtime->count() > 0 || !ahead);
    measure(*o);
    return outcome::fine;
  };
}

std::function<outcome()> add_dag(CLI::App& c) { return add(c, run_dag); }
std::function<outcome()> add_metg(CLI::App& c) { return add(c, run_metg); }
std::function<outcome()> add_forkjoin(CLI::App& c) { return add(c, run_forkjoin); }
std::function<outcome()> add_loops(CLI::App& c) { return add(c, run_loops); }
std::function<outcome()> add_graph(CLI::App& c) { return add(c, run_graph); }
// Real-time scheduling, which few programs have, changes the scheduling of threads that share cores.
std::function<outcome()> add_oversubscribed(CLI::App& c) { return add(c, run_oversubscribed, false); }
std::function<outcome()> add_startup(CLI::App& c) { return add(c, run_startup, false); }

constexpr kith::tools::verb verbs[] = {
    {"dag", "nanoseconds and bytes of a task that does nothing, in five programs", add_dag},
    {"metg", "smallest tasks that still keep the cores half (or three quarters) busy, for seven patterns", add_metg},
    {"forkjoin", "nanoseconds of a spawn in a recursion that does nothing else, with one worker and with all",
     add_forkjoin},
    {"loops", "parallel loops, reductions, scans and sorts over arrays", add_loops},
    {"graph", "nanoseconds of a node of a graph that is made once and run again, with one worker and with all",
     add_graph},
    {"oversubscribed", "64 workers on the cores that there are, and a busy program beside them", add_oversubscribed},
    {"startup", "starting and stopping a runtime, beside bare threads", add_startup},
    {"places", "messages between two processes, remote spawns and a heat program, beside MPI by hand", add_places},
};

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // write() then reports a child that died, or a reader that is gone
  return kith::tools::run({"kith-bench", "Kith beside other task systems, interleaved in one run.", KITH_VERSION,
                           "Exit code: 0, or 2 for a wrong command line or a measurement that failed.", verbs},
                          argc, argv);
}
