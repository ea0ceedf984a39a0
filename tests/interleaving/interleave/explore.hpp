// The interleaving checker: runs a small program under every schedule with few preemptions. For tests;
// docs/interleaving.md says what it finds and what it cannot find.
//
//   auto r = interleave::explore({.preemptions = 3}, [](interleave::program& p) {
//     auto s = std::make_shared<state>();                    // made anew for each schedule
//     p.thread([=] { s->flag.store(1, kith::release); });    // kith::atomic operations are scheduling points
//     p.thread([=] { ... });
//     p.after([=] { interleave::check(s->sum == 2, "the sum is 2"); });
//   });
//   EXPECT_TRUE(r.ok) << r.report;
#pragma once

#include "interleave/ordering.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace kith::interleave {

struct options {
  int preemptions = 2;                       // bounds 0, 1, ... up to this one are explored in turn
  bool store_buffers = true;                 // total store order; false: sequential consistency
  bool spurious_wakes = false;               // a futex wait may return spuriously, at the cost of one preemption
  int max_steps = 2000;                      // of one thread in one schedule; more is a failure: no progress
  std::uint64_t max_schedules = 20'000'000;  // more is a failure, so that nothing is left out silently
  std::string replay = {};                   // result::schedule of a failure: runs only this schedule
  std::optional<ordering> weaken = {};       // the ordering that has no effect, to see that it is needed
};

struct result {
  bool ok = true;
  std::uint64_t schedules = 0;
  int preemptions = 0;              // the bound with which the failure was found, or the last one explored
  bool exhaustive = false;          // no schedule was left out for its number of preemptions
  std::vector<ordering> orderings;  // stronger than relaxed, used by the program
  std::string failure;              // one line
  std::string schedule;             // of the failure, for options::replay
  std::string report;               // failure, schedule, and what happened step by step
};

/// The program, which the function passed to explore() defines.
class program {
 public:
  /// Adds a thread; at most 7.
  void thread(std::function<void()> body, std::string name = "");
  /// Runs after all threads have ended, and sees everything that they did.
  void after(std::function<void()> body);

 private:
  friend class explorer;
  struct part {
    std::function<void()> body;
    std::string name;
  };
  std::vector<part> threads_;
  std::function<void()> after_;
};

/// Calls `build` for each schedule and runs the program it describes. Stops at the first failure.
result explore(const options&, const std::function<void(program&)>& build);

/// Ends the schedule as a failure unless `holds`.
void check(bool holds, const char* claim, std::source_location where = std::source_location::current());

/// Names an atomic (or cell) in reports.
void name(const void* object, std::string text);

}  // namespace kith::interleave
