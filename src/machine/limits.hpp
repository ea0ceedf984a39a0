// What this process may use of its machine, and how many workers follow from it.
//
// Read from files only (/proc, the cgroup tree) and environment variables, so that tests hand in
// a tree of their own.
#pragma once

#include "base/environment.hpp"
#include "machine/machine.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// Threads in one engine; a larger number is a mistake, not a wish.
inline constexpr int most_workers = 4096;

struct limits {
  std::optional<std::vector<int>> affinity;  // CPUs in the affinity mask, ascending; none: not known
  std::optional<double> quota;               // CPUs' worth of time of the tightest cgroup; none: unlimited
  std::string quota_from;                    // the file that says so
  std::optional<int> slurm;                  // CPUs that Slurm allots to this task
  std::string slurm_from;                    // the variable that says so
  std::vector<std::string> notes;            // what could not be read or understood, one sentence each
};

using variables = std::function<std::optional<std::string>(const char*)>;

/// Looks below `root`, as if that were "/". What is absent is no limit; garbage is no limit and a note.
limits read_limits(const std::filesystem::path& root = "/", const variables& lookup = environment);
/// This process's. Read once, before Kith binds any thread: later the mask may be that of a bound worker.
const limits& process_limits();

struct worker_plan {
  struct limit {
    std::string name;
    std::optional<int> value;  // none: no limit
    std::string note;
  };
  int workers = 0;
  std::vector<core_id> cores;  // of worker w; shared, round robin, if there are more workers than cores
  std::vector<int> cpus;       // the CPU that worker w is bound to; -1: not bound
  std::vector<limit> limits;   // all that were considered
  std::string decided_by;      // the name of the one that counted
  bool clamped = false;        // fewer workers than the setting asked for
};

/// The option if it is not 0, else KITH_WORKERS if set. A value out of range is a kith::error.
std::optional<int> workers_setting(int option = 0);
/// The option if it is not negative, else KITH_OVERSUBSCRIBE (0 or 1), else false.
bool oversubscribe_setting(int option = -1);

/// The least of: the setting, Slurm's allotment, the affinity mask, the quota rounded up, the cores that the
/// mask allows. On a pretended machine: the setting, its cores. With `oversubscribe`: the setting alone.
/// The cores are the fastest ones, spread evenly over the nodes; workers are numbered in node order.
worker_plan plan_workers(const machine&, const limits&, std::optional<int> setting, bool oversubscribe = false);

}  // namespace kith
