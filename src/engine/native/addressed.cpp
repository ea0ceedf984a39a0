#include "engine/native/addressed.hpp"

#include "base/invariant.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "task/edges.hpp"

#include <utility>

namespace kith::native {

void submit_addressed(worker& creator, worker_id at, detail::draft d, detail::task_code code, std::uint16_t type) {
  native::engine& engine = creator.engine;
  KITH_ASSERT(!engine.policy.has_gate(), "no order is imposed");
  task& t = *static_cast<task*>(d.task);
  detail::scope& s = *t.scope;
  detail::hints h;
  h.type = type;
  fill(t, code, h, s.count_created());
  t.flags |= task::addressed;
  const reference me = edges::reference_to(engine.space, t);
  creator.sums.add(event::task_created);
  const std::uint64_t began = creator.creating_since;
  mark_queued(t);
  engine.workers[at.index()].addressed.push(t);
  engine.parked.wake(at);  // S3 of sleepers.hpp: after the push
  // The task may have ended, and its slot may have been reused.
  note_created(creator, s, me, detail::declared({}, {}, h), began);
}

/// A task that only this worker runs; null if none waits.
task* worker::take_addressed() noexcept {
  if (addressed.empty()) return nullptr;
  task* const first = addressed.take_all();
  for (task* more = get_next(*first); more != nullptr;) addressed.push(*std::exchange(more, get_next(*more)));
  return first;
}

}  // namespace kith::native
