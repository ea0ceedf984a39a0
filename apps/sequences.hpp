// Two sequences to be aligned, how an alignment is scored, and the alignment itself: what sw and swn2 have in common.
#pragma once

#include "parameters.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

struct sequences {
  std::string source;  // where they are from
  std::string name_a, name_b;
  std::string a, b;
};

/// From --input, a FASTA file with two records or more (the first two are taken), or generated: --size letters of DNA,
/// and a copy that has undergone substitutions, insertions and deletions. Throws kith::error with file and line.
sequences read_sequences(const arguments&);
sequences read_fasta(const std::string& path);

struct scoring {
  std::int32_t match, mismatch;                   // the second is taken off
  std::function<std::int32_t(std::int64_t)> gap;  // what a gap of k letters costs, k >= 1

  std::int32_t of(char x, char y) const noexcept { return x == y ? match : -mismatch; }
};

/// A local alignment: two rows of equal length, '-' in the gaps, without leading or trailing ones.
struct alignment {
  std::int64_t begin_a = 0, begin_b = 0;  // the letters they begin with
  std::string a, b;

  /// Put in front, when walking backwards.
  void add(char x, char y) {
    a.push_back(x);
    b.push_back(y);
  }
  void finish(std::int64_t from_a, std::int64_t from_b);
  std::int64_t score(const scoring&) const;
  double identity_percent() const;
};

/// Whether the rows are what they claim to be of these sequences.
bool fits(const alignment&, const sequences&);

}  // namespace kith::apps
