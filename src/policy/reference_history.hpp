// What a core used recently: a bounded list of references, or two Bloom filters. Used by `reference`.
//
// Token and Reference scheduling, sections 3.2 and 4.1. A reference that was just used weighs 1. For the list, each
// task that is sent to the core multiplies the weights of the others by `decay`; a full list loses its lightest. The
// filters take turns: when `capacity` references were added to one, the older is cleared and takes the next. A
// reference in the younger filter weighs 1, in the older one half. Filters may find what was never added.
//
// Not thread-safe.
#pragma once

#include "base/rng.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

class reference_list {
 public:
  reference_list(std::size_t capacity, float decay) : capacity_(capacity), decay_(decay) {}

  float weight(std::uint64_t reference) const noexcept {
    for (const known& k : known_) {
      if (k.reference == reference) return k.weight;
    }
    return 0;
  }

  void use(std::span<const std::uint64_t> references) {
    for (known& k : known_) k.weight *= decay_;
    for (std::uint64_t r : references) {
      auto at = std::ranges::find(known_, r, &known::reference);
      if (at == known_.end() && known_.size() == capacity_) at = std::ranges::min_element(known_, {}, &known::weight);
      if (at == known_.end()) at = known_.insert(at, known{});
      *at = {r, 1};
    }
  }

 private:
  struct known {
    std::uint64_t reference = 0;
    float weight = 0;
  };
  std::vector<known> known_;
  std::size_t capacity_;
  float decay_;
};

class reference_filters {
 public:
  explicit reference_filters(std::size_t capacity) : capacity_(capacity) {}

  float weight(std::uint64_t reference) const noexcept {
    if (has(younger_, reference)) return 1;
    return has(1 - younger_, reference) ? 0.5F : 0;
  }

  void use(std::span<const std::uint64_t> references) {
    for (std::uint64_t r : references) {
      if (has(younger_, r)) continue;
      if (added_ == capacity_) {
        younger_ = 1 - younger_;
        filters_[younger_].reset();
        added_ = 0;
      }
      for (std::size_t bit : bits_of(r)) filters_[younger_].set(bit);
      ++added_;
    }
  }

 private:
  static constexpr std::size_t bits = 256;
  static std::array<std::size_t, 2> bits_of(std::uint64_t reference) noexcept {
    const std::uint64_t h = mix(reference);
    return {h % bits, (h >> 32) % bits};
  }
  bool has(std::size_t filter, std::uint64_t reference) const noexcept {
    return std::ranges::all_of(bits_of(reference), [&](std::size_t bit) { return filters_[filter].test(bit); });
  }

  std::array<std::bitset<bits>, 2> filters_;
  std::size_t younger_ = 0, added_ = 0, capacity_;
};

}  // namespace kith
