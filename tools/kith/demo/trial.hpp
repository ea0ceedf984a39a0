// Repeated runs of a program under several policies, side by side. For `kith demo`.
#pragma once

#include "apps/app.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kith::tools {

/// The values of one figure over repeated runs.
struct spread {
  std::vector<double> runs;

  double median() const;
  double least() const;
  double most() const;
  /// True if every run of this one is below every run of the other.
  bool clearly_below(const spread& other) const { return most() < other.least(); }
};

struct policy_runs {
  std::string policy;
  spread seconds;          // of the work itself
  spread remote_percent;   // share of the accesses; only with more than one node
  spread balance_percent;  // of tasks over nodes; with one node, of busy time over workers
  spread steals;
  std::uint64_t tasks = 0;  // of one run
};

struct trial {
  std::string program;
  const machine* on;
  bool pretended = false;
  int workers = 0;
  std::vector<policy_runs> policies;
  std::vector<std::string> wrong;  // one sentence for each run whose result was wrong
  std::string checked;             // the verifier's last message
};

struct trial_plan {
  std::string program;
  std::string machine;  // empty: this machine
  std::vector<std::string> policies;
  int rounds = 1;      // each round runs every policy once; one more round, not counted, comes first
  double seconds = 0;  // no round begins after this time, once there were three
};

/// Runs the policies in turn, so that a temporary disturbance of the machine affects all of them alike. `progress` is
/// called before each run.
trial run_trial(apps::app&, const trial_plan&, const machine& on,
                const std::function<void(const std::string& policy, int round)>& progress);

}  // namespace kith::tools
