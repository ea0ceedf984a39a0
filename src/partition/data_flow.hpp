// Who gets data from whom, in the order of creation: the edges of the graph that a window of tasks is.
//
// RIP paper, section 4.3: an edge for each dependence, as heavy as the bytes that the later task reads of what the earlier
// one has written; orders without data (write after read, write after write) weigh 1, so that they do not dominate. Tasks
// of all scopes are in one table, by region: data flows between them, whether or not their scopes order them. Tasks that
// use a region side by side (concurrent, commutative) follow each other as if each read what the one before wrote.
// Regions may have bytes in common (an array and its tiles): memory is cut into pieces where regions begin and end, and
// what is known is known of pieces.
#pragma once

#include "task/region.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kith::partition {

class data_flow {
 public:
  /// `regions`: where the regions of accesses are.
  explicit data_flow(const region_table& regions) : regions_(&regions) {}

  /// The accesses of task number `t`, the next one; each(before, weight) is told of every earlier task that it follows.
  /// Tasks before `from` may be left out: they are in no window any more.
  template <class Each>
  void add(std::int64_t t, std::int64_t from, task::access_range accesses, Each&& each) {
    for (kept_access a : accesses) {
      if (a.region == 0) continue;
      if (a.region >= known_.size()) known_.resize(a.region + std::size_t{1}, {pieces_.end(), 0});
      known& k = known_[a.region];
      if (a.bytes() != 0) k.bytes = a.bytes();  // else the task names it again
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

  /// How often data was written in the mean, weighted by bytes: 1 while each byte was written once. Of the tasks since
  /// count_anew().
  double times_written() const noexcept {
    return distinct_ == 0 ? 0 : static_cast<double>(written_) / static_cast<double>(distinct_);
  }
  /// How many readers are remembered. For tests.
  std::size_t readers() const noexcept {
    std::size_t sum = 0;
    for (const auto& [begin, p] : pieces_) sum += p.readers.size();
    return sum;
  }
  void count_anew() noexcept {
    written_ = distinct_ = 0;
    ++round_;
  }
  /// Nothing was written or read.
  void clear() noexcept {
    known_ = {};
    pieces_.clear();
  }

 private:
  struct piece {
    std::uintptr_t end;
    std::int64_t writer = -1;                // the last one
    std::int32_t counted = 0;                // in which round it was written last
    std::vector<std::int64_t> readers = {};  // since then
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
      // Data that is never written again is not to keep all who ever read it. They are in the order of their numbers.
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

  /// Afterwards one piece ends, and the next begins, at `at`, which lies within it. Returns the one behind.
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
