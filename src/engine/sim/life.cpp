// How tasks run (create.cpp has their creation, ends.cpp their ends). It follows the native engine's task_run.cpp; the
// order of calls to the policy is the same.
#include "engine/life/claim.hpp"
#include "engine/life/first_touch.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/sim/engine.hpp"
#include "engine/sim/node_time.hpp"
#include "task/closure_room.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace kith::sim {

void engine::step(worker& w) {
  if (w.current_job != nullptr) {
    end_job(w);
    return;
  }
  if (w.frames.empty()) {
    if (!w.suspended.empty() && switch_stack(w)) return;
    if (begin_due_root(w)) return;
    if (w.next >= 0) {
      start(w, std::exchange(w.next, -1));
    } else {
      search(w);
    }
    return;
  }
  frame& f = w.frames.back();
  switch (f.state) {
    case frame_state::running: run_action(w); return;
    case frame_state::fetching: fetch_chunk(w, f); return;
    case frame_state::replaying: replay(w, f); return;
    case frame_state::exploring: explore(w); return;
    case frame_state::waiting:
    case frame_state::helping:
    case frame_state::offering: break;
  }
  if (!may_resume(f)) {
    if (switch_stack(w) || begin_due_root(w)) return;
    if (w.next >= 0) {
      run_found(w, std::exchange(w.next, -1));
    } else {
      search(w);
    }
    return;
  }
  if (w.next >= 0) requeue(w, std::exchange(w.next, -1));  // the code that waited continues first
  if (f.state == frame_state::waiting) {
    scopes_[f.scope].waiter = -1;
    if (notes_) notes_->waited(f.task, f.scope, w.number, f.wait_began, w.clock);
    w.group.policy.idle(w);
    w.frames.back().state = frame_state::running;
  } else if (f.state == frame_state::offering) {
    w.group.policy.idle(w);
    w.frames.back().state = frame_state::running;
  } else {
    end_help(w);
  }
}

/// Whether the last frame of a stack may continue.
bool engine::may_resume(const frame& wait) const {
  if (wait.state == frame_state::offering) {
    return wait.asked >= 0 ? requests_[static_cast<std::size_t>(wait.asked)].reply_arrived
                           : records_[static_cast<std::size_t>(wait.offered)].accepted;
  }
  const scope_state& s = scopes_[wait.scope];
  return wait.state == frame_state::waiting ? s.unfinished == s.held : throttle_.is_below_low_mark(s.unfinished);
}

/// Notes the worker that ran the task, from which the task's deliveries come.
void engine::note_worker(std::int32_t t, const worker& w) {
  if (!ran_on_.empty()) ran_on_[static_cast<std::size_t>(t)] = static_cast<std::int16_t>(w.id.value);
}

/// Tells the policy which workers have delivered the task's references. All have been delivered: the task is ready.
void engine::name_passers(const task_record& t) {
  if (ran_on_.empty()) return;
  std::byte* kept = t.slot->access_bytes();
  std::uint32_t at = t.first_access;
  for (kept_access a : t.slot->access_list()) {
    const std::int32_t passed_by = program_.passed_by[at++];
    const int passer = passed_by < 0 ? -1 : ran_on_[static_cast<std::size_t>(passed_by)];
    a = kept_access(a.region, a.bytes(), a.how, passer);
    std::memcpy(kept, &a, sizeof a);
    kept += sizeof a;
  }
}

/// True if this worker must run the task; false if it was claimed.
bool engine::take(std::int32_t t) {
  task_record& r = record_of(t);
  if (!r.has(recorded_task::listed)) {
    r.state = task_state::running;
    return true;
  }
  const life::taken_entry entry = life::take(life::sequential_state{r.state});
  if (entry == life::taken_entry::last) forget(t);
  return entry == life::taken_entry::runs;
}

bool engine::drop_if_dead(task& t) {
  const std::int32_t n = as_policy_task(t).number();
  return life::is_dead(life::sequential_state{state_of(n)}) && !take(n);
}
bool worker::drop_if_dead(task& t) { return engine.drop_if_dead(t); }

void engine::start(worker& w, std::int32_t t, bool at_creation) {
  if (w.claimed == t) {
    w.claimed = -1;
  } else {
    if (!take(t)) return;
  }
  const task_record& r = record_of(t);
  const bool explores = r.has(recorded_task::keyed) && !r.explored;
  const std::uint32_t stack_base = lines_ ? lines_in_use(w, t) : 0;
  frame& f = w.frames.emplace_back(t, r.first_action, w.clock);
  f.stack_base = stack_base;
  f.state = explores ? frame_state::exploring : frame_state::running;
  f.at_creation = at_creation;
  if (policy().has_gate()) f.naming.self = identities_.identity_of(t);
  note_worker(t, w);
  if (explores) return;
  count_accesses(w, f);
  if (network_ && r.arrived) {
    record_of(t).arrived = false;
    --places_[w.group.place].fab;
  }
  const worker_id creator(r.slot->owner);
  if (creator.value >= w.group.workers.size()) return;
  const node_id from = w.group.workers.node_of(creator);
  if (memory_) memory_->move_metadata(from, w.node, machine_.metadata_bytes, w.clock);
  if (lines_) lines_->move_metadata(from, w.node, machine_.metadata_bytes, w.clock);
}

