// Two sequences to be aligned, the scoring of an alignment, and the alignment itself: shared by sw and swn2.
#pragma once

#include "parameters.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

struct sequences {
  std::string source;  // where the sequences are from
  std::string name_a, name_b;
  std::string a, b;
};

/// From --input, a FASTA file with two records or more, of which the first two are taken. Or generated: --size
/// letters of DNA, and a copy with substitutions, insertions and deletions. Throws kith::error with file and line.
sequences read_sequences(const arguments&);
sequences read_fasta(const std::string& path);

struct scoring {
  std::int32_t match, mismatch;                   // `mismatch` is subtracted
  std::function<std::int32_t(std::int64_t)> gap;  // the cost of a gap of k letters, k >= 1

  std::int32_t of(char x, char y) const noexcept { return x == y ? match : -mismatch; }
};

/// A local alignment: two rows of equal length, with '-' in the gaps, and without leading or trailing gaps.
struct alignment {
  std::int64_t begin_a = 0, begin_b = 0;  // the indices of the first letters
  std::string a, b;

  /// Adds a pair of letters; called backwards, from the end.
  void add(char x, char y) {
    a.push_back(x);
    b.push_back(y);
  }
  void finish(std::int64_t from_a, std::int64_t from_b);
  std::int64_t score(const scoring&) const;
  double identity_percent() const;
};

/// True if the rows are parts of these sequences, from the indices that it states.
bool fits(const alignment&, const sequences&);

}  // namespace kith::apps
