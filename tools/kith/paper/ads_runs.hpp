// Runs of the ADS paper's programs on modelled machines with places.
#pragma once

#include "engine/sim/simulation.hpp"
#include "machine/model.hpp"
#include "paper/reproduction.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::tools {

inline constexpr std::int64_t kilo = 1024;

/// How the tasks of a program are scheduled.
enum class ads_way : std::uint8_t {
  ads,      // as printed
  cws,      // one group of workers that steals from all
  cilk,     // the same, with the deques of `steal`: for original Cilk (the paper's CORG)
  by_hand,  // the paper's Custom: MPI and threads
};

/// One run. `size` is heat's rows, the molecules, or the class of NPB's CG.
struct ads_run {
  std::string program;  // heat, md or cg
  std::int64_t size = 0, columns = 4096;
  int places = 1, workers = 1;  // of each place
  ads_way way = ads_way::ads;
  sim::model_parts parts = {};
  bool works = false;    // a worker that waits for an answer runs other tasks
  bool by_tree = false;  // a step's activities go from place to place, not all from the first one
  int regions = 0;       // of molecules that feel each other; 0: one for each place, as printed
};

/// Means over the seeds, for the whole program, of which a few steps are simulated.
struct ads_means {
  double seconds = 0;
  // A worker's time without a task, as the paper's thieves spend it: in turn a look at another worker's deque and
  // one at the buffer. How long each takes is the machine's. And how many there are.
  double steal_seconds = 0, fab_seconds = 0, steal_attempts = 0, fab_attempts = 0;
  double steals = 0;                                                  // of all workers
  double fab_mean = 0, fab_peak = 0, deque_mean = 0, deque_peak = 0;  // peaks: the largest
  double refused = 0, messages = 0;
  double depth = 0;  // the longest chain of tasks, each created by the one before
};

/// The times of one worker's looks while it has no task.
struct looks {
  double steal_ns = 0, fab_ns = 0;  // 0: no look of this kind
};
looks looks_of_run(const machine_model&, const ads_run&);

/// The machine with its cores at the speed of their clocks: apps/rates.hpp has the rates of cores of 2.5 GHz. With
/// `places`, the machine is sized to that many hosts.
machine_model ads_machine(const std::string& name, int places = 0);

/// Makes several runs at once, one for each core. Returns them in their order.
std::vector<ads_means> run_ads(const machine_model&, const std::vector<ads_run>&, int seeds, const paper_progress&);

}  // namespace kith::tools
