// Dependences between tasks of different places: the place of the predecessor tells that of the successor of the end.
// A task that is created after the end is told then.
#include "engine/sim/engine.hpp"

#include <algorithm>
#include <map>

namespace kith::sim {

/// link() of a program with places: a predecessor that has ended counts until this place knows it.
bool engine::link_among_places(std::int32_t t) {
  task_record& after = record_of(t);
  std::uint32_t left = 0;
  std::vector<std::uint32_t> late;  // dependences whose predecessors' places have not told this one yet
  for (std::uint32_t d = after.first_dependence; d < after.end_dependence; ++d) {
    const std::int32_t b = program_.predecessors[d];
    task_record& before = record_of(b);
    if (before.state == task_state::ended) {
      if (waits_for_answers(after)) {
        if (before.heard || !answers(b)) continue;
      } else {
        if (place_of(b) == place_of(t)) continue;
        late.push_back(d);
      }
    }
    ++left;
    add_edge(before, d, t);
  }
  after.waits_for = left;
  send_late_enables(t, late);
  return left == 0;
}

/// Whether the successor is counted down elsewhere when a task that ran on `w` has ended, or here by its answer.
bool engine::is_released_elsewhere(std::int32_t ended, std::int32_t next, std::uint32_t dependence, const worker& w) {
  if (waits_for_answers(record_of(next))) {
    if (!answers(ended)) answered_.push_back(next);
    return true;
  }
  if (!is_elsewhere(next, w)) return false;
  to_enable_.push_back(dependence);
  return true;
}

/// Tells another place that the predecessor of these dependences has ended.
void engine::send_enable(worker& w, std::uint32_t to, std::vector<std::uint32_t> dependences) {
  place_state& here = places_[w.group.place];
  here.progress.clock = std::max(here.progress.clock, w.clock) + message_cost_;
  std::uint64_t bytes = 0;
  for (std::uint32_t d : dependences) bytes += program_.recorded.dependences[d].bytes;
  network_->send(
      {.what = place_message::kind::enable, .from = w.group.place, .to = to, .dependences = std::move(dependences)},
      bytes, here.progress.clock);
}

/// Sends the dependences in to_enable_, in one message to each place that has tasks with them.
void engine::send_enables(worker& w) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_place;
  for (const std::uint32_t d : to_enable_) by_place[place_of(successors_[d].task)].push_back(d);
  for (auto& [place, of_place] : by_place) send_enable(w, place, std::move(of_place));
  to_enable_.clear();
}

/// Sends what a task created here has missed: predecessors at other places that had ended before.
void engine::send_late_enables(std::int32_t t, std::span<const std::uint32_t> dependences) {
  for (std::uint32_t d : dependences) {
    worker& there = places_[place_of(program_.predecessors[d])].progress;
    there.clock = std::max(there.clock, now_);
    send_enable(there, place_of(t), {d});
  }
}

void engine::receive_enable(const place_message& m) {
  for (std::uint32_t d : m.dependences) count_down(successors_[d].task, places_[m.to].progress);
}

}  // namespace kith::sim
