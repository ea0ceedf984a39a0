// What this process may use of its machine, and how many workers follow from it.
//
// Read from files only (/proc, the cgroup tree) and environment variables, so that tests hand in
// a tree of their own.
#pragma once

#include "base/environment.hpp"
#include "machine/bind_mode.hpp"
#include "machine/machine.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// Threads in one engine; a larger number is a mistake, not a wish.
inline constexpr int most_workers = static_cast<int>(var::workers.most);

/// One of several processes that a launcher has started on this machine.
struct local_rank {
  int rank = 0, ranks = 1;
  std::string from;  // the variable that says so
};

struct limits {
  std::optional<std::vector<int>> affinity;  // CPUs in the affinity mask, ascending; none: not known
  std::optional<double> quota;               // CPUs' worth of time of the tightest cgroup; none: unlimited
  std::string quota_from;                    // the file that says so
  std::optional<int> slurm;                  // CPUs that Slurm allots to this task
  std::string slurm_from;                    // the variable that says so
  std::optional<local_rank> rank;            // among the processes of an MPI program on this machine
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
  std::vector<core_id> cores;              // of worker w; shared, round robin, if there are more workers than cores
  std::vector<int> cpus;                   // one of that core; -1: not known, or the core is shared
  bool cores_shared = false;               // more workers than cores; always so on a pretended machine
  bind_mode bound = bind_mode::off;        // in effect, never automatic
  std::vector<std::vector<int>> bound_to;  // the CPUs that worker w is bound to; empty: it is not bound
  std::vector<limit> limits;               // all that were considered
  std::string decided_by;                  // the name of the one that counted
  bool clamped = false;                    // fewer workers than the setting asked for
};

/// The option if it is not 0, else KITH_WORKERS if set. A value out of range is a kith::error.
std::optional<int> workers_setting(int option = 0);
/// The option if it is not negative, else KITH_OVERSUBSCRIBE (0 or 1), else false.
bool oversubscribe_setting(int option = -1);

/// How workers are bound.
struct bind_wish {
  bind_mode mode = bind_mode::automatic;
  /// As cpu_claims::take. Asked if some cores will be left free: those that others use are then taken last. Empty: nobody is
  /// asked.
  std::function<bool(int cpu, int level)> claim = {};
};

/// The least of: the setting, Slurm's allotment, the affinity mask, the quota rounded up, the cores that the mask allows,
/// and of these, where ranks of an MPI program have no mask of their own, this rank's share. On a pretended machine: the
/// setting, its cores. With `oversubscribe`: the setting alone. The cores are the fastest ones, spread evenly over the
/// nodes; workers are numbered in node order.
worker_plan plan_workers(const machine&, const limits&, std::optional<int> setting, bool oversubscribe = false,
                         const bind_wish& wish = {});

}  // namespace kith
