// Tasks that a group's own tasks create in it.
//
// The task that made the group stays the scope's owner. Only the owner may use what orders siblings (accesses,
// predecessors, the list that it claims from), so these tasks use none of it. They count like runs of a keyed graph's
// nodes (C4 in scope.hpp). The creating task belongs to the group itself, so the group is not seen empty meanwhile.
// Their slots come from the worker that creates them.
#include "engine/native/group.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
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

reference fill_member(worker& creator, task& t, detail::task_code code, const detail::kept_hints& h) {
  fill(t, code, h, static_cast<std::uint32_t>(creator.sums[event::task_created]));
  const reference me = edges::reference_to(creator.engine.space, t);
  name_for_gate(creator, me.index);
  creator.sums.add(event::task_created);
  return me;
}

void start_member(worker& w, task& t) {
  w.count_begun(*t.scope, 1);
  w.engine.policy.created(t, w);
  if (prepare_ready(w.engine.regions, t)) w.queue_begun(t);
}

}  // namespace kith::native

namespace kith::detail {

using namespace kith::native;

void filled_group::admit(std::size_t accesses, std::size_t predecessors) {
  if (runs_owner_of(tasks_)) {
    worker::current_to_run(called_);
    return;
  }
  native::engine& engine = engine_of(tasks_);
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
  return draft_in(w, g.tasks(), room);
}

void abandon(const filled_group& g, draft d) noexcept {
  if (g.member() == nullptr) return abandon(d);
  give_draft_back(*static_cast<worker*>(g.member()), *static_cast<task*>(d.task));
}

task_ref submit(const filled_group& g, draft d, task_code code, const declared& what) {
  if (g.member() == nullptr) return submit(d, code, what);
  worker& w = *static_cast<worker*>(g.member());
  task& t = *static_cast<task*>(d.task);
  skip_if_dry(t, what.h, w.engine.options.dry);
  const reference me = fill_member(w, t, code, what.h);
  const std::uint64_t began = w.creating_since;  // read now, because starting the task may create others
  start_member(w, t);
  note_created(w, g.tasks(), me, what, began);
  return me.packed();
}

}  // namespace kith::detail
