#include "engine/native/held.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"
#include "task/edges.hpp"

namespace kith::native {

task& create_held(worker& creator) {
  native::engine& engine = creator.engine;
  const detail::draft d = detail::begin(creator.children(), detail::task_room(1, 1, std::size_t{0}));
  task& t = *static_cast<task*>(d.task);
  detail::scope& s = *t.scope;
  t.code = [](void*, detail::action) { return detail::outcome::ended; };
  set_hints(t, {});
  t.sequence = s.count_created();
  creator.sums.add(event::task_created);
  if (creator.log != nullptr) [[unlikely]]
    creator.log->created({edges::reference_to(engine.space, t), creator.running_ref(), s.serial, creator.creating_since,
                          0, detail::declaration<>::nothing, 0, &s});
  return t;
}

void open_held(task& t) noexcept {
  native::engine& engine = static_cast<native_seat&>(*t.scope->seat).engine;
  mark_queued(t);
  engine.arrive(t);
}

}  // namespace kith::native
