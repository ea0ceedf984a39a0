// Who gets data from whom, in the order of creation: the edges of the graph that a window of tasks is.
//
// RIP paper, section 4.3: an edge for each dependence, as heavy as the bytes that the later task reads of what the earlier
// one has written; orders without data (write after read, write after write) weigh 1, so that they do not dominate. Tasks
// of all scopes are in one table, by region: data flows between them, whether or not their scopes order them. Tasks that
// use a region side by side (concurrent, commutative) follow each other as if each read what the one before wrote.
#pragma once

#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::partition {

class data_flow {
 public:
  /// The accesses of task number `t`, the next one; each(before, weight) is told of every earlier task that it follows.
  /// Tasks before `from` may be left out: they are in no window any more.
  template <class Each>
  void add(std::int64_t t, std::int64_t from, task::access_range accesses, Each&& each) {
    for (kept_access a : accesses) {
      if (a.region >= states_.size()) states_.resize(a.region + std::size_t{1});
      state& s = states_[a.region];
      const auto bytes = static_cast<std::int64_t>(a.bytes());
      if (a.how != mode::in) {
        written_ += bytes;
        if (s.counted != round_) distinct_ += bytes;
        s.counted = round_;
      }
      const bool reads = a.how != mode::out;
      if (s.writer >= 0 && s.writer != t && (reads || s.readers.empty())) each(s.writer, reads ? bytes : 1);
      if (a.how == mode::in) {
        // Data that is never written again is not to keep all who ever read it. They are in the order of their numbers.
        if (!s.readers.empty() && s.readers.front() < from)
          s.readers.erase(s.readers.begin(), std::ranges::lower_bound(s.readers, from));
        if (s.readers.empty() || s.readers.back() != t) s.readers.push_back(t);
        continue;
      }
      for (std::int64_t r : s.readers) {
        if (r != t) each(r, std::int64_t{1});
      }
      s.readers.clear();
      s.writer = t;
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
    for (const state& s : states_) sum += s.readers.size();
    return sum;
  }
  void count_anew() noexcept {
    written_ = distinct_ = 0;
    ++round_;
  }

 private:
  struct state {
    std::int64_t writer = -1;           // the last one
    std::int32_t counted = 0;           // in which round it was written last
    std::vector<std::int64_t> readers;  // since then
  };
  std::vector<state> states_;  // by region
  std::int64_t written_ = 0, distinct_ = 0;
  std::int32_t round_ = 1;
};

}  // namespace kith::partition
