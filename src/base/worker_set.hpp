// A set of workers.
#pragma once

#include "base/id.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

class worker_set {
 public:
  worker_set() = default;
  /// The workers 0..workers-1.
  static worker_set all(int workers) {
    worker_set s;
    for (int w = 0; w < workers; ++w) s.insert(worker_id(w));
    return s;
  }
  static worker_set only(worker_id w) {
    worker_set s;
    s.insert(w);
    return s;
  }
  void insert(worker_id w) {
    if (w.index() / 64 >= words_.size()) words_.resize(w.index() / 64 + 1);
    words_[w.index() / 64] |= std::uint64_t{1} << (w.index() % 64);
  }
  void erase(worker_id w) {
    if (contains(w)) words_[w.index() / 64] &= ~(std::uint64_t{1} << (w.index() % 64));
  }
  bool contains(worker_id w) const {
    return w.index() / 64 < words_.size() && (words_[w.index() / 64] >> (w.index() % 64) & 1) != 0;
  }
  bool empty() const {
    for (std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  /// The first worker that is in both sets; none if there is none.
  worker_id first_common(const worker_set& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (const std::uint64_t both = words_[i] & other.word(i); both != 0)
        return worker_id(static_cast<std::int32_t>(i * 64) + std::countr_zero(both));
    }
    return {};
  }
  void set_word(std::size_t i, std::uint64_t word) {
    if (i >= words_.size()) words_.resize(i + 1);
    words_[i] = word;
  }
  /// The number of words, each for 64 workers.
  std::size_t words() const { return words_.size(); }
  std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace kith
