#include "engine/native/create.hpp"

#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"
#include "task/turns.hpp"

#include <algorithm>

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

/// The state of the access's region in this scope. Calls meet(nested_range&) if there are regions inside or around it.
template <class Meet>
detail::tracker& tracker_of(detail::scope& s, const detail::access_record& a, std::uint16_t type, bool check_handles,
                            Meet&& meet) {
  const auto by_address = [&]() -> detail::tracker& {
    detail::access_record raw = a;
    raw.handle = nullptr;
    return s.by_address.find(raw, type, meet);
  };
  if (a.handle == nullptr) return by_address();
  detail::handle_base& h = *a.handle;
  // The first scope that uses the handle keeps it; from then on only that scope's owner uses the state.
  const std::atomic_ref<const void*> of(detail::internals::scope(h));
  const void* scope = of.load(relaxed);
  if (scope == nullptr && of.compare_exchange_strong(scope, &s, relaxed)) scope = &s;
  if (scope != &s) return by_address();
  detail::tracker& state = detail::internals::state(h);
  if (state.key == s.serial) return state;
  if (a.bytes == 0) return s.by_address.nowhere();
  if (check_handles) s.by_address.check_handle(a, type);
  state = detail::tracker{.key = s.serial};
  return state;
}

/// Makes an internal task that ends after all tasks that `for_each` names.
template <class ForEach>
reference create_fence(native::engine& engine, detail::scope& s, const ForEach& for_each) {
  seat& self = *s.creator;
  const slot_index slot = self.slots.take();
  task& f = engine.space[slot];
  f.code = nullptr;
  f.scope = &s;
  f.flags = task::internal;
  f.accesses = 0;
  f.state.store(task_state::created, relaxed);
  s.count_created();
  edges::start_join(f);
  const reference me = edges::reference_to(engine.space, f);
  edge_collector edges_of(f, me, self.slots, s.blocks);
  std::exception_ptr failure;
  try {
    for_each([&](reference r) { edges_of.after(r); });
  } catch (...) {
    failure = std::current_exception();  // the fence then ends too early, but it does end
  }
  if (edges::open_join(f, edges_of.edges())) {  // no predecessor is left, so the fence ends at once
    edges::close(f);
    s.count_ended_here();
    edges::free_overflow(engine.space, f, [&](slot_index b) { self.slots.give_own(b); });
    self.slots.give_own(slot);
  }
  if (failure) std::rethrow_exception(std::move(failure));
  return me;
}

/// Adds the edges that the accesses of one task require. Calls keep(access, tracker) for each, before its edges.
template <class Keep>
void order_accesses(native::engine& engine, detail::scope& s, task& t, edge_collector& edges_of,
                    std::span<const detail::access_record> records, const Keep& keep) {
  const auto fence = [&](const auto& for_each) { return create_fence(engine, s, for_each); };
  for (const detail::access_record& a : records) {
    detail::tracker& k = tracker_of(s, a, t.type, engine.options.check_handles,
                                    [&](nested_range& r) { edges_of.meet(s.by_address, r, a.how, fence); });
    keep(a, k);
    edges_of.access(k, a.how, fence);
  }
}

/// The same. Also keeps what the policy and the engine need of the accesses.
void register_accesses(native::engine& engine, detail::scope& s, task& t, edge_collector& edges_of,
                       std::span<const detail::access_record> records) {
  std::byte* at = t.access_bytes();
  std::uint64_t all_bytes = 0;
  order_accesses(engine, s, t, edges_of, records, [&](const detail::access_record& a, detail::tracker& k) {
    const bool exclusive = a.how == mode::commutative;
    const bool unknown =
        k.region == 0 || (engine.track_homes && a.bytes > engine.regions[k.region].bytes.load(relaxed));
    if ((engine.track_homes || exclusive) && unknown) k.region = engine.regions.find(a.address, a.bytes);
    if (exclusive && !engine.policy.has_gate()) t.flags |= task::exclusive;  // else the gate ensures the exclusion
    // A region that is named twice counts once.
    const std::uint64_t bytes = edges_of.named_before(k) ? 0 : a.bytes;
    const kept_access kept{k.region, static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(bytes >> 32), a.how,
                           0};
    std::memcpy(at, &kept, sizeof kept);
    at += sizeof kept;
    all_bytes += bytes;
  });
  s.bytes_created += all_bytes;
  const std::uint64_t bound = engine.options.throttle_bytes;
  if (bound != 0 && s.unfinished_bytes() >= bound && s.creator != &engine.outside)
    s.throttle_at = 0;  // makes the creator check the throttle before its next task
}

/// Whether the task's accesses are read after its creation. Turns at commutative regions are.
bool keeps_accesses(const native::engine& engine, std::span<const detail::access_record> records) {
  return engine.keeps_accesses ||
         std::ranges::any_of(records, [](const detail::access_record& a) { return a.how == mode::commutative; });
}

/// For a task whose declaration failed half-way: blanks all its accesses.
void blank_accesses(task& t, std::span<const detail::access_record> records) {
  std::byte* keep = t.access_bytes();
  for (std::size_t i = 0; i < records.size(); ++i, keep += sizeof(kept_access)) {
    const kept_access none{};
    std::memcpy(keep, &none, sizeof none);
  }
}

