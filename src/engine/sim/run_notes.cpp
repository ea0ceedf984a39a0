#include "engine/sim/run_notes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kith::sim {

namespace {

constexpr std::uint64_t not_created = ~std::uint64_t{0};

std::int16_t narrow(std::uint32_t worker) { return static_cast<std::int16_t>(worker); }

}  // namespace

run_notes::run_notes(const recording& of) : kept_(of), last_home_(of.regions.size(), 0) {
  kept_.waits.clear();
  kept_.steals.clear();
  kept_.idles.clear();
  kept_.jobs.clear();
  kept_.homes.clear();
  kept_.messages.clear();
  for (recorded_task& t : kept_.tasks) {
    t.created = not_created;
    t.create_until = t.create_ns = t.ready = t.started = t.ended = t.completed = t.explore_started = t.explore_ended =
        0;
    t.worker = -1;
    t.explorer = -1;
  }
}

void run_notes::created(std::int32_t t, picoseconds now) {
  recorded_task& kept = task(t);
  kept.create_until = now / 1000;
  kept.created = std::min(kept.created, kept.create_until);
  kept.create_ns = kept.create_until - kept.created;
}

void run_notes::explored(std::int32_t t, std::uint32_t worker, picoseconds began, picoseconds ended) {
  recorded_task& kept = task(t);
  kept.explorer = narrow(worker);
  kept.explore_started = began / 1000;
  kept.explore_ended = ended / 1000;
}

void run_notes::ran(std::int32_t t, std::uint32_t worker, picoseconds began, picoseconds ended) {
  recorded_task& kept = task(t);
  kept.worker = static_cast<std::int32_t>(worker);
  kept.started = began / 1000;
  kept.ended = ended / 1000;
}

void run_notes::waited(std::int32_t t, std::uint32_t scope, std::uint32_t worker, picoseconds began,
                       picoseconds ended) {
  kept_.waits.push_back({t, scope, narrow(worker), began / 1000, ended / 1000});
}

void run_notes::idled(std::uint32_t worker, picoseconds began, picoseconds ended) {
  kept_.idles.push_back({narrow(worker), began / 1000, ended / 1000});
}

void run_notes::stole(std::uint32_t worker, std::uint32_t victim, picoseconds now) {
  kept_.steals.push_back({narrow(worker), narrow(victim), now / 1000});
}

void run_notes::did_job(std::uint32_t worker, job_size size, picoseconds began, picoseconds ended) {
  kept_.jobs.push_back({narrow(worker), size.tasks, size.dependences, began / 1000, ended / 1000});
}

void run_notes::home(std::uint32_t region, const std::vector<std::uint64_t>& bytes, picoseconds since) {
  std::vector<recorded_home>& homes = kept_.homes;
  std::uint32_t& last = last_home_[region];
  std::vector<std::uint64_t> known(bytes.size());
  for (std::size_t h = last; h != 0 && h <= homes.size(); ++h) {
    const recorded_home& x = homes[h - 1];
    if (x.region != region || x.at != homes[last - 1].at) break;
    known[static_cast<std::size_t>(x.node)] = x.bytes;
  }
  if (known == bytes) return;
  const std::uint64_t time = std::max(since / 1000, last == 0 ? 0 : homes[last - 1].at + 1);  // a new group of rows
  last = static_cast<std::uint32_t>(homes.size() + 1);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (bytes[n] != 0) homes.push_back({region, static_cast<std::int16_t>(n), bytes[n], time});
  }
}

recording run_notes::take() {
  std::uint64_t asked_for = 0;  // when the task before a fence was created
  for (recorded_task& t : kept_.tasks) {
    if (t.created == not_created) t.created = t.create_until = t.has(recorded_task::fence) ? asked_for : t.started;
    asked_for = t.created;
  }
  std::ranges::sort(kept_.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
  return std::move(kept_);
}

}  // namespace kith::sim
