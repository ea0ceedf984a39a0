// What this process may use of its machine, and the number of workers that follows from it.
//
// Reads only files (/proc, the cgroup tree) and environment variables, so that tests can supply their own tree.
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

/// The most threads in one engine; a larger number is regarded as a mistake.
inline constexpr int most_workers = static_cast<int>(var::workers.most);

/// This process's rank among those that a launcher has started on this machine.
struct local_rank {
  int rank = 0, ranks = 1;
  std::string from;  // the variable that it was read from
};

struct limits {
  std::optional<std::vector<int>> affinity;  // CPUs in the affinity mask, ascending; none: not known
  std::optional<double> quota;               // CPU time, in CPUs, of the tightest cgroup; none: unlimited
  std::string quota_from;                    // the file that it was read from
  std::optional<int> slurm;                  // CPUs that Slurm allots to this task
  std::string slurm_from;                    // the variable that it was read from
  std::optional<local_rank> rank;            // among the processes of an MPI program on this machine
  std::vector<std::string> notes;            // one sentence for each thing that could not be read or understood
};

using variables = std::function<std::optional<std::string>(const char*)>;

/// Reads below `root`, as if that were "/". Absent data means no limit; invalid data means no limit, and a note.
limits read_limits(const std::filesystem::path& root = "/", const variables& lookup = environment);
/// The limits of this process. Read once, before Kith binds any thread, because later the mask may be that of a
/// bound worker.
const limits& process_limits();

/// The most CPUs that the process can keep busy at a time: those of its mask, or fewer by its quota. At least 1.
int usable_cpus(const limits&) noexcept;

struct worker_plan {
  struct limit {
    std::string name;
    std::optional<int> value;  // none: no limit
    std::string note;
  };
  int workers = 0;
  std::vector<core_id> cores;              // by worker; shared round robin if there are more workers than cores
  std::vector<int> cpus;                   // by worker, one CPU of its core; -1: not known, or the core is shared
  bool cores_shared = false;               // more workers than cores; always so on a pretended machine
  bind_mode bound = bind_mode::off;        // in effect, never automatic
  std::vector<std::vector<int>> bound_to;  // the CPUs that worker w is bound to; empty: it is not bound
  std::vector<limit> limits;               // all limits that were considered
  std::string decided_by;                  // the name of the limit that decided
  bool clamped = false;                    // fewer workers than the setting asked for
};

/// The option if there is one, else KITH_WORKERS if set. Throws kith::error for a value out of range.
std::optional<int> workers_setting(std::optional<int> option = {});
/// The option if there is one, else KITH_OVERSUBSCRIBE (0 or 1), else false.
bool oversubscribe_setting(std::optional<bool> option = {});

/// The wanted binding of workers.
struct bind_wish {
  bind_mode mode = bind_mode::automatic;
  /// As cpu_claims::take. Called if some cores will stay free; cores that others use are then taken last.
  /// Empty: not called.
  std::function<bool(int cpu, int level)> claim = {};
};

/// The number of workers is the least of: the setting, Slurm's allotment, the affinity mask, the quota rounded
/// up, and the cores that the mask allows (this rank's share of them, if ranks of an MPI program have no masks
/// of their own). On a pretended machine: the setting and its cores. With `oversubscribe`: only the setting.
/// The cores are the fastest ones, spread evenly over the nodes, and over the caches if workers are bound to these;
/// workers are numbered in node order.
worker_plan plan_workers(const machine&, const limits&, std::optional<int> setting, bool oversubscribe = false,
                         const bind_wish& wish = {});

}  // namespace kith
