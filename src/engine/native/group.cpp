// Tasks that a group's own tasks create in it.
//
// The task that made the group stays the scope's owner. Only the owner may use what orders siblings (accesses,
// predecessors, the list that it claims from), so these tasks use none of it. They count like runs of a keyed graph's
// nodes (C4 in scope.hpp). The creating task belongs to the group itself, so the group is not seen empty meanwhile.
// Their slots come from the worker that creates them.
#include "engine/native/group.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <limits>

namespace kith::native {

namespace {

/// Whether the worker runs the task that made the group, or a part of that task.
bool is_owner(const detail::scope& group, const worker& w) noexcept {
  const std::uint64_t owner = group.owner.load(relaxed);
  if (w.running == nullptr) return owner == 0;
  std::uint64_t runs = edges::reference_to(w.engine.space, *w.running).packed().value;
  for (const detail::scope* in = w.running->scope; runs != owner && in != nullptr && in->of_parts;) {
    runs = in->owner.load(relaxed);
    in = in->of_maker();
  }
  return runs == owner;
}

}  // namespace

bool runs_owner_of(const detail::scope& group) noexcept {
  const worker* const w = worker::current();
  return w != nullptr && w == group.seat && is_owner(group, *w);
}

}  // namespace kith::native

namespace kith::detail {

using namespace kith::native;

void filled_group::admit(std::size_t accesses, std::size_t predecessors) {
  if (runs_owner_of(tasks_)) return;
  native::engine& engine = static_cast<native_seat&>(*tasks_.seat).engine;
  engine.refuse_inherited(called_);
  worker* const w = worker::current();
  if (w == nullptr)
    throw error(std::string(called_) + ": no task runs on this thread; expected the group's owner, or its tasks");
  const task* const t = w->running;
  const bool owns = native::is_owner(tasks_, *w);  // on a worker that runs a half of a join of the owner
  if (&w->engine != &engine ||
      (!owns && (t == nullptr || !t->scope->is_within(tasks_, std::numeric_limits<int>::max())))) {
    throw error(std::string(called_) +
                ": the running task neither made the group nor belongs to it; expected the task that made the group, "
                "or one of the group's tasks");
  }
  if (accesses != 0 || predecessors != 0) {
    throw error(
        std::string(called_) + ": a task of the group, or a half of a join, fills it, and names " +
        (accesses != 0 ? "accesses" : "predecessors") +
        ", which only the task that made the group can: they go by the order of creation. Leave them out, or make "
        "another group for these tasks");
  }
  member_ = w;
}

draft begin(const filled_group& g, task_room room) {
  if (g.member() == nullptr) return begin(g.tasks(), room);
  worker& w = *static_cast<worker*>(g.member());
  const std::uint64_t began = w.log != nullptr ? ticks() : 0;
  w.help_to_fill(g.tasks());
  w.creating_since = began;
  task& t = w.slots.take();
  begin_in(g.tasks(), t);
  try {
    return {&t, make_room(t, room, w.engine.keeps_accesses)};
  } catch (...) {
    w.slots.give_own(t);
    throw;
  }
}

void abandon(const filled_group& g, draft d) noexcept {
  if (g.member() == nullptr) return abandon(d);
  task& t = *static_cast<task*>(d.task);
  free_room(t);
  static_cast<worker*>(g.member())->slots.give_own(t);
}

task_ref submit(const filled_group& g, draft d, task_code code, const declared& what) {
  if (g.member() == nullptr) return submit(d, code, what);
  worker& w = *static_cast<worker*>(g.member());
  native::engine& engine = w.engine;
  task& t = *static_cast<task*>(d.task);
  t.code = code;
  set_hints(t, what.h);
  skip_if_dry(t, what.h, engine.options.dry);
  t.sequence = static_cast<std::uint32_t>(w.sums[event::task_created]);  // counted by its creator
  w.count_begun(g.tasks(), 1);
  const reference me = edges::reference_to(engine.space, t);
  const std::uint64_t began = w.creating_since;
  if (engine.policy.has_gate()) [[unlikely]]
    engine.identities.set(me.index, w.naming.next_child());
  engine.policy.created(t, w);
  w.sums.add(event::task_created);
  // Do not touch the task below: it may have ended, and its slot may have been reused.
  if (prepare_ready(engine.regions, t)) w.queue_begun(t);
  if (w.log != nullptr) [[unlikely]]
    w.log->created({me, w.running_ref(), g.tasks().serial, began, 0, what, 0, &g.tasks()});
  return me.packed();
}

}  // namespace kith::detail
