#include "engine/native/engine.hpp"

#include "engine/native/binding.hpp"
#include "engine/native/create.hpp"
#include "engine/native/inherited.hpp"
#include "machine/perf_events.hpp"
#include "policy/contract/policy_options.hpp"
#include "recording/provenance.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace kith::native {

namespace {

/// For each worker the node that its memory comes from, so that homes are where the pages are.
std::vector<node_id> nodes_of(const machine& on, const worker_plan& plan) {
  std::vector<node_id> nodes;
  for (core_id c : plan.cores) nodes.push_back(on.nearest_node_with_memory(on.cores[c.index()].node));
  return nodes;
}

/// The cores of workers that do not leave their caches; empty: they may.
std::span<const core_id> cores_of(const machine& on, const worker_plan& plan) {
  const bool stay = on.pretended || plan.bound == bind_mode::cores || plan.bound == bind_mode::caches;
  return stay ? std::span(plan.cores) : std::span<const core_id>();
}

thread_affinity affinity_of(const machine& on, const worker_plan& plan, std::size_t w) {
  const node_id own = on.cores[plan.cores[w].index()].node, from = on.nearest_node_with_memory(own);
  return {plan.bound_to[w], own == from || on.pretended ? -1 : on.nodes[from.index()].os_index};
}

atomic<std::uint64_t> engines_made{0};

}  // namespace

engine::engine(machine on, const worker_plan& plan, engine_options o)
    : number(engines_made.fetch_add(1, relaxed) + 1),
      hardware(std::move(on)),
      options(std::move(o)),
      parked(plan.workers),
      together(plan.workers),
      workers_where(hardware, nodes_of(hardware, plan), cores_of(hardware, plan)),
      distance(plan.workers),
      memory(hardware, nodes_of(hardware, plan), workers_where.served_by(), regions, {options.memory, options.dry}),
      outside(*this, space, static_cast<std::uint16_t>(plan.workers)) {
  for (std::size_t w = 0; w < plan.cores.size(); ++w) {
    const worker_id id(static_cast<int>(w));
    workers.emplace_back(*this, id, workers_where.node_of(id), affinity_of(hardware, plan, w));
  }
  policy.set(choose_policy<world>(options.policy, context_of_policy()));
  if (policy.has_gate()) {
    identities.reserve();  // and all workers are to look before it is asked for what it holds back
  } else {
    parked.bound(options.awake);
  }
  if (options.calibrate != 0) {
    if (plan.workers != 1)
      throw error("KITH_CALIBRATE: expected one worker (KITH_WORKERS=1), got " + std::to_string(plan.workers),
                  error_kind::setting);
    std::uint64_t own = 1 << 18;
    for (const machine::cache& c : hardware.caches) {
      if (c.cores.size() == 1) own = std::max(own, c.bytes);
    }
    calibrator = std::make_unique<native::calibrator>(regions, options.calibrate, own);
  }
  track_homes = policy.needs_homes() || hardware.nodes.size() > 1 || calibrator != nullptr;
  baseline_.resize(workers.size());
  if (!options.record.empty()) {
    start_recording(plan);
    memory.when_released([this](const memory_block& b) { note(b, log_kind::given_back); });
  }
  keeps_accesses = track_homes || policy.needs_accesses() || policy.has_gate() || options.throttle_bytes != 0;
  const bool plain =
      recorder_ == nullptr && !track_homes && !policy.has_gate() && !options.dry && options.throttle_bytes == 0;
  creation_rule at_creation = creation_rule::none;
  if (policy.leaves_short_tasks() && !policy.observes_creation()) {
    if (options.inline_limit < 0) at_creation = creation_rule::short_ones;
    if (options.inline_limit == 1) at_creation = creation_rule::all;
  }
  for (worker& w : workers) {
    w.runs_plainly = plain;
    w.at_creation = at_creation;
    w.creates_plainly =
        plain && !keeps_accesses && !options.check_handles && !policy.observes_creation() && options.inline_limit <= 0;
    if (begins_asleep(w)) parked.begin_asleep(w.id);
  }
  join_engines(*this);
  try {
    threads_.reserve(workers.size());
    for (std::size_t w = 1; w < workers.size(); ++w) {
      threads_.emplace_back(
          "kith-" + std::to_string(w), options.stack_bytes, [this, w] { worker_main(workers[w]); },
          home_of_stack(workers[w]));
    }
  } catch (...) {
    stopping.store(true, seq_cst);
    parked.wake_all();
    threads_.clear();
    leave_engines(*this);
    throw;
  }
}

policy_context engine::context_of_policy() {
  return {workers_where, regions, options.seed, memory.view(), &identities, memory.own()};
}

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

// docs/shutdown.md gives the order and the reasons.
engine::~engine() {
  KITH_INVARIANT(worker::current() == nullptr || &worker::current()->engine != this,
                 "a runtime is not destroyed by its own task");
  outside.wait_until_empty();
  stopping.store(true, seq_cst);
  parked.wake_all();
  threads_.clear();  // joins
  outside.notify();
  stand_in_.reset();  // joins
  leave_engines(*this);
  if (!policy.has_gate()) {
    for (worker& w : workers) w.drop_dead_entries();
  }
  memory.when_released(nullptr);
  if (recorder_) recorder_->keep_homes(regions);
  if (const std::string word = policy.final_error(); !word.empty()) std::fprintf(stderr, "kith: %s\n", word.c_str());
}

/// There is no work yet, so workers beyond the bound need not look for any.
bool engine::begins_asleep(const worker& w) const noexcept {
  return parked.has_bound() && w.id.value >= std::max(1, options.awake);
}

