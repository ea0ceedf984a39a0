#include "openmp/task.hpp"

#include "base/round_up.hpp"
#include "engine/native/engine.hpp"
#include "openmp/completion_event.hpp"
#include "openmp/context.hpp"
#include "openmp/dependences.hpp"
#include "openmp/task_group.hpp"
#include "openmp/task_types.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace kith::openmp {

namespace {

/// The closure of a deferred task; its data follows, aligned as the program needs it.
struct deferred_task {
  void (*body)(void*);
  const data_environment* environment;
  task_group* group;
  std::uint32_t data_at : 29;  // from the beginning of this object
  std::uint32_t final_task : 1, has_event : 1, called_cancelled : 1;
};

/// Tasks that this thread has queued, less those that it has run, since its last barrier.
constinit thread_local int queued_here [[gnu::tls_model("initial-exec")]] = 0;
constexpr int enough_queued = 64;
/// Counts the short tasks that this thread has called.
constinit thread_local int called_here [[gnu::tls_model("initial-exec")]] = 0;

/// Calls the body, and tells its event, if it has one. Returns whether it has. A body that is called even if its task
/// is cancelled has removed the event then.
bool call_body(void (*body)(void*), void* data, bool has_event, bool called_cancelled, team& in) {
  completion_event** const word = static_cast<completion_event**>(data);
  completion_event* event = has_event ? *word : nullptr;  // read now, because the body may change its data
  body(data);
  if (has_event && called_cancelled) event = *word;
  if (event != nullptr) event->body_ended(in);
  return event != nullptr;
}

void run_deferred(deferred_task& d) noexcept {
  team& in = *d.environment->team;
  if (queued_here > 0) --queued_here;
  if (!d.called_cancelled && in.is_task_cancelled(d.group)) return;
  context c;
  c.team = &in;
  c.group = d.group;
  c.thread = native::worker::current()->id.value;
  c.final_task = d.final_task;
  c.environment = d.environment;
  const enters_context as_task(c);
  void* const data = reinterpret_cast<std::byte*>(&d) + d.data_at;
  call_body(d.body, data, d.has_event, d.called_cancelled, in);
}

/// Engines and policies know kinds of tasks by their code: how long they take, whether they may run at their creation.
/// So the bodies of a program are spread over a number of codes.
template <std::size_t>
detail::outcome code_of_body(void* closure, detail::action what) {
  if (what == detail::action::run) run_deferred(*static_cast<deferred_task*>(closure));
  const bool ended = what == detail::action::run || what == detail::action::discard;
  return ended ? detail::outcome::ended : detail::outcome::unable;
}
constexpr auto codes = []<std::size_t... i>(std::index_sequence<i...>) {
  return std::array<detail::task_code, sizeof...(i)>{&code_of_body<i>...};
}(std::make_index_sequence<64>());

detail::task_code code_for(const body_code& body) noexcept {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  return codes[body.address * golden >> 58];
}

void set_bounds(const task_request& r, void* data) noexcept {
  if (r.bounds != nullptr) std::memcpy(data, r.bounds, 2 * sizeof *r.bounds);
}

void copy_data(const task_request& r, void* to) {
  if (r.copy != nullptr) {
    r.copy(to, r.data);
  } else if (r.size != 0) {
    std::memcpy(to, r.data, r.size);
  }
  set_bounds(r, to);
}

void defer(context& c, const task_request& r) {
  c.share_environment();
  const std::size_t data_at = round_up(sizeof(deferred_task), r.align),
                    align = std::max(r.align, alignof(deferred_task));
  const std::span<const detail::access_record> accesses =
      r.depend != nullptr ? r.depend->all() : std::span<const detail::access_record>();
  detail::hints h;
  h.type = type_of(r.code);
  if (r.priority > 0 && the_settings().max_task_priority > 0)
    h.priority = static_cast<std::uint8_t>(priority::high) & 3;
  const detail::declared what(accesses, {}, h);
  const detail::draft d = begin_task(detail::task_room(data_at + r.size, align, accesses));
  auto* const closure = ::new (d.closure) deferred_task{
      r.body, c.environment, c.group, static_cast<std::uint32_t>(data_at), r.final_task, r.detach, r.called_cancelled};
  if (queued_here < enough_queued) ++queued_here;
  copy_data(r, reinterpret_cast<std::byte*>(closure) + data_at);
  submit_task(d, code_for(r.code), what);
}

/// Without running any task here: it might wait for the lock that the running one holds.
void defer_under_lock(context& c, const task_request& r) {
  native::worker& w = *native::worker::current();
  const auto queued = w.queue_what_is_created();
  const std::uint64_t throttle = std::exchange(w.children().throttle_at, ~std::uint64_t{0});
  defer(c, r);
  w.children().throttle_at = throttle;
}

/// Calls f(data) with what the body would find in a deferred task. Where the bytes would be copied, the program's are
/// as good.
template <class F>
void with_data(const task_request& r, const F& f) {
  if (r.copy == nullptr) {
    set_bounds(r, r.data);
    return f(r.data);
  }
  const std::size_t align = std::max(r.align, alignof(std::max_align_t));
  const auto block = std::make_unique_for_overwrite<std::byte[]>(r.size + align);
  void* at = block.get();
  std::size_t room = r.size + align;
  std::align(align, r.size, at, room);
  copy_data(r, at);
  f(at);
}

void run_at_once(context& maker, const task_request& r) {
  if (r.depend != nullptr) await_predecessors(maker, *r.depend);
  if (!r.called_cancelled && maker.team->is_task_cancelled(maker.group)) return;
  const undeferred_task running(maker, r.final_task);
  with_data(r, [&](void* data) {
    const bool is_detached = call_body(r.body, data, r.detach, r.called_cancelled, *maker.team);
    // The creator goes on when the task has completed.
    if (is_detached && (r.at_once || maker.final_task)) wait_for_children();
  });
}

context context_of_child(context& maker, bool final_task) {
  maker.share_environment();
  context c;
  c.team = maker.team;
  c.group = maker.group;
  c.thread = maker.thread;
  c.locks = maker.locks;
  c.environment = maker.environment;
  c.final_task = maker.final_task || final_task;
  return c;
}

/// Whether the body is known to be so short that handing it to another worker costs more. From time to time a task of
/// it takes the usual path, where the engine measures it.
bool is_short(const native::worker& w, const task_request& r) noexcept {
  constexpr int measured_of = 16;
  if (!w.engine.bodies.is_short(code_for(r.code))) return false;
  called_here = (called_here + 1) % measured_of;
  return called_here != 0;
}

/// Whether enough tasks of this worker's wait already, and no other worker looks for any. Only inside explicit tasks: a
/// member of the team that makes many should go on with that.
bool has_enough_queued(const context& c, const native::worker& w) noexcept {
  return queued_here == enough_queued && c.member == nullptr && w.engine.looking.load(relaxed) <= 0 &&
         w.engine.parked.wakeable() == 0;
}

/// Whether the creator should call the task instead of queueing it.
bool is_better_called(const context& c, const task_request& r) noexcept {
  if (c.locks > 0 || r.depend != nullptr || r.priority != 0 || r.detach) return false;
  const native::worker& w = *native::worker::current();
  return w.may_call_tasks() && (c.team->size == 1 || is_short(w, r) || has_enough_queued(c, w));
}

}  // namespace

void make_task(const task_request& r) {
  context& c = here();
  if (!c.team->has_workers() || c.final_task || r.at_once || is_better_called(c, r)) return run_at_once(c, r);
  c.team->await_members();
  if (c.locks > 0) {
    defer_under_lock(c, r);
  } else {
    defer(c, r);
  }
}

undeferred_task::undeferred_task(context& maker, bool final_task)
    : own_(context_of_child(maker, final_task)), entered_(own_) {
  if (own_.team->has_workers()) on_worker_.emplace();
}

void forget_queued() noexcept { queued_here = 0; }

}  // namespace kith::openmp
