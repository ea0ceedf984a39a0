// Private caches of two levels for each core, line by line, and the directory that keeps them coherent.
//
// Both levels are set-associative and replace the least recently used line of a set; the first is within the second
// (inclusive), which does not notice hits of the first. The protocol is MOESI: a core that reads a line which nobody has
// gets it exclusively; a core that has changed a line passes it to readers and keeps it (owned), and writes it back when it
// loses it. A core's state of a line follows from the directory's entry, which is exact:
//
//   owner is this core, it alone holds the line, clean      exclusive
//   owner is this core, it alone holds the line, changed    modified
//   owner is this core, others hold the line, changed       owned
//   it holds the line, and is not the owner                 shared
//
//  L1  A core is in `holders` of a line exactly if the line is in its second level.
//  L2  All lines of a core's first level are in its second, with the same mark `writable`.
//  L3  A line that is writable in a core's caches is modified there. So most hits of writes need no directory. (A line whose
//      other holders have lost it is modified too, but not marked: the next write asks the directory, in vain.)
//  L4  `owner` is a holder; a line that is `changed` has an owner.
//
// Lines are numbers, close together, from 0 on. For one thread.
#pragma once

#include "engine/sim/cache_level.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::sim {

class line_caches {
 public:
  /// Where a line came from.
  enum class source : std::uint8_t { first, second, other_core, memory };
  struct outcome {
    source from = source::first;
    std::int16_t supplier = -1;      // the core, if from another core
    bool asked = false;              // the directory was asked, for the line or for leave to write it
    std::uint64_t invalidated = 0;   // bit mask of the cores that lost the line
    std::int64_t written_back = -1;  // the changed line that this core lost to make room; -1: none
  };
  enum class state : std::uint8_t { invalid, shared, exclusive, owned, modified };

  /// REQUIRES: at most 64 cores, fewer than 2^31 lines (0 .. lines - 1), and at least one way.
  line_caches(std::size_t cores, cache_shape first, cache_shape second, std::size_t lines)
      : directory_(lines), first_(cores, level(first)), second_(cores, level(second)) {}

  outcome access(std::size_t core, std::uint32_t line, bool writes) {
    if (const std::optional<source> near = hit(core, line, writes)) return {.from = *near};
    return ask(core, line, writes);
  }

  /// The level that serves the access without the directory, and serves it. None: only ask() can, and nothing has changed
  /// but the order of use.
  std::optional<source> hit(std::size_t core, std::uint32_t line, bool writes) noexcept {
    level& near = first_[core];
    if (const std::uint32_t* const e = near.use(line)) {
      if (writes && !is_writable(*e)) return std::nullopt;
      return source::first;
    }
    const std::uint32_t* const e = second_[core].use(line);
    if (e == nullptr || (writes && !is_writable(*e))) return std::nullopt;
    near.insert(*e);
    return source::second;
  }

  /// Serves any access.
  outcome ask(std::size_t core, std::uint32_t line, bool writes) {
    outcome o;
    level& near = first_[core];
    level& far = second_[core];
    if (std::uint32_t* const hit = near.use(line)) {
      if (writes && !is_writable(*hit)) {
        take_from_others(core, line, o);
        *hit |= writable;
        *far.find(line) |= writable;
      }
      return o;
    }
    if (std::uint32_t* const hit = far.use(line)) {
      o.from = source::second;
      if (writes && !is_writable(*hit)) {
        take_from_others(core, line, o);
        *hit |= writable;
      }
      near.insert(*hit);
      return o;
    }
    fetch(core, line, writes, o);
    const std::uint32_t entry = line << 1 | (writes ? writable : 0);
    if (const std::uint32_t lost = far.insert(entry); lost != none) {
      near.remove(lost >> 1);
      give_up(core, lost >> 1, o);
    }
    near.insert(entry);
    return o;
  }

  state state_of(std::size_t core, std::uint32_t line) const noexcept {
    const directory_entry& d = directory_[line];
    if ((d.holders >> core & 1) == 0) return state::invalid;
    if (d.owner != static_cast<std::int16_t>(core)) return state::shared;
    if (!d.changed) return state::exclusive;
    return std::has_single_bit(d.holders) ? state::modified : state::owned;
  }
  bool in_first(std::size_t core, std::uint32_t line) const noexcept { return first_[core].find(line) != nullptr; }
  bool in_second(std::size_t core, std::uint32_t line) const noexcept { return second_[core].find(line) != nullptr; }

 private:
  using level = cache_level;
  static constexpr std::uint32_t writable = cache_level::marked, none = cache_level::none;
  static bool is_writable(std::uint32_t entry) noexcept { return (entry & writable) != 0; }

  struct directory_entry {
    std::uint64_t holders = 0;  // bit mask of cores
    std::int16_t owner = -1;
    bool changed = false;  // memory has an older value
  };

  /// A core that does not have the line gets it.
  void fetch(std::size_t core, std::uint32_t line, bool writes, outcome& o) {
    directory_entry& d = directory_[line];
    o.from = source::memory;
    o.asked = true;
    if (d.owner >= 0) {
      o.from = source::other_core;
      o.supplier = d.owner;
    }
    if (writes) {
      take_from_others(core, line, o);
      return;
    }
    if (d.owner >= 0) {
      const auto supplier = static_cast<std::size_t>(d.owner);
      if (d.changed) {
        mark(supplier, line, false);
      } else {
        d.owner = -1;
      }
    } else if (d.holders == 0) {
      d.owner = static_cast<std::int16_t>(core);
    }
    d.holders |= std::uint64_t{1} << core;
  }

  /// The core writes: it becomes the only holder. The caller marks the line as writable.
  void take_from_others(std::size_t core, std::uint32_t line, outcome& o) {
    directory_entry& d = directory_[line];
    o.asked = d.changed || d.owner != static_cast<std::int16_t>(core);  // else it has the line exclusively
    o.invalidated = d.holders & ~(std::uint64_t{1} << core);
    for (std::uint64_t rest = o.invalidated; rest != 0; rest &= rest - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(rest));
      first_[other].remove(line);
      second_[other].remove(line);
    }
    d = {std::uint64_t{1} << core, static_cast<std::int16_t>(core), true};
  }

  /// The core loses the line to make room.
  void give_up(std::size_t core, std::uint32_t line, outcome& o) {
    directory_entry& d = directory_[line];
    d.holders &= ~(std::uint64_t{1} << core);
    if (d.owner != static_cast<std::int16_t>(core)) return;
    if (d.changed) o.written_back = line;
    d.owner = -1;
    d.changed = false;
  }

  void mark(std::size_t core, std::uint32_t line, bool as_writable) noexcept {
    for (level* l : {&first_[core], &second_[core]}) {
      if (std::uint32_t* const e = l->find(line)) *e = line << 1 | (as_writable ? writable : 0);
    }
  }

  std::vector<directory_entry> directory_;  // by line
  std::vector<level> first_, second_;       // by core
};

}  // namespace kith::sim