void engine::worker_main(worker& w) {
  const binding bound(w.binding);
  const worker::on_stack here(w);
  begin_counting(w);
  // When it is woken, it looks at everything before it sleeps again. There may be work for others, too (S6 of
  // sleepers.hpp).
  if (begins_asleep(w) && w.sleep(false) == wake_reason::work) parked.found_work();
  w.start_busy();
  w.serve_until([this] { return stopping.load(relaxed); });
}

/// Worker 0 while tasks from outside are unfinished and no guest is worker 0.
void engine::stand_in_main() {
  for (;;) {
    {
      std::unique_lock lock(outside.guard);
      outside.changed.wait(lock, [this] { return stopping.load(relaxed) || outside.unfinished() != 0; });
      if (stopping.load(relaxed)) return;  // no task is unfinished then
    }
    std::lock_guard seat(seat_0_);
    worker& w = workers[0];
    const binding bound(w.binding);
    const worker::on_stack here(w);
    begin_counting(w);
    begin_run();
    w.start_busy();
    w.serve_until([this] { return outside.unfinished() == 0; });
    if (inherited()) end_forked_process();
    w.finish_suspended();
    w.stop_busy();
    w.report();
    end_run();
  }
}

void engine::arrive(task& t) noexcept {
  arrivals.push(t);
  parked.wake_one(workers_where.everybody());
}

void engine::outside_changed() noexcept {
  outside.notify();
  parked.wake(worker_id(0));  // the stand-in, if it sleeps on that seat
}

void engine::begin_run() noexcept {
  std::lock_guard lock(running_);
  if (runs_++ != 0) return;
  policy.run_began();
  run_began.store(ticks(), relaxed);
  run_number.store(run_number.load(relaxed) + 1, relaxed);
}

void engine::end_run() noexcept {
  std::lock_guard lock(running_);
  if (--runs_ == 0) run_ticks_ += ticks() - run_began.load(relaxed);
}

namespace {

/// A run that another thread waits for. The run ends with this task, even if the task is refused (by `replay`)
/// and never runs.
class handed_over {
 public:
  handed_over(std::shared_ptr<detail::completion> ended, std::exception_ptr& failure, void* context, void (*f)(void*))
      : ended_(std::move(ended)), failure_(failure), context_(context), f_(f) {}
  handed_over(handed_over&&) noexcept = default;
  ~handed_over() {
    if (!ended_) return;
    if (!ran_)
      failure_ = std::make_exception_ptr(
          error("runtime::run(): the function was cancelled before it started", error_kind::cancelled));
    ended_->complete();
  }
  void operator()() noexcept {
    ran_ = true;
    failure_ = worker::current()->run_apart(context_, f_);
  }

 private:
  std::shared_ptr<detail::completion> ended_;  // shared, because complete() still uses it when the caller has returned
  std::exception_ptr& failure_;
  void* context_;
  void (*f_)(void*);
  bool ran_ = false;
};

}  // namespace

/// Not locked if the stand-in needs the seat, or another thread runs as worker 0. Runs that are recorded or replayed
/// must be the same each time, so they wait for a stand-in that is about to leave.
std::unique_lock<std::mutex> engine::take_seat_0() {
  std::unique_lock seat(seat_0_, std::try_to_lock);
  while (!seat.owns_lock() && (policy.has_gate() || recorder_ != nullptr) && outside.unfinished() == 0 &&
         !guest_.load(relaxed)) {
    std::this_thread::yield();
    seat.try_lock();
  }
  return seat;
}

void engine::run_root(void* context, void (*f)(void*)) {
  refuse_inherited("runtime::run()");
  std::exception_ptr failure;
  worker* const here = worker::current();
  if (here != nullptr) here->report();                                       // C1 of scope.hpp: this may take long
  if (worker* const mine = worker::find_on_stack(*this); mine != nullptr) {  // inside a task of this runtime
    failure = mine->run_on_top(context, f);
  } else if (std::unique_lock seat = take_seat_0(); seat.owns_lock()) {
    guest_.store(true, relaxed);
    worker& w = workers[0];
    const binding bound(w.binding);
    const worker::on_stack as_worker_0(w);
    begin_counting(w);
    detail::scope* const no_task = std::exchange(w.task_scope, nullptr);
    begin_run();
    w.start_busy();
    const std::uint64_t root_before = std::exchange(w.root, ++roots_ << 32);
    const identity::naming_state named_before = std::exchange(w.naming, {identity::of_root(roots_)});
    const std::uint64_t began = w.log != nullptr ? w.log->root(w.root) : 0;
    std::uint64_t ended = 0;
    {
      const counted_body counted(w.counts, w.log, w.root, ended);
      const traced_body traced(w.addresses, w.root);
      failure = w.run_apart(context, f);
    }
    refuse_inherited("runtime::run()");  // throws if f has forked and this is the child
    if (w.log != nullptr) w.log->executed(w.root, began, ended != 0 ? ended : ticks(), 0);
    w.root = root_before;
    w.naming = named_before;
    w.finish_suspended();
    w.stop_busy();
    w.report();
    end_run();
    w.task_scope = no_task;
    guest_.store(false, relaxed);
  } else {  // another thread is worker 0: hands the function over
    auto ended = std::make_shared<detail::completion>();
    submit_outside(handed_over(ended, failure, context, f));
    ended->wait({}, detail::at_stack_limit::exceed);  // what runs there uses this stack
  }
  if (failure) std::rethrow_exception(std::move(failure));
}

void engine::start_stand_in() {
  std::call_once(stand_in_started_, [this] {
    stand_in_ =
        std::make_unique<thread>("kith-0", options.stack_bytes, [this] { stand_in_main(); }, home_of_stack(workers[0]));
  });
}

}  // namespace kith::native
