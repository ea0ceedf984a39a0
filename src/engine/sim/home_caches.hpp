// Private caches of two levels for each core, where the second level of one core is the *home* of a line: other cores
// get the line from there, and send what they write there.
//
// As in the TILEPro64 (MIR thesis, section 3.2). A core that reads a line of another home keeps a copy in its first
// level, and in its second, too, if the machine does so (`home_copies`). A home has a line as long as others have
// copies of it (inclusive); it reads the line from memory. Writes pass through to the home and allocate nothing on the
// way; the home drops the copies of others. The writer's own copy stays, and has the new value, or is dropped, too.
//
// The lines of the first level may be shorter than those of the second: an access names a line of the first level,
// which is a part of line `line >> shift` of the second.
//
//  H1  A core that is not the home is in `copies_` of a line if any part of it is in its caches. (A home does not
//      notice that a first level has dropped its parts.)
//  H2  A line of which any core has a part is in the second level of its home.
//  H3  A part in the first level of the line's home is in its second, too; the same holds for a copy where second
//      levels have copies.
//  H4  A mark says that memory has an older value; only a home's second level has marks.
//
// Lines are numbers, close together, from 0 on. For one thread.
#pragma once

#include "engine/sim/cache_level.hpp"
#include "engine/sim/core_set.hpp"
#include "machine/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::sim {

class home_caches {
 public:
  /// Where a line came from. memory: by way of the home.
  enum class found_in : std::uint8_t { first, second, home, memory };
  struct outcome {
    found_in from = found_in::first;
    core_set dropped = {};           // the cores that lost their copies to a write
    std::uint32_t written_back = 0;  // changed lines that homes sent to memory to make room
  };

  /// REQUIRES: at most core_set::most cores, `lines` lines of the first level, fewer than 2^31, and at least one way.
  home_caches(std::size_t cores, cache_shape first, cache_shape second, unsigned shift, std::size_t lines,
              home_copies c)
      : shift_(shift),
        kind_(c),
        home_((lines >> shift) + 1, 0),
        copies_((lines >> shift) + 1, cores),
        first_(cores, cache_level(first)),
        second_(cores, cache_level(second)) {}

  /// REQUIRES: no core has touched the line. Takes a line of the first level; all of its second-level line moves.
  void set_home(std::uint32_t line, std::size_t core) noexcept {
    home_[line >> shift_] = static_cast<std::uint8_t>(core);
  }
  std::size_t home(std::uint32_t line) const noexcept { return home_[line >> shift_]; }

  /// Serves the access if the core's own caches can do so without a message. A write can be served so if the line's
  /// home is here and no other core has a copy.
  std::optional<found_in> hit(std::size_t core, std::uint32_t line, bool writes) noexcept {
    const std::uint32_t whole = line >> shift_;
    if (writes) {
      if (home_[whole] != core || !copies_.none(whole)) return std::nullopt;
      std::uint32_t* const e = second_[core].use(whole);
      if (e == nullptr) return std::nullopt;
      *e |= cache_level::marked;
      return found_in::first;
    }
    if (first_[core].use(line) != nullptr) return found_in::first;
    if (second_[core].use(whole) == nullptr) return std::nullopt;
    first_[core].insert(line << 1);
    return found_in::second;
  }

  /// Serves any access.
  outcome ask(std::size_t core, std::uint32_t line, bool writes) {
    if (const std::optional<found_in> near = hit(core, line, writes)) return {.from = *near};
    outcome o;
    const std::uint32_t whole = line >> shift_;
    const std::size_t home = home_[whole];
    o.from = found_in::home;
    std::uint32_t* e = second_[home].use(whole);
    if (e == nullptr) {
      o.from = found_in::memory;
      insert(home, whole, o);
      e = second_[home].find(whole);
    }
    if (writes) {
      *e |= cache_level::marked;
      write(core, home, whole, o);
      return o;
    }
    if (core != home) {
      if (kind_ != home_copies::first_level) insert(core, whole, o);
      copies_.add(whole, core);
    }
    first_[core].insert(line << 1);
    return o;
  }

  bool in_first(std::size_t core, std::uint32_t line) const noexcept { return first_[core].find(line) != nullptr; }
  bool in_second(std::size_t core, std::uint32_t line) const noexcept {
    return second_[core].find(line >> shift_) != nullptr;
  }
  /// The cores that have copies of the line, without its home. For tests.
  core_set copies_of(std::uint32_t line) const noexcept { return copies_.cores_of(line >> shift_); }

  /// Empties all caches; nothing is written back.
  void clear() noexcept {
    for (std::vector<cache_level>* level : {&first_, &second_}) {
      for (cache_level& c : *level) c.clear();
    }
    copies_.clear();
  }

 private:
  /// A write by a core, which may be the home: the others lose their copies.
  void write(std::size_t core, std::size_t home, std::uint32_t whole, outcome& o) noexcept {
    const core_set all = copies_.cores_of(whole);
    o.dropped = all;
    o.dropped.remove(core);
    drop_copies(whole, kind_ == home_copies::dropped ? all : o.dropped);
    if (core != home) drop_parts(home, whole);
  }
  void drop_copies(std::uint32_t whole, const core_set& cores) noexcept {
    cores.each([&](std::size_t other) {
      second_[other].remove(whole);
      drop_parts(other, whole);
      copies_.remove(whole, other);
    });
  }
  void drop_parts(std::size_t core, std::uint32_t whole) noexcept {
    for (std::uint32_t part = 0; part < 1u << shift_; ++part) first_[core].remove((whole << shift_) + part);
  }
  /// Inserts a line that the core's second level does not have; it loses another one.
  void insert(std::size_t core, std::uint32_t whole, outcome& o) noexcept {
    const std::uint32_t lost = second_[core].insert(whole << 1);
    if (lost == cache_level::none) return;
    const std::uint32_t gone = lost >> 1;
    drop_parts(core, gone);
    if (home_[gone] == core) {
      drop_copies(gone, copies_.cores_of(gone));
      o.written_back += lost & cache_level::marked;
    } else {
      copies_.remove(gone, core);
    }
  }

  static_assert(core_set::most <= 256, "a home is a byte");
  unsigned shift_;
  home_copies kind_;
  std::vector<std::uint8_t> home_;           // by line of the second level: a core
  core_sets copies_;                         // the same
  std::vector<cache_level> first_, second_;  // by core
};

}  // namespace kith::sim
