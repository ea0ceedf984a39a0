#include "engine/native/held.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"
#include "task/edges.hpp"

namespace kith::native {

task& create_held(worker& creator) {
  const detail::draft d = detail::begin(creator.children(), detail::task_room(1, 1, std::size_t{0}));
  task& t = *static_cast<task*>(d.task);
  detail::scope& s = *t.scope;
  const auto nothing = [](void*, detail::action) { return detail::outcome::ended; };
  fill(t, nothing, {}, s.count_created());
  creator.sums.add(event::task_created);
  note_created(creator, s, edges::reference_to(creator.engine.space, t), detail::declaration<>::nothing,
               creator.creating_since);
  return t;
}

void open_held(task& t) noexcept {
  native::engine& engine = engine_of(*t.scope);
  mark_queued(t);
  engine.arrive(t);
}

}  // namespace kith::native
