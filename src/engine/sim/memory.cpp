#include "engine/sim/memory.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>

namespace kith::sim {

namespace {

constexpr std::uint64_t line_bytes = 64, control_bytes = 8;

std::uint64_t control_of(std::uint64_t bytes) { return (bytes + line_bytes - 1) / line_bytes * control_bytes; }

}  // namespace

memory::memory(const program& p, const machine_model& m, distribution d, const ablations& with,
               std::uint64_t chunk_bytes)
    : links(m),
      on_(m),
      with_(with),
      chunk_bytes_(chunk_bytes),
      caches_(m.hardware.nodes.size() * static_cast<std::size_t>(m.caches_per_node)),
      core_(m.core_gbs),
      cache_rate_(m.cache_gbs),
      between_(m.between_gbs > 0 ? m.between_gbs : m.core_gbs),
      own_rate_(m.private_gbs) {
  const std::size_t nodes = m.hardware.nodes.size();
  if (caches_.size() > 64)
    throw error(m.hardware.name + " has " + std::to_string(nodes) + " nodes with " + std::to_string(caches_.size()) +
                " last-level caches; the fidelity block models up to 64 (use --fidelity abstract)");
  std::uint64_t count = 0;
  for (std::size_t r = 0; r < p.of.regions.size(); ++r) {
    first_.push_back(static_cast<std::uint32_t>(count));
    const std::uint64_t here = (p.of.regions[r].bytes + chunk_bytes_ - 1) / chunk_bytes_;
    count += here;
    if (count > std::uint64_t{1} << 31)  // chunks() has 32 bits
      throw error("the program's data is more than 2^31 chunks; take larger ones (--chunk)");
    for (std::uint64_t c = 0; c < here; ++c) {
      const std::uint64_t dealt = d == distribution::fine ? home_.size() : r;
      const bool decided =
          (d == distribution::fine || d == distribution::coarse) && p.of.allocations.empty();  // else by put()
      home_.push_back(decided ? static_cast<std::int16_t>(dealt % nodes) : std::int16_t{-1});
    }
  }
  changed_by_.assign(count, -1);
  holders_.assign(count, 0);
  for (cache& c : caches_) c.at.assign(with.caches && m.cache_bytes != 0 ? count : 0, none);
  if (with.caches && m.private_bytes != 0) {
    own_.resize(m.hardware.cores.size());
    for (cache& c : own_) c.at.assign(count, none);
    seen_.assign(own_.size(), std::vector<std::uint32_t>(count, 0));
    version_.assign(count, 0);
  }
  controllers_.assign(nodes, {0, rate(m.memory_gbs)});
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = 0; b < nodes; ++b) {
      const int distance = with.latency ? m.hardware.distances[a][b] : 10;
      stretch_.push_back(static_cast<std::uint64_t>(distance) * 1024 / 10);
    }
  }
}

void memory::put(std::uint32_t region, std::uint64_t bytes, node_id at) {
  for (std::uint32_t c = 0; c < chunks(bytes); ++c) home_[first_[region] + c] = static_cast<std::int16_t>(at.value);
}

void memory::empty_caches() {
  changed_by_.assign(changed_by_.size(), -1);
  holders_.assign(holders_.size(), 0);
  for (cache& c : caches_) {
    c.lines.clear();
    c.at.assign(c.at.size(), none);
    c.newest = c.oldest = c.free = none;
    c.used = 0;
  }
}

void memory::put(std::uint32_t region, std::uint64_t bytes, const layout& as) {
  for (std::uint32_t c = 0; c < chunks(bytes); ++c) {
    if (const node_id at = as.node_at(region, c * chunk_bytes_))
      home_[first_[region] + c] = static_cast<std::int16_t>(at.value);
  }
}

void memory::unlink(cache& c, std::uint32_t i) noexcept {
  line& l = c.lines[i];
  (l.before != none ? c.lines[l.before].after : c.newest) = l.after;
  (l.after != none ? c.lines[l.after].before : c.oldest) = l.before;
}

void memory::push_newest(cache& c, std::uint32_t i) noexcept {
  line& l = c.lines[i];
  l.before = none;
  l.after = c.newest;
  (c.newest != none ? c.lines[c.newest].before : c.oldest) = i;
  c.newest = i;
}

void memory::remove(cache& c, std::uint32_t i) noexcept {
  line& l = c.lines[i];
  unlink(c, i);
  c.used -= l.bytes;
  c.at[l.chunk] = none;
  l.after = c.free;
  c.free = i;
}