/// Adds edges for all that the task declares; returns their number. A failure is kept for the creator. Some
/// trackers may already know the task, so it is still submitted, but its body does not run.
std::uint32_t declare(native::engine& engine, detail::scope& s, task& t, reference me,
                      std::span<const detail::access_record> records, std::span<const task_ref> before,
                      std::exception_ptr& failure) {
  edges::start_join(t);
  edge_collector edges_of(t, me, s.creator->slots, s.blocks);
  try {
    for (task_ref b : before) edges_of.after(reference::from(b));
    if (keeps_accesses(engine, records)) {
      register_accesses(engine, s, t, edges_of, records);
    } else {
      order_accesses(engine, s, t, edges_of, records, [](const detail::access_record&, const detail::tracker&) {});
    }
  } catch (...) {
    failure = std::current_exception();
    blank_accesses(t, records);
    t.flags |= task::skip;
    t.flags &= static_cast<std::uint8_t>(~task::exclusive);
  }
  return edges_of.edges();
}

void list_child(detail::scope& s, const slot_space& space, reference child) {
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

[[gnu::noinline]] void note_created(native_seat& self, detail::scope& s, reference task, std::uint64_t began,
                                    const detail::hints& h, std::span<const detail::access_record> records,
                                    std::span<const task_ref> before) {
  const std::uint64_t parent = self.worker_seat ? static_cast<worker&>(self).running_ref() : 0;
  self.log->created(
      {task, parent, s.serial, began, s.listed ? log_listed : std::uint8_t{0}, h, records, before, 0, &s});
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
  const std::uint64_t began = self.log != nullptr ? ticks() : 0;
  if (s.not_ended_here() >= s.throttle_at) [[unlikely]] {
    if (s.taker != nullptr) return s.taker->begin(closure_bytes, closure_align);
    static_cast<worker&>(self).help(s);
  }
  self.creating_since = began;  // set after help(), because other tasks may have been created meanwhile
  slot_cache& slots = s.creator->slots;
  task& t = slots.space()[slots.take()];
  try {
    return {&t, make_room(t, closure_bytes, closure_align, accesses)};
  } catch (...) {
    slots.give_own(slots.space().index_of(t));
    throw;
  }
}

void abandon(scope& s, const draft& d) noexcept {
  if (d.task == nullptr) return s.taker->abandon();
  task& t = *static_cast<task*>(d.task);
  free_room(t);
  slot_cache& slots = s.creator->slots;
  slots.give_own(slots.space().index_of(t));
}

task_ref submit(scope& s, const draft& d, task_code code, std::span<const access_record> records,
                std::span<const task_ref> before, const hints& h) {
  if (d.task == nullptr) [[unlikely]]
    return s.taker->submit(code, records, before, h);
  native_seat& self = static_cast<native_seat&>(*s.creator);
  native::engine& engine = self.engine;
  task& t = *static_cast<task*>(d.task);
  fill(t, s, code, h, engine.options.dry);
  t.sequence = s.sequence++;
  s.count_created();
  const reference me = edges::reference_to(engine.space, t);
  const std::uint64_t began = self.creating_since;
  if (engine.policy.has_gate()) [[unlikely]]
    engine.identities.set(me.index, self.naming.next_child());

  const bool declares = !records.empty() || !before.empty();
  std::exception_ptr failure;
  std::uint32_t edges_added = 0;
  if (declares) edges_added = declare(engine, s, t, me, records, before, failure);
  if (self.worker_seat && static_cast<worker&>(self).runs_now(t)) {
    worker& w = static_cast<worker&>(self);
    if (edges_added == 0) {
      w.sums.add(event::task_created);
      w.run_now(t);
      if (self.log != nullptr) [[unlikely]]
        note_created(self, s, me, began, h, records, before);
      return me.packed();
    }
    if (engine.at_creation == runs_at_creation::short_ones) w.helps_soon(s);
  }
  if (engine.policy.observes_creation() && self.worker_seat) [[unlikely]]
    engine.policy.created(t, static_cast<worker&>(self));
  if (s.listed) {
    t.flags |= task::claimable;
    list_child(s, engine.space, me);
    if (t.has_level()) s.leveled = true;
  }
  // Do not touch the task below: it may have ended, and its slot may have been reused.
  const bool ready = (!declares || edges::open_join(t, edges_added)) && prepare_ready(engine.regions, t);

  if (!self.worker_seat) {
    if (ready) engine.arrive(t);
  } else {
    worker& w = static_cast<worker&>(self);
    w.sums.add(event::task_created);
    if (ready) {
      task* now = &t;
      if (engine.options.inline_limit == 0 || engine.policy.has_gate() || engine.policy.expects_every_ready() ||
          !runs_inline(engine, s))
        now = w.make_ready({&now, 1}, ready_reason::creation);
      if (now != nullptr) w.run_at_creation(*now);
    }
  }
  if (self.log != nullptr) [[unlikely]]
    note_created(self, s, me, began, h, records, before);
  if (failure) [[unlikely]]
    std::rethrow_exception(std::move(failure));
  return me.packed();
}

}  // namespace kith::detail
