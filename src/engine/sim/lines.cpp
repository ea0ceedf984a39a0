// How tasks replay the lines that they touch, in fidelity *line*.
//
// A task's time is that of its accesses. Each takes the core's own time between two accesses, and the time of the
// caches. The former is that of the task's instructions, shared out evenly over its accesses, or a constant of the
// machine where they were not counted. Its lines are shared out over its pieces of computing by their recorded times.
//
// A worker runs ahead of the others while its own caches serve it, by up to 1000 cycles. Accesses that need the
// directory happen in the order of time, so links and controllers see requests in that order. A core notices late, by
// at most that time, that another has taken a line away. Then it stays with the others for 10000 cycles, and replays
// touch by touch. But joined touches (line_streams.hpp) are replayed line after line then, not interleaved: with false
// sharing, how often cores take the line from each other depends on whether they are in step. Tasks that are ordered by
// what they declare do not have this cost.
#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <time.h>
#include <algorithm>

namespace kith::sim {

namespace {

constexpr double cycles_ahead = 1000, cycles_contended = 10'000;

double processor_seconds() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

double cycles_between_accesses(const program& p, const machine_model& m, const run_options& s, std::size_t t) noexcept {
  if (s.access_cycles) return *s.access_cycles;
  const double instructions = p.lines.instructions.empty() ? -1 : p.lines.instructions[t];
  return instructions < 0 || m.line.instruction_cycles == 0 ? m.line.access_cycles
                                                            : instructions * m.line.instruction_cycles;
}

void engine::make_lines() {
  if (!options_.parts.caches)
    throw error("--without caches: the fidelity line is nothing without them; expected --fidelity block",
                error_kind::setting);
  if (options_.distribution != distribution::first_touch && !machine_.line.homes)
    throw error(
        "the fidelity line deals lines to the nodes in turn; expected no --distribution, or a machine with home "
        "caches, as tilepro64",
        error_kind::setting);
  std::vector<node_id> nodes;
  for (int w = 0; w < team_.size(); ++w) nodes.push_back(machine_.hardware.cores[static_cast<std::size_t>(w)].node);
  lines_.emplace(machine_, program_.lines, std::move(nodes), options_.parts);
  const double cycle = 1000 / machine_.ghz;
  most_ahead_ = static_cast<picoseconds>(cycles_ahead * cycle);
  contention_time_ = static_cast<picoseconds>(cycles_contended * cycle);
  replay_began_ = processor_seconds();
}

picoseconds engine::access_interval(std::size_t t) const noexcept {
  return static_cast<picoseconds>(cycles_between_accesses(program_, machine_, options_, t) * 1000 / machine_.ghz);
}

bool engine::has_rows(const frame& f) const noexcept {
  return f.row < program_.lines.rows_of(static_cast<std::size_t>(f.task)).size();
}

/// How many lines of the worker's stacks are in use by the task's program.
std::uint32_t engine::lines_in_use(const worker& w, std::int32_t task) const noexcept {
  const std::size_t member = program_.member_of(static_cast<std::size_t>(task));
  const auto is_of_member = [&](const frame& f) {
    return program_.member_of(static_cast<std::size_t>(f.task)) == member;
  };
  const auto innermost = [&](const frame_stack& s) {
    const auto found = std::ranges::find_if(s.rbegin(), s.rend(), is_of_member);
    return found == s.rend() ? nullptr : &*found;
  };
  const frame* f = innermost(w.frames);
  for (auto s = w.suspended.rbegin(); f == nullptr && s != w.suspended.rend(); ++s) f = innermost(*s);
  return f == nullptr ? 0 : f->stack_base + program_.lines.stack_depth[static_cast<std::size_t>(f->task)];
}

/// Begins to replay the task's lines that belong to a piece of computing, or all that are left.
void engine::begin_replay(worker& w, frame& f, picoseconds work, bool all) {
  const auto t = static_cast<std::size_t>(f.task);
  const std::span<const line_touches> rows = program_.lines.rows_of(t);
  f.computed += work;
  std::uint64_t until = rows.size();
  if (!all && f.computed < program_.compute[t])
    until = std::max(f.row, static_cast<std::uint64_t>(share_of(rows.size(), f.computed, program_.compute[t])));
  w.lines = {.next = rows.data() + f.row, .end = rows.data() + until, .each = by_factor(access_interval(t), f.factor)};
  f.row = until;
  if (w.lines.next == w.lines.end) return;
  f.state = frame_state::replaying;
  replay(w, f);
}

void engine::replay(worker& w, frame& f) {
  const auto core = w.number;
  const picoseconds others = events_.first_but(core);
  const auto replay_limit = [&](picoseconds time) {
    if (time < w.contended_until) return others;
    return others < event_queue::never - most_ahead_ ? others + most_ahead_ : event_queue::never;
  };
  const picoseconds first = lines_->first(), idle = lines_->idle_memory(), began = w.clock;
  const line_streams& all = program_.lines;
  const line_streams::stack_area stacks = all.stacks[program_.member_of(static_cast<std::size_t>(f.task))];
  const line_touches* next = w.lines.next;
  std::uint32_t taken = w.lines.taken;
  picoseconds now = began, until = replay_limit(now);
  while (next != w.lines.end && now <= until) {
    const std::uint32_t line = all.line_of(next->line, core, f.stack_base, stacks);
    picoseconds took = w.lines.each;
    if (const std::optional<picoseconds> near = lines_->hit(core, line, next->writes != 0)) {
      took += *near;
    } else {
      if (next + 1 != w.lines.end) lines_->prefetch(core, all.line_of(next[1].line, core, f.stack_base, stacks));
      if (now > others && now != began) break;
      const picoseconds data = lines_->fetch(core, line, next->writes != 0, now + took, now);
      if (data > idle) w.stall += data - idle;
      if (const core_set& losers = lines_->losers(); !losers.none()) {
        const picoseconds end = w.contended_until = now + contention_time_;
        losers.each([&](std::size_t loser) {  // its own clock may be later
          workers_[loser].contended_until = std::max(workers_[loser].contended_until, end);
        });
      }
      until = replay_limit(now);
      took += data;
    }
    // While other cores want its lines, each touch is replayed by itself: the next one may find that the line is gone.
    const std::uint32_t touches = now < w.contended_until ? 1 : next->count - taken;
    now += took + (touches - 1) * (w.lines.each + first);
    lines_->counts.touches += touches;
    lines_->counts.accesses += taken == 0;
    taken += touches;
    if (taken == next->count) {
      ++next;
      taken = 0;
    }
  }
  w.lines.next = next;
  w.lines.taken = taken;
  w.clock = now;
  w.useful += now - began;
  if (next == w.lines.end) f.state = frame_state::running;
}

void engine::measure_lines_from_here() {
  if (options_.cold) lines_->empty_caches();
  lines_->counts.flits = lines_->network.flits;
  baseline_.lines = lines_->counts;
  baseline_.links = lines_->network.counted_links();
  baseline_.local_bytes = lines_->local_bytes;
  baseline_.remote_bytes = lines_->remote_bytes;
}

void engine::line_results(result& r) {
  line_figures& f = r.lines.emplace();
  const double took = processor_seconds() - replay_began_;
  line_counts& now = lines_->counts;
  now.flits = lines_->network.flits;
  if (took > 0) f.replayed_per_second = static_cast<double>(now.touches) / took;
  static_cast<line_counts&>(f) = now - baseline_.lines;
  f.cycles = static_cast<double>(r.makespan) * machine_.ghz / 1000;
  r.cache_misses = f.second_misses;
  r.cache_hits = f.accesses - f.second_misses;
  r.local_bytes = lines_->local_bytes - baseline_.local_bytes;
  r.remote_bytes = lines_->remote_bytes - baseline_.remote_bytes;
  r.links = lines_->network.counted_links();
  for (std::size_t l = 0; l < r.links.size(); ++l) {
    r.links[l].data -= baseline_.links[l].data;
    r.links[l].control -= baseline_.links[l].control;
    r.network_bytes += r.links[l].data + r.links[l].control;
  }
  if (const event_energies& e = machine_.energies; e.flit_bytes != 0) {  // else the machine has no table of energies
    const double per_flit = e.flit_hop * machine_.line.flit_bytes / e.flit_bytes;
    r.network_nj = static_cast<double>(f.flits) * per_flit / 1000;
  }
  f.energy = energies_of(f, r.network_nj, r.unit_operations, machine_, unit_.has_value());
}

}  // namespace kith::sim
