// What a place makes for itself: parts of coroutines and tasks of a data_flow. They wait at the place of their creator
// for ends and results, of which the places where tasks ran tell it.
#include "engine/sim/engine.hpp"

namespace kith::sim {

bool engine::has_result(std::int32_t t) const noexcept {
  return !program_.result_bytes.empty() && program_.result_bytes[static_cast<std::size_t>(t)] >= 0;
}

bool engine::answers(std::int32_t t) const noexcept {
  return has_result(t) && place_of(t) != home_of(records_[static_cast<std::size_t>(t)].scope);
}

/// Makes the next part of a coroutine that has just been suspended.
void engine::continue_later(worker& w, std::int32_t t) {
  make_policy_task(w, t).owner = 0xffff;
  link(t);
  task_record& r = record_of(t);
  const auto replies = replies_left_.find(t);
  r.waits_for += 1 + (replies == replies_left_.end() ? 0 : replies->second);
  count_down_wait(t, w.group.place, w.clock);
}

void engine::add_to_flow(worker& w, std::int32_t t) {
  make_policy_task(w, t).owner = 0xffff;
  if (link(t)) admit(t, make_progress(w.group.place, w.clock));
}

/// Called when something that the task waited for has ended, here or at another place that has told this one.
void engine::count_down_wait(std::int32_t t, std::uint32_t place, picoseconds now) {
  task_record& r = record_of(t);
  if (--r.waits_for != 0) return;
  worker& p = make_progress(place, now);
  if (r.flow) {
    admit(t, p);
    return;
  }
  if (notes_) notes_->made(t, p.clock);
  r.waits_for = 1;
  count_down(t, p);
}

/// Starts a task of a data_flow that may run: at its own place at once, at another when there is room.
void engine::admit(std::int32_t t, worker& progress) {
  task_record& r = record_of(t);
  r.waits_for = 1;
  if (place_of(t) == progress.group.place) {
    count_down(t, progress);
    return;
  }
  flow_window& there = flow_windows_[{r.scope, place_of(t)}];
  if (there.under_way >= options_.places.fab_threshold) {
    there.ready.push_back(t);
    return;
  }
  ++there.under_way;
  offer_of_flow(t, progress);
}

void engine::offer_of_flow(std::int32_t t, worker& progress) {
  network_->send({.from = progress.group.place, .to = place_of(t), .task = t}, argument_bytes(t), progress.clock);
}

void engine::send_result(std::int32_t t, worker& w) {
  const worker& p = make_progress(w.group.place, w.clock);
  network_->send({.what = place_message::kind::result,
                  .from = w.group.place,
                  .to = home_of(record_of(t).scope),
                  .task = t,
                  .scope = record_of(t).scope},
                 static_cast<std::uint64_t>(program_.result_bytes[static_cast<std::size_t>(t)]), p.clock);
}

void engine::receive_result(const place_message& m) {
  worker& p = places_[m.to].progress;
  task_record& r = record_of(m.task);
  r.heard = true;
  for (std::uint32_t link = r.first_successor; link != 0; link = successors_[link - 1].next) {
    if (waits_for_answers(record_of(successors_[link - 1].task)))
      count_down_wait(successors_[link - 1].task, m.to, p.clock);
  }
  if (r.flow) {
    flow_window& there = flow_windows_[{r.scope, m.from}];
    if (there.ready.empty()) {
      --there.under_way;
    } else {
      offer_of_flow(there.ready.front(), p);
      there.ready.pop_front();
    }
  }
  end_in_scope(m.scope, p);
  end_left(p, false);
}

}  // namespace kith::sim
