#include "engine/native/create.hpp"

#include "engine/native/declare.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/order_plainly.hpp"
#include "engine/native/seat_log.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <new>
#include <utility>

namespace kith::native {

detail::scope& open_scope(native_seat& self, detail::scope* parent) {
  detail::scope& s = take_scope(self, parent);
  const engine_options& options = self.engine.options;
  // Outside threads cannot help, so the throttle does not apply to them.
  s.throttle_at = self.worker_seat && options.throttle != 0 ? options.throttle : ~std::uint64_t{0};
  s.listed = self.worker_seat && parent != nullptr && !self.engine.policy.has_gate();
  if (const task* const owner = self.worker_seat ? static_cast<worker&>(self).running : nullptr; owner != nullptr)
    s.owner.store(edges::reference_to(self.engine.space, *owner).packed().value, relaxed);
  return s;
}

detail::draft draft_in(native_seat& self, detail::scope& in, detail::task_room room) {
  task& t = self.slots.take();
  begin_in(in, t);
  try {
    return {&t, make_room(t, room, self.engine.keeps_accesses)};
  } catch (...) {
    self.slots.give_own(t);
    throw;
  }
}

void give_draft_back(native_seat& self, task& t) noexcept {
  free_room(t);
  self.slots.give_own(t);
}

void name_for_gate(native_seat& self, slot_index t) {
  if (self.engine.policy.has_gate()) [[unlikely]]
    self.engine.identities.set(t, self.naming.next_child());
}

void note_created(native_seat& self, const detail::scope& in, reference me, const detail::declared& what,
                  std::uint64_t began, std::uint8_t flags) {
  if (self.log == nullptr) [[likely]]
    return;
  const std::uint64_t parent = self.worker_seat ? static_cast<worker&>(self).running_ref() : 0;
  self.log->created({me, parent, in.serial, began, flags, what, 0, &in});
}

namespace {

/// Lists a child, so that its parent may claim it. Without memory for that, it runs from its queue.
[[gnu::noinline]] void list_child(detail::scope& s, const slot_space& space, task& t, task_ref child) noexcept {
  if (t.has_level()) s.leveled = true;
  if (s.children.size() >= s.children_bound) s.children_bound = edges::drop_stale(s.children, space, 64);
  try {
    s.children.push_back(reference::from(child));
    t.flags |= task::claimable;
  } catch (const std::bad_alloc&) {
  }
}

/// MIR's rule (thesis, artifact). 1: always; L > 1: if at least L tasks per worker are unfinished.
bool is_inlined(const native::engine& engine, const detail::scope& s) {
  const int limit = engine.options.inline_limit;
  return limit == 1 || (limit > 1 && s.unfinished() / engine.workers.size() >= static_cast<std::uint64_t>(limit));
}

// It reads the stack pointer, for which a function that it is inlined into needs a frame pointer.
[[gnu::noinline]] bool allows_run_at_creation(const worker& w, const task& t) noexcept {
  return w.may_run_at_creation(t);
}

/// Runs the task at once if may_run_at_creation() allows it and it has no unfinished predecessor. True if it ran.
bool try_run_unseen(worker& w, detail::scope& s, task& t, std::size_t edges) {
  if (!w.may_run_at_creation(t)) return false;
  if (edges == 0) {
    w.sums.add(event::task_created);
    w.run_unseen(t);
    return true;
  }
  if (w.at_creation == creation_rule::short_ones) w.request_help(s);
  return false;
}

/// Gives a new task to the policy. If there is no memory for its queues, the creator runs the task itself: else nobody
/// would, and all that waits for it would wait for ever.
[[gnu::always_inline]] inline void queue_new(worker& w, task& t) {
  task* const one[] = {&t};
  task* now = nullptr;
  try {
    now = w.make_ready(one, ready_reason::creation);
  } catch (const std::bad_alloc&) {
    now = &t;
  }
  if (now != nullptr) [[unlikely]]
    w.run_at_creation(*now);
}

/// Starts a task that has no unfinished predecessor.
void start(native_seat& self, detail::scope& s, task& t) {
  native::engine& engine = self.engine;
  if (!self.worker_seat) {
    engine.arrive(t);
    return;
  }
  worker& w = static_cast<worker&>(self);
  if (engine.options.inline_limit != 0 && !engine.policy.has_gate() && !engine.policy.expects_every_ready() &&
      is_inlined(engine, s))
    return w.run_at_creation(t);
  queue_new(w, t);
}

/// The rest of submit(), for every seat and task: orders the accesses from n.done.rest on, and gives the task to the
/// engine and the policy.
[[gnu::noinline]] task_ref submit_in_full(native_seat& self, detail::scope& s, const new_task& n) {
  native::engine& engine = self.engine;
  task& t = n.t;
  std::exception_ptr failure;
  const std::size_t edges = n.is_unordered() ? add_remaining_edges(self, s, n, failure) : n.done.edges;
  const std::uint64_t began = self.creating_since;
  skip_if_dry(t, n.what.h, engine.options.dry);
  name_for_gate(self, reference::from(n.me).index);
  if (!self.worker_seat || !try_run_unseen(static_cast<worker&>(self), s, t, edges)) {
    if (engine.policy.observes_creation() && self.worker_seat) [[unlikely]]
      engine.policy.created(t, static_cast<worker&>(self));
    if (s.listed) list_child(s, engine.space, t, n.me);
    // Do not touch the task below: it may have ended, and its slot may have been reused.
    bool ready = edges::open_join(t, edges);
    if (ready) {
      edges::free_overflow(engine.space, t, [&](task& b) { self.slots.give_own(b); });
      ready = prepare_ready(engine.regions, t);
    }
    if (self.worker_seat) static_cast<worker&>(self).sums.add(event::task_created);
    if (ready) start(self, s, t);
  }
  note_created(self, s, reference::from(n.me), n.what, began, s.listed ? log_listed : std::uint8_t{0});
  if (failure) [[unlikely]]
    std::rethrow_exception(failure);
  return n.me;
}

/// Passes the task to the capture that takes what this scope creates.
[[gnu::noinline]] task_ref submit_to_capture(detail::task_code code, const detail::declared& what) {
  return detail::current_scope().sink->submit(code, what);
}

/// A task whose closure has been built.
struct draft_in_scope {
  /// Fills the task, up to its accesses.
  [[gnu::always_inline]] draft_in_scope(detail::draft d, detail::task_code code, const detail::declared& what) noexcept
      : t(*static_cast<task*>(d.task)), s(*t.scope), self(static_cast<native_seat&>(*s.seat)) {
    fill(t, code, what.h, s.count_created());
    edges::start_join(t);
    me = edges::name_of(self.slots.space(), t);
  }

