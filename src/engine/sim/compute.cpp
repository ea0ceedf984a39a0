// The time that a task's body takes: its computing, and its data from caches and memories, chunk by chunk. lines.cpp
// has the model of single cache lines.
#include "engine/sim/engine.hpp"

#include <algorithm>
#include <utility>

namespace kith::sim {

void engine::compute(worker& w, frame& f, picoseconds work) {
  const task_record& t = record_of(f.task);
  if (lines_) {
    ++f.action;
    begin_replay(w, f, work, false);
    return;
  }
  if (!f.fetched && t.bytes != 0) {
    if (memory_) {
      begin_fetch(w, f, work);
      fetch_chunk(w, f);
      return;
    }
    work += data_.local(t.bytes, program_.exposure_of(static_cast<std::size_t>(f.task)));
  }
  f.fetched = true;
  const picoseconds took = by_factor(work, f.factor);
  w.clock += took;
  w.useful += took;
  expect_end(t);
  if (f.action != t.end_action) ++f.action;
}

void engine::begin_fetch(worker& w, frame& f, picoseconds work) {
  const task_record& t = record_of(f.task);
  f.state = frame_state::fetching;
  w.data = {.access = t.first_access,
            .end_access = t.end_access,
            .bytes = t.bytes,
            .work = work,
            .exposure = program_.exposure_of(static_cast<std::size_t>(f.task))};
  find_touched(w.data);
}

/// Finds the next access with touched bytes; false if there is none.
bool engine::find_touched(data_walk& d) {
  for (; d.access != d.end_access; ++d.access) {
    const program::access& a = program_.accesses[d.access];
    d.left = program_.touched_by(a);
    if (d.left == 0) continue;
    d.chunk = memory_->first_chunk(a.kept.region - 1);
    d.writes = a.kept.how != mode::in;
    return true;
  }
  return false;
}

/// Fetches the next chunk of the task's data, and computes the share of the work that belongs to it.
void engine::fetch_chunk(worker& w, frame& f) {
  data_walk& d = w.data;
  if (const std::uint32_t region = program_.accesses[d.access].kept.region; moves_here(w, region, d.writes))
    move_chunk(w, region - 1, d.chunk);
  const std::uint64_t bytes = std::min(memory_->chunk_bytes(), d.left);
  const fetched got = memory_->touch(d.chunk, bytes, d.writes, w.position, w.clock);
  const picoseconds near = data_.nearest(d.bytes)(bytes);
  const picoseconds data = exposed_time(d.exposure, got, near);
  const fetched unshared = {data_.memory()(bytes), level::memory};  // from the own node's memory
  const picoseconds idle = exposed_time(d.exposure, unshared, near);
  if (data > idle) w.stall += data - idle;
  d.done += bytes;
  const picoseconds before = std::exchange(d.work_done, share_of(d.work, d.done, d.bytes));
  const picoseconds code = by_factor(d.work_done - before, f.factor);
  // The exposure of a calibrated task accounts for what computing hides.
  const picoseconds hidden = d.exposure.calibrated() ? 0 : scaled(std::min(data, code), machine_.overlap);
  const picoseconds took = data + code - hidden;
  w.clock += took;
  w.useful += took;
  ++d.chunk;
  d.left -= bytes;
  if (d.left == 0) {
    ++d.access;
    if (!find_touched(d)) {
      f.state = frame_state::running;
      f.fetched = true;
      if (f.action != record_of(f.task).end_action) ++f.action;
      return;
    }
  }
  memory_->expect(d.chunk, w.position);
}

}  // namespace kith::sim
