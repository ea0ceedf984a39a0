// What a runtime is made of: how it begins and ends. runs.cpp has the threads that work in it, engine_recording.cpp
// what it records.
#include "engine/native/engine.hpp"

#include "engine/native/binding.hpp"
#include "engine/native/inherited.hpp"
#include "policy/contract/policy_options.hpp"

#include <algorithm>
#include <cstdio>
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
  decide_paths();
  for (const worker& w : workers) {
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

/// Decides what the path of a task through this engine leaves out, and which tasks run at their creation.
void engine::decide_paths() noexcept {
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
  }
}

policy_context engine::context_of_policy() {
  return {workers_where, regions, options.seed, memory.view(), &identities, memory.own()};
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

void engine::arrive(task& t) noexcept {
  arrivals.push(t);
  parked.wake_one(workers_where.everybody());
}

void engine::outside_changed() noexcept {
  outside.notify();
  parked.wake(worker_id(0));  // the stand-in, if it sleeps on that seat
}

}  // namespace kith::native