  task& t;
  detail::scope& s;
  native_seat& self;
  task_ref me;
};

/// The straight path from here on: what submit_in_full() would do for a task that is ordered, if self.creates_plainly.
[[gnu::always_inline]] inline task_ref submit_plainly(const draft_in_scope& in, ordered done,
                                                      const detail::declared& what) {
  worker& w = static_cast<worker&>(in.self);
  if (w.at_creation != creation_rule::none && allows_run_at_creation(w, in.t))
    return submit_in_full(w, in.s, {in.t, in.me, done, what});
  if (in.s.listed) list_child(in.s, w.engine.space, in.t, in.me);
  w.sums.add(event::task_created);
  if (!edges::open_join(in.t, done.edges)) return in.me;
  mark_queued(in.t);
  queue_new(w, in.t);
  return in.me;
}

// Two functions, because what orders accesses needs many registers.
[[gnu::noinline]] task_ref submit_without_accesses(detail::draft d, detail::task_code code,
                                                   const detail::declared& what) {
  if (d.task == nullptr) [[unlikely]]
    return submit_to_capture(code, what);
  const draft_in_scope in(d, code, what);
  if (!in.self.creates_plainly || !what.before.empty()) [[unlikely]]
    return submit_in_full(in.self, in.s, {in.t, in.me, {what.accesses.data(), 0}, what});
  return submit_plainly(in, {what.accesses.data(), 0}, what);
}
[[gnu::noinline]] task_ref submit_with_accesses(detail::draft d, detail::task_code code, const detail::declared& what) {
  if (d.task == nullptr) [[unlikely]]
    return submit_to_capture(code, what);
  const draft_in_scope in(d, code, what);
  ordered done{what.accesses.data(), 0};
  if (!in.self.creates_plainly || !what.before.empty()) [[unlikely]]
    return submit_in_full(in.self, in.s, {in.t, in.me, done, what});
  const detail::access_record* const end = done.rest + what.accesses.size();
  done = order_plainly(in.self, in.s, in.t, in.me, done, end);
  if (done.rest != end) [[unlikely]]
    return submit_in_full(in.self, in.s, {in.t, in.me, done, what});
  return submit_plainly(in, done, what);
}

/// begin() where the creator must help first, or its slots are used up, or the closure does not fit the slot, or the
/// creation is recorded.
[[gnu::noinline]] detail::draft begin_in_full(detail::scope& s, detail::task_room room) {
  native_seat& self = static_cast<native_seat&>(*s.seat);
  const std::uint64_t began = self.log != nullptr ? ticks() : 0;
  if (s.not_ended_here() >= s.throttle_at) {
    if (s.sink != nullptr) return s.sink->begin(room.bytes, room.align);
    static_cast<worker&>(self).help(s);
  }
  self.creating_since = began;  // set after help(), because other tasks may have been created meanwhile
  return draft_in(self, s, room);
}

/// begin() where the running task has created nothing yet.
[[gnu::noinline]] detail::draft begin_first_child(detail::task_room room) {
  return detail::begin(detail::current_scope(), room);
}

[[gnu::always_inline]] inline detail::draft begin_task(detail::scope& s, detail::task_room room) {
  native_seat& self = static_cast<native_seat&>(*s.seat);
  if (s.not_ended_here() >= s.throttle_at || self.slots.is_empty() || room.fits != detail::task_room::slot::all ||
      self.log != nullptr) [[unlikely]]
    return begin_in_full(s, room);
  task& t = self.slots.take();
  begin_in(s, t);
  t.flags = 0;
  return {&t, t.payload};
}

}  // namespace

}  // namespace kith::native

namespace kith::detail {

using namespace kith::native;

scope& current_scope() {
  worker* w = worker::current();
  if (w == nullptr) {
    throw error("no task runs on this thread: create tasks inside runtime::run(), or with runtime::submit()");
  }
  return w->children();
}

draft begin(scope& s, task_room room) { return begin_task(s, room); }

draft begin(running_task, task_room room) {
  const worker* const w = worker::current();
  if (w == nullptr || w->children_scope == nullptr) [[unlikely]]
    return begin_first_child(room);
  return begin_task(*w->children_scope, room);
}

void abandon(draft d) noexcept {
  if (d.task == nullptr) return current_scope().sink->abandon();
  task& t = *static_cast<task*>(d.task);
  give_draft_back(static_cast<native_seat&>(*t.scope->seat), t);
}

task_ref submit(draft d, task_code code, const declared& what) {
  return what.accesses.empty() ? submit_without_accesses(d, code, what) : submit_with_accesses(d, code, what);
}

}  // namespace kith::detail
