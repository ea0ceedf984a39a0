#include "recording/measured_times.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kith {

namespace {

class measured_times {
 public:
  measured_times(gathered_logs& logs, const task_numbers& numbers)
      : logs_(logs), numbers_(numbers), lost_(logs.out.tasks.size()) {
    // Of two runs that begin in the same tick, the enclosing one ends later.
    std::ranges::sort(logs.runs, {},
                      [](const run_of_task& r) { return std::tuple(r.seat, r.when.begun, ~r.when.ended); });
  }

  void compute() {
    add_waits();
    subtract_recording_time();
    subtract_creation_time();
    for (const run_of_task& r : logs_.runs) {
      if (recorded_task* const t = task(r.ref)) set_run(*t, r);
    }
    for (const gathered_logs::completion& c : logs_.completions) {
      if (recorded_task* const t = task(c.task)) t->completed = logs_.ns(c.at);
    }
    set_work();
  }

 private:
  recorded_task* task(std::uint64_t ref) {
    const std::int32_t t = numbers_.task(ref);
    return t < 0 ? nullptr : &logs_.out.tasks[static_cast<std::size_t>(t)];
  }

  void add_waits() {
    for (const gathered_logs::wait& w : logs_.waits) {
      const std::int32_t t = numbers_.task(w.task);
      if (t < 0) continue;
      const auto scope = numbers_.scopes.find(w.scope);
      if (w.scope != 0 && scope == numbers_.scopes.end()) continue;  // the scope had no tasks
      const recorded_wait made{t, w.scope == 0 ? recorded_wait::for_future : scope->second,
                               static_cast<std::int16_t>(w.seat), logs_.ns(w.when.begun), logs_.ns(w.when.ended)};
      logs_.out.waits.push_back(made);
      lost_[static_cast<std::size_t>(t)] += made.ended - made.begun;
    }
  }

  /// Subtracts the time that recording took within tasks.
  void subtract_recording_time() {
    for (const gathered_logs::charge& c : logs_.charges) {
      if (const std::int32_t t = numbers_.task(c.task); t >= 0)
        lost_[static_cast<std::size_t>(t)] += logs_.ns(logs_.began + c.spent);
    }
  }

  /// Subtracts from a creator the time to create a task, less that of tasks that ran meanwhile on the same seat.
  void subtract_creation_time() {
    for (const task_created_record& b : logs_.creations) {
      recorded_task* const t = task(b.ref);
      if (t == nullptr || t->creator < 0) continue;
      if (!t->has(recorded_task::discovered)) lost_[static_cast<std::size_t>(t->creator)] += t->create_ns;
      t->create_ns -= std::min(t->create_ns, run_inside(b.seat, {b.begun, b.begun + b.took}));
    }
  }

  /// The nanoseconds for which tasks ran on the seat within an interval.
  std::uint64_t run_inside(std::uint16_t seat, interval in) const {
    std::uint64_t sum = 0;
    auto r = std::ranges::lower_bound(logs_.runs, std::pair(seat, in.begun), {},
                                      [](const run_of_task& x) { return std::pair(x.seat, x.when.begun); });
    for (std::uint64_t until = in.begun; r != logs_.runs.end() && r->seat == seat && r->when.begun < in.ended; ++r) {
      if (r->when.begun < until) continue;  // inside the previous one
      until = r->when.ended;
      sum += logs_.ns(until) - logs_.ns(r->when.begun);
    }
    return sum;
  }

  /// A task that explores runs twice; if it is cancelled while it explores, that was its only run.
  void set_run(recorded_task& t, const run_of_task& r) const {
    const bool cancelled = (r.flags & log_cancelled) != 0;
    if ((r.flags & log_explores) != 0) {
      t.explorer = static_cast<std::int16_t>(r.seat);
      t.explore_started = logs_.ns(r.when.begun);
      t.explore_ended = logs_.ns(r.when.ended);
      if (!cancelled) return;
    }
    if (cancelled) t.flags |= recorded_task::skipped;
    t.worker = static_cast<std::int16_t>(r.seat);
    t.started = logs_.ns(r.when.begun);
    t.ended = logs_.ns(r.when.ended);
  }

  void set_work() {
    const bool dry = logs_.out.meta_or("dry", "0") == "1";
    // The places have more threads than this machine has cores, so the time of tasks was not measured.
    const bool nothing_measured = dry && logs_.place.present;
    for (std::size_t i = 0; i < logs_.out.tasks.size(); ++i) {
      recorded_task& t = logs_.out.tasks[i];
      const std::uint64_t whole = t.ended - t.started;
      // A task that ran took time, whatever was subtracted: in simulated runs, too, the order of tasks is that
      // of their times.
      t.work_ns = std::max(whole - std::min(whole, lost_[i]), std::min<std::uint64_t>(whole, 2));
      if (nothing_measured) t.work_ns = 0;
      if (dry && numbers_.work[i] >= 0) t.work_ns = static_cast<std::uint64_t>(numbers_.work[i]);
    }
  }

  gathered_logs& logs_;
  const task_numbers& numbers_;
  std::vector<std::uint64_t> lost_;  // by task: time in which the task itself did not compute
};

}  // namespace

void set_measured_times(gathered_logs& logs, const task_numbers& numbers) { measured_times(logs, numbers).compute(); }

}  // namespace kith
