// What an engine records of itself: the run it is, the counters of its workers, marks.
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "machine/perf_events.hpp"
#include "recording/provenance.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace kith::native {

void engine::start_recording(const worker_plan& plan) {
  std::string nodes;
  for (const worker& w : workers) nodes += (nodes.empty() ? "" : " ") + std::to_string(w.node.value);
  const std::string distances = distances_text(hardware);
  std::map<std::string, std::string> about{{"engine", "native"},
                                           {"dry", options.dry ? "1" : "0"},
                                           {"policy", options.policy},
                                           {"seed", std::to_string(options.seed)},
                                           {"throttle", std::to_string(options.throttle)},
                                           {"workers", std::to_string(plan.workers)},
                                           {"worker_nodes", nodes},
                                           {"memory", options.memory.text()},
                                           {"migrate", options.migrate ? "1" : "0"},
                                           {"machine", hardware.name},
                                           {"distances", distances},
                                           {"nodes", std::to_string(hardware.nodes.size())},
                                           {"pretended", hardware.pretended ? "1" : "0"}};
  about.merge(provenance());
  try_counters(about);
  recorder_ = std::make_unique<recorder>(options.record, static_cast<std::uint32_t>(workers.size() + 1), about,
                                         !counted_.empty());
  if (options.record_addresses) recorder_->trace_accesses();
  for (worker& w : workers) w.steal_log = w.log = &recorder_->log_of(w.id.index());
  for (worker& w : workers) w.addresses = recorder_->addresses();
  outside.log = &recorder_->log_of(workers.size());
}

/// Finds out what can be counted, as far as the calling thread can tell for the workers. Reports what cannot.
void engine::try_counters(std::map<std::string, std::string>& about) {
  if (options.record_counters.empty()) return;
  const opened_counters here = open_counters(options.record_counters);
  counted_ = here.there;
  about["counters"] = counted_.text();
  if (counted_.has(counter::instructions) && the_instruction_count() != nullptr)
    about["counters_instructions"] = "blocks";
  if (!here.stalled_as.empty()) about["counters_stalled"] = here.stalled_as;
  const std::string missing = missing_counters(here);
  if (missing.empty()) return;
  about["counters_missing"] = missing;
  std::fprintf(stderr, "kith: recording %s: not counted: %s. Counted: %s\n", options.record.c_str(), missing.c_str(),
               counted_.empty() ? "nothing" : counted_.text().c_str());
}

/// Opens the worker's counters on its thread. Called once the calling thread is the worker.
void engine::begin_counting(worker& w) noexcept {
  if (counted_.empty() || w.counts.begin(options.record_counters) == counted_) return;
  if (told_of_fewer_.exchange(true, relaxed)) return;
  const std::string there = w.counts.counted().text();
  std::fprintf(stderr,
               "kith: recording %s: worker %d could not open all of its counters, and counts: %s; each worker has %zu "
               "open files for them (`ulimit -n`)\n",
               options.record.c_str(), w.id.value, there.empty() ? "nothing" : there.c_str(), counters);
}

void engine::mark(const std::string& text) {
  if (!recorder_) return;
  std::lock_guard lock(noting_);
  recorder_->of_no_seat().append_text({.kind = log_kind::mark, .middle = static_cast<std::uint32_t>(text.size())},
                                      {ticks(), 0}, text);
}

}  // namespace kith::native
