#include "recording/touches.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <string>

namespace kith {

namespace {
std::vector<bool> without_fixed_size(const recording& r) {
  std::vector<bool> variable;
  for (const recorded_site& s : r.sites) variable.push_back(s.bytes == 0);
  return variable;
}
constexpr std::uint64_t most_lines = (std::uint64_t{1} << 40) - 1;  // as many as touches (check.cpp)
// Two reads and a write of 64 bytes in a cycle, at 6 GHz, are 18 lines; recording a touch takes some nanoseconds more.
constexpr std::uint64_t lines_in_a_nanosecond = 32;
constexpr std::uint64_t lines_beside = std::uint64_t{1} << 24;  // allowed in addition, for inexact clocks

/// The time in which the run can have touched memory: that of its workers, and of bodies, which may have run on other
/// threads. 0: not known, because the run did not end.
std::uint64_t nanoseconds_of(const recording& r) {
  std::uint64_t latest = 0, bodies = 0;
  for (const recorded_task& t : r.tasks) {
    if (t.has(recorded_task::root) && t.ended == 0) return 0;
    latest = std::max({latest, t.create_until, t.ended, t.completed, t.explore_ended});
    bodies += (t.ended > t.started ? t.ended - t.started : 0) +
              (t.explore_ended > t.explore_started ? t.explore_ended - t.explore_started : 0);
  }
  for (const recorded_wait& w : r.waits) latest = std::max(latest, w.ended);
  return std::max<std::uint64_t>(1, latest * r.worker_node.size() + bodies);
}
}  // namespace

touch_limit::touch_limit(const recording& r) : lines(most_lines) {
  if (r.meta_or("engine", "native") != "native") return;
  const std::uint64_t time = nanoseconds_of(r);
  if (time == 0 || time > (most_lines - lines_beside) / lines_in_a_nanosecond) return;
  nanoseconds_ = time;
  lines = time * lines_in_a_nanosecond + lines_beside;
}

std::string touch_limit::text() const {
  std::string all = std::to_string(lines) + " lines of 64 bytes";
  if (nanoseconds_ != 0)
    all += ", which are more than can be touched in " + std::to_string(nanoseconds_) +
           " ns, the time of its workers and tasks";
  return all;
}

touch_reader::touch_reader(const recording& r) : r_(r), reader_(without_fixed_size(r)), limit_(r) {}

std::uint64_t touch_reader::gather(std::size_t task) {
  std::uint64_t touches = 0;
  bytes_.clear();
  if (task + 1 >= r_.first_stream.size()) return 0;
  for (std::uint64_t s = r_.first_stream[task]; s < r_.first_stream[task + 1]; ++s) {
    touches += r_.streams[s].touches;
    bytes_.insert(bytes_.end(), r_.streams[s].bytes.begin(), r_.streams[s].bytes.end());
  }
  return touches;
}

void touch_reader::refuse(std::size_t task, const std::string& what) const {
  throw error((r_.file.empty() ? "the recording is" : r_.file + ":") + " damaged: table stream: of task " +
                  std::to_string(task) + ": " + what,
              error_kind::input);
}

void touch_reader::refuse_lines(std::size_t task, std::uint32_t site, std::uint64_t bytes) const {
  const recorded_site& s = r_.sites[site];
  const std::string line = s.file.empty() ? "" : " (" + printable(s.file) + ":" + std::to_string(s.line) + ")";
  refuse(task, "with a touch of " + std::to_string(bytes) + " bytes by site " + std::to_string(site) + line +
                   " the tasks up to it touch too much; expected at most " + limit_.text());
}

}  // namespace kith
