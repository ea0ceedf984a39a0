#include "engine/sim/line_memory.hpp"

#include <kith/error.hpp>

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace kith::sim {

namespace {

constexpr std::size_t most_cores = core_set::most;

std::uint64_t first_line_of(const machine_model& m) { return static_cast<std::uint64_t>(m.line.first_line_bytes); }

/// Throws for a machine that cannot be modelled. Called before anything else uses the machine.
void refuse_others(const machine_model& m, const line_streams& touched, std::size_t cores) {
  if (!m.line.present)
    throw error("machine " + m.hardware.name +
                    " has no sizes of private caches; the fidelity line needs a machine with a table [line], as cmp-32 "
                    "has (docs/machines.md)",
                error_kind::setting);
  if (cores > most_cores)
    throw error(m.hardware.name + " has " + std::to_string(cores) + " cores; the fidelity line models up to " +
                    std::to_string(most_cores) + " (use --workers " + std::to_string(most_cores) + ")",
                error_kind::setting);
  if (touched.first.empty())
    throw error("fidelity line: the recording has no addresses; `kith record --addresses -- PROGRAM` records them",
                error_kind::input);
  if (touched.bytes != first_line_of(m))
    throw error("fidelity line: the addresses were read for lines of " + std::to_string(touched.bytes) + " bytes; " +
                    m.hardware.name + " has " + std::to_string(m.line.first_line_bytes),
                error_kind::setting);
  const auto most = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;  // several runs may be under way
  const std::uint64_t lines = touched.lines(cores);
  const std::uint64_t entry = 8 + (cores + 63) / 64 * 8;  // of the directory
  if (lines >= std::uint64_t{1} << 31 || lines * entry > most)
    throw error("fidelity line: the program's memory is " + std::to_string(lines) +
                    " lines on these cores, which take too much of this computer's; record a smaller run",
                error_kind::setting);
}

cache_shape shape_of(const line_costs::cache& c, std::uint64_t bytes = line_bytes) {
  return {static_cast<std::uint32_t>(c.bytes / c.ways / bytes), c.ways};
}

}  // namespace

std::uint32_t least_sets(const machine_model& m) noexcept {
  if (!m.line.present) return 1;
  return std::min(shape_of(m.line.first, first_line_of(m)).sets, shape_of(m.line.second).sets);
}

line_streams line_streams_on(const recording& r, const machine_model& m) {
  return line_streams_of(r, least_sets(m), m.line.present ? first_line_of(m) : line_bytes);
}

line_memory::line_memory(const machine_model& m, const line_streams& touched, std::vector<node_id> core_nodes,
                         const model_parts& parts)
    : network((refuse_others(m, touched, core_nodes.size()), m), parts.contention, parts.latency),
      machine_(m),
      core_nodes_(std::move(core_nodes)),
      touched_(touched),
      lines_(touched.lines(core_nodes_.size())),
      contended_(parts.contention),
      control_(static_cast<std::uint64_t>(m.line.control_bytes)),
      data_(static_cast<std::uint64_t>(m.line.data_bytes)),
      controllers_(m.hardware.nodes.size()),
      caches_(empty()) {
  const auto time_of = [&](double cycles) { return static_cast<picoseconds>(cycles * 1000 / m.ghz); };
  first_ = time_of(m.line.first.cycles);
  second_ = time_of(m.line.second.cycles);
  memory_ = time_of(m.line.memory_cycles);
  home_bytes_ = m.line.copies == home_copies::first_level ? first_line_of(m) : line_bytes;
  answer_ = data_ - line_bytes + home_bytes_;
  const picoseconds all = time_of(m.line.home_cycles), known = second_ + network.tail(control_) + network.tail(answer_);
  home_ = all - std::min(all, known);
  transfer_ = rate(m.memory_gbs)(line_bytes);
  if (m.line.homes) homes_.emplace(homes_of(touched));
}

line_caches line_memory::empty() const {
  const std::size_t lines = machine_.line.homes ? 0 : lines_;
  return {core_nodes_.size(), shape_of(machine_.line.first, first_line_of(machine_)), shape_of(machine_.line.second),
          lines};
}

/// Tells the other holders to drop the line; returns when the core has the confirmations of all.
picoseconds line_memory::invalidate(std::uint32_t core, const core_set& others, node_id home, picoseconds start,
                                    picoseconds now) {
  picoseconds done = start;
  others.each([&](std::size_t other) {
    const node_id holder = core_nodes_[other];
    const picoseconds notified = network.send(home, holder, control_, false, start, now);
    done = std::max(done, network.send(holder, core_nodes_[core], control_, false, notified, now));
    ++counts.invalidations;
  });
  return done;
}

picoseconds line_memory::fetch(std::uint32_t core, std::uint32_t line, bool writes, picoseconds start,
                               picoseconds now) {
  if (homes_) return fetch_from_home(core, line, writes, start, now);
  using found_in = line_caches::found_in;
  const line_caches::outcome o = caches_.ask(core, line, writes);
  if (o.from != found_in::first) ++counts.first_misses;
  const picoseconds own =
      o.from == found_in::first ? first_ : second_;  // the time in which the own caches find that they cannot serve it
  losers_ = o.invalidated;
  if (!o.asked) return own;
  const node_id here = core_nodes_[core], home = home_of(line);
  const picoseconds asked = network.send(here, home, control_, false, start + own, now);
  core_set others = o.invalidated;
  picoseconds until = asked;
  switch (o.from) {
    case found_in::first:
    case found_in::second:
      ++counts.upgrades;
      if (others.none()) until = network.send(home, here, control_, false, asked, now);
      break;
    case found_in::other_core: {
      ++counts.second_misses;
      ++counts.from_cores;
      const auto supplier = static_cast<std::size_t>(o.supplier);
      const node_id from = core_nodes_[supplier];
      const picoseconds notified = network.send(home, from, control_, false, asked, now);
      until = network.send(from, here, data_, true, notified + second_, now);
      others.remove(supplier);  // the supplier sends the line, and drops it
      (from == here ? local_bytes : remote_bytes) += line_bytes;
      if (writes) ++counts.invalidations;
      break;
    }
    case found_in::memory: {
      ++counts.second_misses;
      ++counts.from_memory;
      const picoseconds served = contended_ ? controllers_[home.index()].take(asked, transfer_, now) : asked;
      until = network.send(home, here, data_, true, served + memory_, now);
      (home == here ? local_bytes : remote_bytes) += line_bytes;
      break;
    }
  }
  until = std::max(until, invalidate(core, others, home, asked, now));
  if (o.written_back >= 0) {
    ++counts.written_back;
    const node_id to = home_of(static_cast<std::uint32_t>(o.written_back));
    const picoseconds there = network.send(here, to, data_, true, start + own, now);
    if (contended_) controllers_[to.index()].take(there, transfer_, now);
  }
  return until - start;
}

}  // namespace kith::sim
