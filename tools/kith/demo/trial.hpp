// Repeated runs of a program under several policies, side by side. For `kith demo`.
#pragma once

#include "apps/app.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kith::tools {

/// A figure of repeated runs.
struct spread {
  std::vector<double> runs;

  double median() const;
  double least() const;
  double most() const;
  /// Whether every run of this one lies below every run of the other: what can be told apart without doubt.
  bool clearly_below(const spread& other) const { return most() < other.least(); }
};

struct policy_runs {
  std::string policy;
  spread seconds;          // of the work itself
  spread remote_percent;   // of accesses, with more than one node
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
  std::string checked;             // what the verifier said last
};

struct trial_plan {
  std::string program;
  std::string machine;  // empty: this machine
  std::vector<std::string> policies;
  int rounds = 1;      // each runs every policy once; one more, uncounted, comes first
  double seconds = 0;  // after that long no further round is begun, once there were three
};

/// Runs them in turn: what disturbs the machine for a while disturbs all policies alike. `progress` is called before
/// each run.
trial run_trial(apps::app&, const trial_plan&, const machine& on,
                const std::function<void(const std::string& policy, int round)>& progress);

}  // namespace kith::tools
