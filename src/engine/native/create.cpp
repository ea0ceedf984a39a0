#include "engine/native/create.hpp"

#include "engine/native/declare.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <algorithm>
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

namespace {

/// Lists a child, so that its parent may claim it.
[[gnu::noinline]] void list_child(detail::scope& s, const slot_space& space, task& t, reference child) {
  t.flags |= task::claimable;
  if (t.has_level()) s.leveled = true;
  if (s.children.size() >= s.children_bound) {
    std::erase_if(s.children,
                  [&](reference r) { return edges::generation_of(space[r.index].head.load(relaxed)) != r.generation; });
    s.children_bound = std::max<std::size_t>(64, s.children.size() * 2);
  }
  s.children.push_back(child);
}

/// MIR's rule (thesis, artifact): 1: always; L: only while L tasks per worker wait.
bool runs_inline(const native::engine& engine, const detail::scope& s) {
  const int limit = engine.options.inline_limit;
  return limit == 1 || (limit > 1 && s.unfinished() / engine.workers.size() >= static_cast<std::uint64_t>(limit));
}

[[gnu::noinline]] void note_created(native_seat& self, detail::scope& s, std::uint64_t began, const new_task& n) {
  const std::uint64_t parent = self.worker_seat ? static_cast<worker&>(self).running_ref() : 0;
  self.log->created(
      {n.me, parent, s.serial, began, s.listed ? log_listed : std::uint8_t{0}, n.h, n.records, n.before, 0, &s});
}

/// Runs the task at once, if it is short and nothing keeps it from that. True if it did.
bool runs_at_once(worker& w, detail::scope& s, const new_task& n) {
  if (!w.runs_now(n.t)) return false;
  if (n.done.edges == 0) {
    w.sums.add(event::task_created);
    w.run_now(n.t);
    return true;
  }
  if (w.engine.at_creation == runs_at_creation::short_ones) w.helps_soon(s);
  return false;
}

/// The task has no predecessor left.
void start(native_seat& self, detail::scope& s, task& t) {
  native::engine& engine = self.engine;
  if (!self.worker_seat) {
    engine.arrive(t);
    return;
  }
  worker& w = static_cast<worker&>(self);
  task* now = &t;
  if (engine.options.inline_limit == 0 || engine.policy.has_gate() || engine.policy.expects_every_ready() ||
      !runs_inline(engine, s))
    now = w.make_ready({&now, 1}, ready_reason::creation);
  if (now != nullptr) w.run_at_creation(*now);
}

/// The second half of submit(), for every seat and task: hands the task over to the engine and the policy.
[[gnu::noinline]] task_ref submit_in_full(native_seat& self, detail::scope& s, const new_task& n) {
  native::engine& engine = self.engine;
  task& t = n.t;
  const std::exception_ptr failure = std::exchange(self.failed_declaration, nullptr);
  const std::uint64_t began = self.creating_since;
  skip_if_dry(t, n.h, engine.options.dry);
  if (engine.policy.has_gate()) [[unlikely]]
    engine.identities.set(n.me.index, self.naming.next_child());
  if (!self.worker_seat || !runs_at_once(static_cast<worker&>(self), s, n)) {
    if (engine.policy.observes_creation() && self.worker_seat) [[unlikely]]
      engine.policy.created(t, static_cast<worker&>(self));
    if (s.listed) list_child(s, engine.space, t, n.me);
    // Do not touch the task below: it may have ended, and its slot may have been reused.
    const bool ready = edges::open_join(t, n.done.edges) && prepare_ready(engine.regions, t);
    if (self.worker_seat) static_cast<worker&>(self).sums.add(event::task_created);
    if (ready) start(self, s, t);
  }
  if (self.log != nullptr) [[unlikely]]
    note_created(self, s, began, n);
  if (failure) [[unlikely]]
    std::rethrow_exception(failure);
  return n.me.packed();
}

/// What is captured is not created here. It has submit()'s parameters, so that the call is a jump.
[[gnu::noinline]] task_ref submit_to_taker(detail::scope& s, const detail::draft& /*d*/, detail::task_code code,
                                           std::span<const detail::access_record> records,
                                           std::span<const task_ref> before, const detail::hints& h) {
  return s.taker->submit(code, records, before, h);
}

/// begin() where the creator must help first, or its slots are used up, or the closure does not fit the slot, or the
/// creation is recorded.
[[gnu::noinline]] detail::draft begin_in_full(detail::scope& s, std::size_t closure_bytes, std::size_t closure_align,
                                              std::size_t accesses) {
  native_seat& self = static_cast<native_seat&>(*s.creator);
  const std::uint64_t began = self.log != nullptr ? ticks() : 0;
  if (s.not_ended_here() >= s.throttle_at) {
    if (s.taker != nullptr) return s.taker->begin(closure_bytes, closure_align);
    static_cast<worker&>(self).help(s);
  }
  self.creating_since = began;  // set after help(), because other tasks may have been created meanwhile
  task& t = self.slots.take();
  try {
    return {&t, make_room(t, closure_bytes, closure_align, accesses)};
  } catch (...) {
    self.slots.give_own(t);
    throw;
  }
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

draft begin(scope& s, std::size_t closure_bytes, std::size_t closure_align, std::size_t accesses) {
  native_seat& self = static_cast<native_seat&>(*s.creator);
  if (s.not_ended_here() >= s.throttle_at || self.slots.is_empty() ||
      !fits_slot(closure_bytes, closure_align, accesses) || self.log != nullptr) [[unlikely]]
    return begin_in_full(s, closure_bytes, closure_align, accesses);
  task& t = self.slots.take();
  clear_flags(t, accesses);
  return {&t, t.payload};
}

void abandon(scope& s, const draft& d) noexcept {
  if (d.task == nullptr) return s.taker->abandon();
  task& t = *static_cast<task*>(d.task);
  free_room(t);
  s.creator->slots.give_own(t);
}

task_ref submit(scope& s, const draft& d, task_code code, std::span<const access_record> records,
                std::span<const task_ref> before, const hints& h) {
  if (d.task == nullptr) [[unlikely]]
    return submit_to_taker(s, d, code, records, before, h);
  native_seat& self = static_cast<native_seat&>(*s.creator);
  task& t = *static_cast<task*>(d.task);
  fill(t, s, code, h);
  t.sequence = s.sequence++;
  s.count_created();
  const reference me = edges::reference_to(self.engine.space, t);
  ordered done{records.data(), 0};
  if (!records.empty() || !before.empty()) {
    const access_record* const end = records.data() + records.size();
    edges::start_join(t);
    if (self.creates_plainly && before.empty()) done = order_plainly(s, t, me, done, end);
    if (done.rest != end || !before.empty()) done.edges = order_fully(self, s, {t, me, done, h, records, before});
  }

  constexpr std::uint8_t special = task::skip | task::exclusive;
  if (!self.creates_plainly || (t.flags & special) != 0 || static_cast<worker&>(self).runs_now(t))
    return submit_in_full(self, s, {t, me, done, h, records, before});
  // The straight path: what submit_in_full() would do for this task.
  worker& w = static_cast<worker&>(self);
  if (s.listed) list_child(s, w.engine.space, t, me);
  w.sums.add(event::task_created);
  if (!edges::open_join(t, done.edges)) return me.packed();
  mark_queued(t);
  task* const one[] = {&t};
  if (task* const now = w.make_ready(one, ready_reason::creation); now != nullptr) [[unlikely]]
    w.run_at_creation(*now);
  return me.packed();
}

}  // namespace kith::detail
