// Sets of cores, in fidelity *line*: one by itself, and one for each of many lines.
#pragma once

#include "engine/sim/huge_pages.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

/// A set of cores with the numbers 0 .. most - 1.
class core_set {
 public:
  static constexpr std::size_t most = 256, words = most / 64;

  bool none() const noexcept {
    std::uint64_t any = 0;
    for (const std::uint64_t w : bits_) any |= w;
    return any == 0;
  }
  bool has(std::size_t core) const noexcept { return (bits_[core / 64] >> core % 64 & 1) != 0; }
  void add(std::size_t core) noexcept { bits_[core / 64] |= std::uint64_t{1} << core % 64; }
  void remove(std::size_t core) noexcept { bits_[core / 64] &= ~(std::uint64_t{1} << core % 64); }
  /// Calls f(core) for each, the lowest number first.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < words; ++i) {
      for (std::uint64_t rest = bits_[i]; rest != 0; rest &= rest - 1)
        f(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
  friend bool operator==(const core_set&, const core_set&) = default;

 private:
  friend class core_sets;
  std::array<std::uint64_t, words> bits_{};
};

/// A set of cores for each line, and `notes` words beside it for the caller. A set takes one word for each 64 cores.
/// REQUIRES, for all: line and core are less than what the constructor got.
class core_sets {
 public:
  /// REQUIRES: at most core_set::most cores.
  core_sets(std::size_t lines, std::size_t cores, std::size_t notes = 0)
      : notes_(notes), words_(notes + (cores + 63) / 64) {
    reserve_huge_pages(bits_, lines * words_);
    bits_.resize(lines * words_);
  }

  /// Begins to load what is kept for the line.
  void prefetch(std::size_t line) const noexcept { __builtin_prefetch(&bits_[line * words_]); }

  std::uint64_t& note(std::size_t line) noexcept { return bits_[line * words_]; }
  std::uint64_t note(std::size_t line) const noexcept { return bits_[line * words_]; }
  bool none(std::size_t line) const noexcept {
    std::uint64_t any = 0;
    for (std::size_t i = notes_; i < words_; ++i) any |= bits_[line * words_ + i];
    return any == 0;
  }
  /// Whether the set of the line is this core alone.
  bool only(std::size_t line, std::size_t core) const noexcept {
    std::uint64_t others = 0;
    for (std::size_t i = notes_; i < words_; ++i) {
      const std::uint64_t mine = i - notes_ == core / 64 ? std::uint64_t{1} << core % 64 : 0;
      others |= bits_[line * words_ + i] ^ mine;
    }
    return others == 0;
  }
  bool has(std::size_t line, std::size_t core) const noexcept {
    return (bits_[word(line, core)] >> core % 64 & 1) != 0;
  }
  void add(std::size_t line, std::size_t core) noexcept { bits_[word(line, core)] |= std::uint64_t{1} << core % 64; }
  void remove(std::size_t line, std::size_t core) noexcept {
    bits_[word(line, core)] &= ~(std::uint64_t{1} << core % 64);
  }
  core_set cores_of(std::size_t line) const noexcept {
    core_set s;
    for (std::size_t i = notes_; i < words_; ++i) s.bits_[i - notes_] = bits_[line * words_ + i];
    return s;
  }
  void clear(std::size_t line) noexcept {
    for (std::size_t i = notes_; i < words_; ++i) bits_[line * words_ + i] = 0;
  }
  /// Clears the sets of all lines; notes become 0.
  void clear() noexcept { bits_.assign(bits_.size(), 0); }

 private:
  std::size_t word(std::size_t line, std::size_t core) const noexcept { return line * words_ + notes_ + core / 64; }

  std::size_t notes_, words_;
  std::vector<std::uint64_t> bits_;  // by line: notes, then cores
};

}  // namespace kith::sim
