// The life of a task from ready to ended.
#include "engine/native/worker.hpp"
#include "engine/life/claim.hpp"
#include "engine/life/first_touch.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"
#include "task/turns.hpp"

namespace kith::native {

namespace {

thread_local constinit worker* this_thread = nullptr;

}  // namespace

worker::worker(native::engine& owner, worker_id self, node_id at, thread_place on)
    : native_seat(owner, owner.space, static_cast<std::uint16_t>(self.value), true),
      worker_view(self, at, owner.parked),
      place(std::move(on)),
      mover_(owner.memory),
      homes_(owner.memory),
      stacks_(owner.options.stack_bytes) {
  batch_.reserve(64);
  jobs = &owner.jobs;
  drop_dead_task = [](worker_view& me, task& t) {
    if ((t.flags & task::claimable) == 0 || !life::is_dead(t.state)) return false;
    return !static_cast<worker&>(me).take(t);
  };
  together = &owner.together;
  naming_of_innermost = &naming;
}

worker* worker::current() noexcept { return this_thread; }

worker* worker::take_thread() noexcept {
  const worker* const below_here = this_thread;  // its stack may not be the thread's own
  stack_limit = below_here != nullptr && below_here != this ? below_here->stack_limit : stack_bottom();
  return std::exchange(this_thread, this);
}

void worker::leave_thread(worker* before) noexcept { this_thread = before; }

void worker::give_slot(slot_index i) {
  slots.give(i, [this](std::uint16_t owner) -> slot_cache& { return engine.slots_of(owner); });
}

task* worker::run(task& t) {
  if ((t.flags & task::claimable) != 0 && std::exchange(claimed_, nullptr) != &t && !take(t)) return nullptr;
  if (reporting_ != nullptr && reporting_ != t.scope) [[unlikely]]
    report();  // C1: t may take long
  const detail::outcome how = execute(t);
  if (how == detail::outcome::held) {
    const bool held = !std::exchange(nothing_held_, false);
    if (detail::scope* const children = std::exchange(left_children_, nullptr); children != nullptr) {
      if (leave(t, *children, held)) return nullptr;
    }
    if (held) t.code(t.closure(), detail::action::discard);
  } else if (how != detail::outcome::ended) [[unlikely]] {
    return end_phase(t, how);
  }
  return end(t);
}

/// The task came out of a queue. True if this worker must run it; false if another worker has claimed it.
bool worker::take(task& t) {
  const life::taken_entry entry = life::take(t.state);
  if (entry == life::taken_entry::runs) [[likely]]
    return true;
  if (entry == life::taken_entry::last) {
    free_room(t);
    give_slot(engine.space.index_of(t));
  }
  return false;
}

/// Runs the body. If the body did not wait for its children, their scope goes to left_children_, and the result
/// is `held`.
detail::outcome worker::execute(task& t) {
  edges::free_overflow(engine.space, t, [this](slot_index b) { give_slot(b); });
  detail::scope& s = *t.scope;
  detail::outcome how = detail::outcome::ended;
  const bool timed = timing_;
  timing_ = false;  // not for tasks that run inside t
  std::uint64_t began = log != nullptr || timed ? ticks() : 0;
  std::uint8_t noted = t.exploring != 0 ? log_explores : std::uint8_t{0};
  if ((t.flags & task::skip) != 0 || s.is_cancelled()) {
    t.code(t.closure(), detail::action::discard);
    const bool dry = engine.options.dry && !s.is_cancelled();
    sums.add(dry ? event::task_executed : event::task_cancelled);
    if (!dry) noted |= log_cancelled;
  } else {
    if (engine.track_homes && t.exploring == 0) count_accesses(t, began);
    task* const outer = std::exchange(running, &t);
    detail::scope* const outer_scope = std::exchange(task_scope, &s);
    detail::scope* const outer_children = std::exchange(children_scope, nullptr);
    identity::creator outer_naming;
    if (engine.policy.has_gate()) [[unlikely]]
      outer_naming = std::exchange(naming, {engine.identities.identity_of(t)});
    try {
      how = log != nullptr ? run_recorded(t, began) : t.code(t.closure(), detail::action::run);
    } catch (...) {
      how = detail::outcome::held;
      s.fail(std::current_exception());
      if (children_scope != nullptr) children_scope->cancel();
    }
    if (children_scope != nullptr) [[unlikely]] {
      if (how == detail::outcome::again || how == detail::outcome::generated) {  // keeps `said` over the wait
        const phase mine = std::exchange(said, {});
        if (std::exception_ptr failure = end_children()) s.fail(std::move(failure));
        said = mine;
      } else {
        left_children_ = children_scope;
        nothing_held_ = how == detail::outcome::ended;
        how = detail::outcome::held;
      }
    }
    if (engine.policy.has_gate()) [[unlikely]]
      naming = outer_naming;
    running = outer;
    task_scope = outer_scope;
    children_scope = outer_children;
    sums.add(how == detail::outcome::again ? event::node_explored : event::task_executed);
    if (timed) [[unlikely]]
      tell_time(t, ticks() - began);
  }
  if (log != nullptr) [[unlikely]]
    note_executed(t, began, noted);
  return how;
}

void worker::tell_time(const task& t, std::uint64_t took) {
  engine.policy.ran(t, *this, static_cast<std::uint64_t>(static_cast<double>(took) * seconds_per_tick() * 1e9));
}

/// Runs the task's code; calibrates some tasks. Sets `began` to the start of the body.
detail::outcome worker::run_recorded(task& t, std::uint64_t& began) {
  if (engine.calibrator != nullptr && engine.calibrator->takes(t)) {
    const detail::outcome how = engine.calibrator->run(*this, t);
    if (how != detail::outcome::unable) return how;
  }
  if (engine.track_homes || engine.calibrator != nullptr)
    began = ticks();  // restart the clock: counting homes is not charged to the task
  return t.code(t.closure(), detail::action::run);
}

void worker::note_executed(task& t, std::uint64_t began, std::uint8_t noted) {
  const std::uint64_t ref = edges::reference_to(engine.space, t).packed().value;
  if (engine.calibrator != nullptr) {
    if (const std::optional<native::calibrator::sample> s = engine.calibrator->take_sample(t)) {
      log->executed(ref, s->began, s->ended, noted);
      if (s->cold != 0) log->sampled(ref, s->cold, s->warm, s->hot);
      return;
    }
  }
  log->executed(ref, began, ticks(), noted);
}

std::uint64_t worker::running_ref() const noexcept {
  return running != nullptr ? edges::reference_to(engine.space, *running).packed().value : root;
}

/// Notes first touch, and counts remote accesses.
void worker::count_accesses(task& t, std::uint64_t began) {
  life::remote_count count(node);
  for (kept_access a : t.access_list()) {
    region& r = engine.regions[a.region];
    const bool untouched = r.home.load(relaxed) == region::no_home || r.promised.load(relaxed);
    const auto bind = [this](region& placed) { engine.memory.bind(placed); };
    const life::first_touch touched = life::touch(engine.memory.view(), r, a, node, by_node_, bind);
    if (touched.placed) sums.add(event::region_placed);
    if (untouched) [[unlikely]]
      homes_.add(r);
    if (log != nullptr && r.recorded.load(relaxed) != r.home.load(relaxed)) [[unlikely]]
      note_home(r, began);
    if (engine.options.migrate && a.how != mode::in && r.home_node() != node) mover_.add(r, a.bytes());
    count.access(a, touched.at, t.colored != 0);
  }
  if (t.color >= 0) count.task_belongs_to(life::node_of_color(engine.workers_where, t.color));
  sums.add(event::remote_access, count.remote());
  sums.add(event::local_access, count.local());
  if (engine.options.migrate && mover_.full()) move_pages();
  if (homes_.full()) [[unlikely]]
    check_homes();
}

/// Records the region's home: the task that started at `began` is the first to find it there.
void worker::note_home(region& r, std::uint64_t began) {
  const std::int32_t at = r.home.load(relaxed);
  if (r.recorded.exchange(at, relaxed) == at) return;
  by_node_.assign(engine.hardware.nodes.size(), 0);
  engine.memory.view().add_bytes(r, r.bytes.load(relaxed), by_node_);
  for (std::size_t n = 0; n < by_node_.size(); ++n) {
    if (by_node_[n] != 0) log->home(r.address, by_node_[n], node_id(static_cast<int>(n)), began);
  }
}

void worker::move_pages() { sums.add(event::migrated, mover_.move(node)); }

void worker::check_homes() {
  const home_check::result found = homes_.look();
  sums.add(event::home_asked, found.asked);
  sums.add(event::home_elsewhere, found.elsewhere);
}

void worker::run_at_creation(task& t) {
  if (!may_nest()) {
    requeue(&t);
    return;
  }
  sums.add(event::task_inlined);
  requeue(run(t));
}

detail::scope& worker::children() {
  if (children_scope == nullptr) children_scope = &open_scope(*this, task_scope);
  return *children_scope;
}

std::exception_ptr worker::end_children() {
  tell_waiting();
  std::exception_ptr refused;
  try {
    wait_for(children_scope, "the wait for what a run created");
  } catch (...) {  // no stack was left for the wait
    refused = std::current_exception();
  }
  if (children_scope == nullptr) return refused;
  std::exception_ptr failure = children_scope->take_failure();
  give_scope(*children_scope);
  children_scope = nullptr;
  return failure ? failure : refused;
}

void worker::tell_waiting() {
  if (children_scope != nullptr) engine.policy.waiting(*this);
}

void worker::wait_for_children() {
  if (children_scope == nullptr) return;
  tell_waiting();
  wait_for(children_scope, "kith::wait()");
  if (std::exception_ptr failure = children_scope->take_failure()) std::rethrow_exception(std::move(failure));
}

}  // namespace kith::native