/// The chunk becomes the newest of the cache, new or not. What it held stays: a neighbor may read one row of a block.
void memory::enter(cache& c, std::uint32_t chunk, std::uint64_t bytes) {
  std::uint32_t i = c.at[chunk];
  if (i != none) {
    unlink(c, i);
    bytes = std::max(bytes, std::uint64_t{c.lines[i].bytes});
    c.used -= c.lines[i].bytes;
  } else if (c.free != none) {
    i = c.free;
    c.free = c.lines[i].after;
  } else {
    i = static_cast<std::uint32_t>(c.lines.size());
    c.lines.emplace_back();
  }
  c.at[chunk] = i;
  c.lines[i].chunk = chunk;
  c.lines[i].bytes = static_cast<std::uint32_t>(bytes);
  c.used += bytes;
  push_newest(c, i);
}

/// A last-level cache forgets a line.
void memory::drop(std::size_t of, std::uint32_t i) noexcept {
  holders_[caches_[of].lines[i].chunk] &= ~(std::uint64_t{1} << of);
  remove(caches_[of], i);
}

/// A changed chunk goes home; nobody waits for it.
void memory::write_back(std::size_t from, std::uint32_t chunk, std::uint64_t bytes, picoseconds now) noexcept {
  const auto home = static_cast<std::size_t>(home_[chunk]);
  if (with_.contention) controllers_[home].serve(now, bytes);
  links.carry(node_of(from), node_id(static_cast<int>(home)), bytes, now, with_.contention);
  changed_by_[chunk] = -1;
}

/// A last-level cache takes the chunk in (or finds it), as the newest.
void memory::keep(std::size_t in, std::uint32_t chunk, std::uint64_t bytes, picoseconds now) {
  cache& c = caches_[in];
  if (c.at.empty()) return;
  enter(c, chunk, bytes);
  holders_[chunk] |= std::uint64_t{1} << in;
  while (c.used > on_.cache_bytes && c.oldest != c.newest) {
    const line& last = c.lines[c.oldest];
    if (changed_by_[last.chunk] == static_cast<std::int16_t>(in)) write_back(in, last.chunk, last.bytes, now);
    drop(in, c.oldest);
  }
}

bool memory::has_own(std::uint32_t core, std::uint32_t chunk) const noexcept {
  return !own_.empty() && own_[core].at[chunk] != none && seen_[core][chunk] == version_[chunk];
}

/// What leaves a core's own cache is still in the shared one.
void memory::keep_own(std::uint32_t core, std::uint32_t chunk, std::uint64_t bytes, bool writes) {
  if (own_.empty()) return;
  if (writes) ++version_[chunk];
  seen_[core][chunk] = version_[chunk];
  enter(own_[core], chunk, bytes);
  while (own_[core].used > on_.private_bytes && own_[core].oldest != own_[core].newest)
    remove(own_[core], own_[core].oldest);
}

fetched memory::touch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const place& at, picoseconds now) {
  const std::size_t here = at.cache, node = at.node.index();
  if (home_[chunk] < 0) home_[chunk] = static_cast<std::int16_t>(node);
  fetched f;
  if (has_own(at.core, chunk)) {
    ++hits;
    f = {own_rate_(bytes), level::own};
  } else if ((holders_[chunk] >> here & 1) != 0) {
    ++hits;
    f = {cache_rate_(bytes), level::last};
  } else {
    ++misses;
    const std::int16_t other = changed_by_[chunk];  // not this cache: it does not hold the chunk
    const bool elsewhere = other >= 0;
    const node_id from = elsewhere ? node_of(static_cast<std::size_t>(other)) : node_id(home_[chunk]);
    (from == at.node ? local_bytes : remote_bytes) += bytes;
    const rate& speed = elsewhere && from == at.node ? between_ : core_;
    picoseconds until = now + (speed(bytes) * stretch_[node * controllers_.size() + from.index()] >> 10);
    if (!elsewhere && with_.contention) until = std::max(until, controllers_[from.index()].serve(now, bytes));
    until = std::max(until, links.carry(from, at.node, bytes, now, with_.contention));
    f.took = until - now;
    if (elsewhere && !writes) write_back(static_cast<std::size_t>(other), chunk, bytes, now);
  }
  if (writes) {
    for (std::uint64_t others = holders_[chunk] & ~(std::uint64_t{1} << here); others != 0; others &= others - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(others));
      links.notify(at.node, node_of(other), control_of(bytes));
      drop(other, caches_[other].at[chunk]);
    }
    changed_by_[chunk] = static_cast<std::int16_t>(here);
  }
  keep(here, chunk, bytes, now);
  keep_own(at.core, chunk, bytes, writes);
  if (writes && caches_[here].at.empty()) write_back(here, chunk, bytes, now);  // no cache: straight to memory
  return f;
}

void memory::move_metadata(node_id from, node_id to, std::uint64_t bytes, picoseconds now) {
  if (from == to) return;
  remote_bytes += bytes;
  links.carry(from, to, bytes, now, with_.contention);
}

}  // namespace kith::sim
