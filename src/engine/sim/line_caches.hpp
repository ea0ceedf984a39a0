// Private caches of two levels for each core, line by line, and the directory that keeps them coherent.
//
// Both levels are set-associative and replace the least recently used line of a set. The second includes the first;
// hits in the first do not change the second's order of use. The protocol is MOESI: a core that reads a line which no
// other core has gets it exclusively; a core that has changed a line passes it to readers and keeps it (owned), and
// writes it back when it loses it. A core's state of a line follows from the directory's entry, which is exact:
//
//   owner is this core, it alone holds the line, clean      exclusive
//   owner is this core, it alone holds the line, changed    modified
//   owner is this core, others hold the line, changed       owned
//   it holds the line, and is not the owner                 shared
//
//  L1  A core is in `holders` of a line exactly if the line is in its second level.
//  L2  All lines of a core's first level are in its second, with the same mark `writable`.
//  L3  A line that is writable in a core's caches is modified there. So most hits of writes need no directory. (A line
//      whose other holders have lost it is modified too, but not marked: the next write asks the directory, which need
//      not tell any core.)
//  L4  `owner` is a holder; a line that is `changed` has an owner.
//
// Lines are numbers, close together, from 0 on. For one thread.
#pragma once

#include "engine/sim/cache_level.hpp"
#include "engine/sim/core_set.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::sim {

class line_caches {
 public:
  /// Where a line came from.
  enum class found_in : std::uint8_t { first, second, other_core, memory };
  struct outcome {
    found_in from = found_in::first;
    std::int16_t supplier = -1;      // the core, if from another core
    bool asked = false;              // the directory was asked, for the line or for permission to write it
    core_set invalidated = {};       // the cores that lost the line
    std::int64_t written_back = -1;  // the changed line that this core lost to make room; -1: none
  };
  enum class line_state : std::uint8_t { invalid, shared, exclusive, owned, modified };

  /// REQUIRES: at most core_set::most cores, fewer than 2^31 lines (0 .. lines - 1), and at least one way.
  line_caches(std::size_t cores, cache_shape first, cache_shape second, std::size_t lines)
      : directory_(lines, cores, 1), first_(cores, level(first)), second_(cores, level(second)) {}

  outcome access(std::size_t core, std::uint32_t line, bool writes) {
    if (const std::optional<found_in> near = hit(core, line, writes)) return {.from = *near};
    return ask(core, line, writes);
  }

  /// Serves the access without the directory, and returns the level. None: only ask() can, and nothing has changed but
  /// the order of use.
  std::optional<found_in> hit(std::size_t core, std::uint32_t line, bool writes) noexcept {
    level& near = first_[core];
    if (const std::uint32_t* const e = near.use(line)) {
      if (writes && !is_writable(*e)) return std::nullopt;
      return found_in::first;
    }
    directory_.prefetch(line);
    level& far = second_[core];
    const std::uint32_t* const e = far.use(line);
    if (e == nullptr || (writes && !is_writable(*e))) {
      if (const std::uint32_t next = far.next_lost(line); next != none) directory_.prefetch(next >> 1);
      return std::nullopt;
    }
    near.insert(*e);
    return found_in::second;
  }

  /// Begins to load what an access of the line will read, if the first level has not got it.
  void prefetch(std::size_t core, std::uint32_t line) const noexcept {
    second_[core].prefetch(line);
    directory_.prefetch(line);
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
      o.from = found_in::second;
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

  line_state state_of(std::size_t core, std::uint32_t line) const noexcept {
    if (!directory_.has(line, core)) return line_state::invalid;
    if (owner_of(line) != static_cast<std::int64_t>(core)) return line_state::shared;
    if (!is_changed(line)) return line_state::exclusive;
    return directory_.only(line, core) ? line_state::modified : line_state::owned;
  }
  bool in_first(std::size_t core, std::uint32_t line) const noexcept { return first_[core].find(line) != nullptr; }
  bool in_second(std::size_t core, std::uint32_t line) const noexcept { return second_[core].find(line) != nullptr; }

 private:
  using level = cache_level;
  static constexpr std::uint32_t writable = cache_level::marked, none = cache_level::none;
  static bool is_writable(std::uint32_t entry) noexcept { return (entry & writable) != 0; }

  // What the directory has besides the holders: the owner, and whether memory has an older value.
  static constexpr std::int64_t nobody = -1;
  std::int64_t owner_of(std::uint32_t line) const noexcept {
    return static_cast<std::int64_t>(directory_.note(line) >> 1) - 1;
  }
  bool is_changed(std::uint32_t line) const noexcept { return (directory_.note(line) & 1) != 0; }
  void own(std::uint32_t line, std::int64_t owner, bool changed) noexcept {
    directory_.note(line) = static_cast<std::uint64_t>(owner + 1) << 1 | (changed ? 1 : 0);
  }

  /// Gets the line for a core that does not have it.
  void fetch(std::size_t core, std::uint32_t line, bool writes, outcome& o) {
    const std::int64_t owner = owner_of(line);
    o.from = found_in::memory;
    o.asked = true;
    if (owner != nobody) {
      o.from = found_in::other_core;
      o.supplier = static_cast<std::int16_t>(owner);
    }
    if (writes) {
      take_from_others(core, line, o);
      return;
    }
    if (owner != nobody) {
      if (is_changed(line)) {
        mark(static_cast<std::size_t>(owner), line, false);
      } else {
        own(line, nobody, false);
      }
    } else if (directory_.none(line)) {
      own(line, static_cast<std::int64_t>(core), false);
    }
    directory_.add(line, core);
  }

  /// The core writes: it becomes the only holder. The caller marks the line as writable.
  void take_from_others(std::size_t core, std::uint32_t line, outcome& o) {
    o.asked =
        is_changed(line) || owner_of(line) != static_cast<std::int64_t>(core);  // else it has the line exclusively
    o.invalidated = directory_.cores_of(line);
    o.invalidated.remove(core);
    o.invalidated.each([&](std::size_t other) {
      first_[other].remove(line);
      second_[other].remove(line);
    });
    directory_.clear(line);
    directory_.add(line, core);
    own(line, static_cast<std::int64_t>(core), true);
  }

  /// The core loses the line to make room.
  void give_up(std::size_t core, std::uint32_t line, outcome& o) {
    directory_.remove(line, core);
    if (owner_of(line) != static_cast<std::int64_t>(core)) return;
    if (is_changed(line)) o.written_back = line;
    own(line, nobody, false);
  }

  void mark(std::size_t core, std::uint32_t line, bool as_writable) noexcept {
    for (level* l : {&first_[core], &second_[core]}) {
      if (std::uint32_t* const e = l->find(line)) *e = line << 1 | (as_writable ? writable : 0);
    }
  }

  core_sets directory_;                // by line: the holders
  std::vector<level> first_, second_;  // by core
};

}  // namespace kith::sim
