// Plain data that threads pass to each other. Every access is checked to be ordered with the others by
// happens-before. For tests, for example as the payload of a queue. A missing release or acquire is found
// here although TSO would hide it.
#pragma once

#include "interleave/execution.hpp"

#include <array>
#include <source_location>

namespace kith::interleave {

template <class T>
class shared {
  using source = std::source_location;

 public:
  explicit shared(T value = {}, source at = source::current()) : value_(value) { note_write(at); }
  ~shared() { note_write(source()); }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  T read(source at = source::current()) const {
    if (auto* run = execution::current()) {
      expect_ordered(*run, write_, "reads", "writes", at);
      reads_[static_cast<std::size_t>(run->thread())] = {run->clock()[run->thread()], at};
      run->note({run->thread(), event::what::cell_read, {}, cell(), 0, 0, at});
    }
    return value_;
  }
  void write(T value, source at = source::current()) {
    note_write(at);
    value_ = value;
  }

 private:
  struct access {
    std::uint32_t when = 0;
    source at{};
    int thread = 0;
  };

  place cell() const { return {this, 0, place::shown::unsigned_number}; }

  void note_write(source at) {
    auto* run = execution::current();
    if (run == nullptr) return;
    expect_ordered(*run, write_, "writes", "writes", at);
    for (int t = 0; t < max_threads; ++t) {
      access read = reads_[static_cast<std::size_t>(t)];
      read.thread = t;
      expect_ordered(*run, read, "writes", "reads", at);
    }
    write_ = {run->clock()[run->thread()], at, run->thread()};
    run->note({run->thread(), event::what::cell_write, {}, cell(), 0, 0, at});
  }

  static void expect_ordered(execution& run, const access& earlier, const char* now, const char* then, source at) {
    if (run.clock().covers(earlier.thread, earlier.when)) return;
    run.fail("data race: " + run.thread_name(run.thread()) + " " + now + " a cell at " + short_name(at) + ", " +
             run.thread_name(earlier.thread) + " " + then + " it at " + short_name(earlier.at) +
             ", and nothing orders the two: a release or an acquire is missing");
  }

  T value_;
  access write_;
  mutable std::array<access, max_threads> reads_{};
};

}  // namespace kith::interleave
