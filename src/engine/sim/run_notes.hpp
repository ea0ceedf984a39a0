// What a simulated run notes while it runs, for the recording that it becomes (schedule.cpp). The engine has one if the
// schedule is kept. Each function is called at the moment that it notes; times are simulated ones.
#pragma once

#include "engine/sim/program.hpp"
#include "queue/job.hpp"
#include "recording/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

class run_notes {
 public:
  /// Keeps what the program's recording says of its tasks and its data, and drops what the recorded run decided.
  explicit run_notes(const recording& of);

  void creation_began(std::int32_t t, picoseconds now) { task(t).created = now / 1000; }
  /// Nodes that are found have no separate beginning.
  void created(std::int32_t t, picoseconds now);
  /// Notes that a place has made a task that was created before.
  void made(std::int32_t t, picoseconds now) { task(t).create_until = now / 1000; }
  void explored(std::int32_t t, std::uint32_t worker, picoseconds began, picoseconds ended);
  void ran(std::int32_t t, std::uint32_t worker, picoseconds began, picoseconds ended);
  /// Notes that the task and its children have ended.
  void completed(std::int32_t t, picoseconds now) { task(t).completed = now / 1000; }
  void waited(std::int32_t t, std::uint32_t scope, std::uint32_t worker, picoseconds began, picoseconds ended);
  void idled(std::uint32_t worker, picoseconds began, picoseconds ended);
  void stole(std::uint32_t worker, std::uint32_t victim, picoseconds now);
  void did_job(std::uint32_t worker, job_size size, picoseconds began, picoseconds ended);
  /// Notes the region's bytes on each node, valid from `since` on, if they have changed.
  void home(std::uint32_t region, const std::vector<std::uint64_t>& bytes, picoseconds since);
  void message(const recorded_message& m) { kept_.messages.push_back(m); }

  std::size_t regions() const noexcept { return kept_.regions.size(); }
  /// Returns the notes, after the run, as a recording in which tasks, data and machine are still those of the recorded
  /// run.
  recording take();

 private:
  recorded_task& task(std::int32_t t) { return kept_.tasks[static_cast<std::size_t>(t)]; }

  recording kept_;
  std::vector<std::uint32_t> last_home_;  // by region: 1 + the first valid row of kept_.homes; 0: none
};

}  // namespace kith::sim