/// Notes first touch and counts remote accesses, as the native engine does. If memory is not modelled, derives
/// the factor on the task's time from these.
void engine::count_accesses(worker& w, frame& f) {
  const task_record& t = record_of(f.task);
  const bool colored = t.has(recorded_task::keyed) && t.color >= 0;
  life::remote_count count(w.node);
  const bool needs_writers = policy().needs_writers();
  std::uint64_t far_bytes = 0;
  for (const program::access& declared : accesses(t)) {
    const kept_access& a = declared.kept;
    region& r = regions_[a.region];
    const node_id before =
        r.promised.load(relaxed) ? node_id() : r.home_node();  // this task may be the first to touch the region
    if (before && before != w.node) far_bytes += program_.touched_by(declared);
    if (!before && r.block.load(relaxed) != nullptr) {
      const std::uint64_t used = program_.touched_by(declared);
      bytes_by_node_.assign(static_cast<std::size_t>(team_.nodes()), 0);
      far_bytes += used - view_.add_bytes(r, used, bytes_by_node_) - bytes_by_node_[w.node.index()];
    }
    const life::first_touch touched = life::touch(view_, r, a, w.node, bytes_by_node_, [&](region& placed) {
      if (memory_)
        memory_->put(a.region - 1, placed.bytes.load(relaxed), placed.home_node());  // whichever worker touches it
    });
    if (touched.placed) w.sums.add(event::region_placed);
    if (needs_writers && a.how != mode::in) r.writer.store(static_cast<std::int16_t>(w.id.value), relaxed);
    const bool asked = r.take_move_request();
    if (memory_ && (asked || (migrates_ && a.how != mode::in)) && r.home_node() != w.node &&
        may_move(r.bytes.load(relaxed))) {
      r.home.store(region::number_of(w.node), relaxed);
      if (asked) note_moved(a.region);
    }
    count.access(a, touched.at, colored);
  }
  if (t.color >= 0) {
    const team& owners = owners_of_colors(f.task);
    if (colored) {
      for (const std::int32_t before : predecessors(t))
        count.read_from(life::node_of_color(owners, record_of(before).color));
    }
    count.task_belongs_to(life::node_of_color(owners, t.color));
  }
  w.sums.add(event::remote_access, count.remote());
  w.sums.add(event::local_access, count.local());
  std::uint64_t noise = 1024;
  if (options_.noise) {  // the factor is that of a run of the member alone
    const program::member& member = program_.members[program_.member_of(static_cast<std::size_t>(f.task))];
    noise = noise_of(machine_, options_.seed, f.task - static_cast<std::int32_t>(member.first_task));
  }
  f.factor = noise * w.speed >> 10;
  if (options_.fidelity == fidelity::abstract) {
    // By bytes, if the task has any; else by the counted accesses.
    const double far = t.bytes != 0 ? static_cast<double>(far_bytes) / static_cast<double>(t.bytes)
                                    : static_cast<double>(count.remote()) / static_cast<double>(count.all());
    f.factor = stretched(machine_, f.factor, far);
    // The time for the bytes is part of the task's and is stretched with it: compute() adds it to the first
    // piece of work.
  }
}

void engine::run_action(worker& w) {
  frame& f = w.frames.back();
  const task_record& t = record_of(f.task);
  // Replays the rows that are left when the code has ended, or all rows first if no time was recorded.
  if (lines_ && (f.action == t.end_action || program_.compute[static_cast<std::size_t>(f.task)] == 0) && has_rows(f)) {
    begin_replay(w, f, 0, true);
    return;
  }
  if (f.action == t.end_action) {
    if (!lines_ && !f.fetched && t.bytes != 0) {
      compute(w, f, 0);
    } else {
      end_body(w);
    }
    return;
  }
  const action a = program_.actions[f.action];
  switch (static_cast<action::kind>(a.what)) {
    case action::compute: compute(w, f, a.value); return;
    case action::create: create(w, static_cast<std::int32_t>(a.value)); return;
    case action::wait: {
      ++f.action;
      const std::uint32_t scope = a.value == program_.scopes ? f.created_in : static_cast<std::uint32_t>(a.value);
      if (scope < program_.scopes) wait(w, scope);
      return;
    }
    case action::ask:
      ++f.action;
      if (a.value % 2 == 0) {
        ask(w, a.value / 2);
      } else {
        await_reply(w, a.value / 2);
      }
      return;
  }
}

/// Gives tasks to the policy. With `keep`, the task that it returns runs next; else that task is given back
/// until the policy queues it.
void engine::make_ready(worker& w, std::vector<task*>& batch, ready_reason why, bool keep) {
  task* next = queue_ready(w, batch, why);
  if (keep) {
    if (next != nullptr) w.next = as_policy_task(*next).number();
    return;
  }
  const auto ready = [&](std::span<task* const> tasks, ready_reason again) { return queue_ready(w, tasks, again); };
  if (task* const unqueued = life::give_back(next, ready)) w.unqueued.push_back(as_policy_task(*unqueued).number());
}

/// Gives back to the policy a task that the worker was to run next.
void engine::requeue(worker& w, std::int32_t t) {
  batch_.assign(1, &policy_task_of(t));
  make_ready(w, batch_, ready_reason::arrival, false);
}

/// Called by a gate for a task that cannot run in its order.
void engine::refuse(task& t, const std::string& why) const {
  const std::int32_t n = as_policy_task(t).number();
  throw error("task " + std::to_string(n) + " (" + program_.type_name(static_cast<std::size_t>(n)) + ") " + why);
}
void worker::refuse(task& t, const std::string& why) { engine.refuse(t, why); }

void engine::forget(std::int32_t t) {
  policy_task*& v = record_of(t).slot;
  free_room(*v);
  free_slots_.push_back(v);
  v = nullptr;
}

}  // namespace kith::sim
