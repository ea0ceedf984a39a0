// What a worker does with the homes of a task's data before the task runs. Only where homes are looked up
// (engine::track_homes).
#include "engine/life/first_touch.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"

namespace kith::native {

/// Notes first touch, and counts remote accesses.
void worker::count_accesses(task& t, std::uint64_t began) {
  life::remote_count count(node);
  for (kept_access a : t.access_list()) {
    region& r = engine.regions[a.region];
    const bool untouched = r.home.load(relaxed) == region::no_home || r.promised.load(relaxed);
    const auto bind = [this](region& placed) { engine.memory.bind(placed); };
    const life::first_touch touched = life::touch(engine.memory.view(), r, a, node, by_node_, bind);
    if (touched.placed) sums.add(event::region_placed);
    if (a.how != mode::in && engine.policy.needs_writers())
      r.writer.store(static_cast<std::int16_t>(id.value), relaxed);  // readers become ready after this task has ended
    if (untouched) [[unlikely]]
      homes_.add(r);
    if (log != nullptr && r.recorded.load(relaxed) != r.home.load(relaxed)) [[unlikely]]
      note_home(r, began);
    const bool asked = r.take_move_request();
    if ((asked || (engine.options.migrate && a.how != mode::in)) && r.home_node() != node) mover_.add(r, a.bytes());
    count.access(a, touched.at, t.colored != 0);
  }
  if (t.color >= 0) count.task_belongs_to(life::node_of_color(engine.workers_where, t.color));
  sums.add(event::remote_access, count.remote());
  sums.add(event::local_access, count.local());
  if (mover_.full()) [[unlikely]]
    move_pages();
  if (homes_.full()) [[unlikely]]
    check_homes();
}

/// Records the region's home: the task that started at `began` is the first to find it there.
void worker::note_home(region& r, std::uint64_t began) {
  const std::int16_t at = r.home.load(relaxed);
  if (r.recorded.exchange(at, relaxed) == at) return;
  by_node_.assign(engine.hardware.nodes.size(), 0);
  engine.memory.view().add_bytes(r, r.bytes.load(relaxed), by_node_);
  for (std::size_t n = 0; n < by_node_.size(); ++n) {
    if (by_node_[n] != 0) log->home(r.address, by_node_[n], node_id(static_cast<int>(n)), began);
  }
}

void worker::move_pages() { sums.add(event::migrated, mover_.move(node)); }

void worker::check_homes() {
  const home_check::result found = homes_.look(
      [this](const region& r, node_id assumed, node_id actual) { engine.policy.found_elsewhere(r, assumed, actual); });
  sums.add(event::home_asked, found.asked);
  sums.add(event::home_elsewhere, found.elsewhere);
}

}  // namespace kith::native
