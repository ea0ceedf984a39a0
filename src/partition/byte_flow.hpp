// The flow of data between tasks, in the order of creation: the edges of the graph that stands for a window of tasks.
//
// RIP paper, section 4.3: there is an edge for each dependence, and its weight is the bytes that the later task
// reads of what the earlier one has written. Orders without data (write after read, write after write) weigh 1,
// so that they do not dominate. Tasks of all scopes share one table, by region, because data flows between them
// whether or not their scopes order them. Tasks that use a region side by side (concurrent, commutative) follow
// each other as if each read what the one before it wrote. Regions may overlap (an array and its tiles). So
// memory is cut into pieces where regions begin and end, and state is kept by piece.
#pragma once

#include "task/region.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kith::partition {

class byte_flow {
 public:
  /// `regions`: gives the addresses of regions.
  explicit byte_flow(const region_table& regions) : regions_(&regions) {}

  /// Adds task number `t`, which must be the next one, with its accesses. Calls each(before, weight) for every earlier
  /// task that it follows. May leave out tasks before `from`, which are in no window any more.
  template <class Each>
  void add(std::int64_t t, std::int64_t from, task::access_range accesses, Each&& each) {
    for (kept_access a : accesses) {
      if (a.region == 0) continue;
      if (a.region >= known_.size()) known_.resize(a.region + std::size_t{1}, {pieces_.end(), 0});
      known& k = known_[a.region];
      if (a.bytes() != 0) k.bytes = a.bytes();  // 0: the task has named the region before
      if (k.bytes == 0) continue;
      const auto begin = reinterpret_cast<std::uintptr_t>((*regions_)[a.region].address), end = begin + k.bytes;
      if (k.first == pieces_.end()) k.first = begin_piece(begin, end);
      auto p = k.first;
      for (std::uintptr_t at = begin; at < end; at = (p++)->second.end) {
        if (p == pieces_.end() || p->first != at) {
          p = pieces_.emplace_hint(p, at, piece{p == pieces_.end() ? end : std::min(end, p->first)});
        } else if (p->second.end > end) {
          cut(p, end);
        }
        follow(p->second, static_cast<std::int64_t>(p->second.end - at), t, from, a.how, each);
      }
    }
  }

  /// How often data was written on average, weighted by bytes: 1 if each byte was written once. Counts the
  /// tasks since count_anew().
  double times_written() const noexcept {
    return distinct_ == 0 ? 0 : static_cast<double>(written_) / static_cast<double>(distinct_);
  }
  /// The number of readers that are kept. For tests.
  std::size_t readers() const noexcept {
    std::size_t sum = 0;
    for (const auto& [begin, p] : pieces_) sum += p.readers.size();
    return sum;
  }
  void count_anew() noexcept {
    written_ = distinct_ = 0;
    ++round_;
  }
  /// Forgets all writers and readers.
  void clear() noexcept {
    known_ = {};
    pieces_.clear();
  }

 private:
  struct piece {
    std::uintptr_t end;
    std::int64_t writer = -1;                // the last one
    std::int32_t counted = 0;                // the round in which it was last counted as written
    std::vector<std::int64_t> readers = {};  // since the last write
  };
  using piece_map = std::map<std::uintptr_t, piece>;  // by its first byte
  struct known {
    piece_map::iterator first;  // the piece that the region begins with, once there is one
    std::uint64_t bytes;        // of the last access
  };

  template <class Each>
  void follow(piece& s, std::int64_t bytes, std::int64_t t, std::int64_t from, mode how, Each&& each) {
    if (how != mode::in) {
      written_ += bytes;
      if (s.counted != round_) distinct_ += bytes;
      s.counted = round_;
    }
    const bool reads = how != mode::out;
    if (s.writer >= 0 && s.writer != t && (reads || s.readers.empty())) each(s.writer, reads ? bytes : 1);
    if (how == mode::in) {
      // Old readers are dropped, so that data which is never written again does not keep all of its readers.
      // Readers are in the order of their numbers.
      if (!s.readers.empty() && s.readers.front() < from)
        s.readers.erase(s.readers.begin(), std::ranges::lower_bound(s.readers, from));
      if (s.readers.empty() || s.readers.back() != t) s.readers.push_back(t);
      return;
    }
    for (std::int64_t r : s.readers) {
      if (r != t) each(r, std::int64_t{1});
    }
    s.readers.clear();
    s.writer = t;
  }

  /// Splits p at `at`, which must lie within it. Returns the second piece.
  piece_map::iterator cut(piece_map::iterator p, std::uintptr_t at) {
    const auto behind = pieces_.emplace_hint(std::next(p), at, p->second);
    p->second.end = at;
    return behind;
  }
  piece_map::iterator begin_piece(std::uintptr_t begin, std::uintptr_t end) {
    const auto next = pieces_.lower_bound(begin);
    if (next != pieces_.end() && next->first == begin) return next;
    if (next != pieces_.begin() && std::prev(next)->second.end > begin) return cut(std::prev(next), begin);
    return pieces_.emplace_hint(next, begin, piece{next == pieces_.end() ? end : std::min(end, next->first)});
  }

  const region_table* regions_;
  std::vector<known> known_;  // by region
  piece_map pieces_;
  std::int64_t written_ = 0, distinct_ = 0;
  std::int32_t round_ = 1;
};

}  // namespace kith::partition
