// The events of one schedule, as text. Used only by the checker.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <source_location>
#include <string>
#include <vector>

namespace kith::interleave {

/// An atomic object: its memory, and how its values are printed.
struct place {
  enum class shown : std::uint8_t { unsigned_number, signed_number, pointer };
  const void* address;
  std::uint8_t size;
  shown as;
};

struct event {
  enum class what : std::uint8_t {
    load,
    forwarded_load,
    store,
    buffered_store,
    drain,
    modify,
    compare_failed,
    full_fence,
    process_fence,
    yield,
    futex_returned,
    futex_sleep,
    futex_wake,
    woken,
    spurious,
    cell_read,
    cell_write,
    preempted,
    ended,
  };
  int thread;
  what kind;
  std::memory_order order = std::memory_order_relaxed;
  place at{nullptr, 0, place::shown::unsigned_number};
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::source_location where{};
};

class trace {
 public:
  void clear() { events_.clear(); }
  void add(const event& e) { events_.push_back(e); }
  void name(const void* address, std::string text) { names_[address] = std::move(text); }
  /// One line for each event, with the source line that caused it if that can be read.
  std::string text(const std::vector<std::string>& threads) const;

 private:
  std::vector<event> events_;
  std::map<const void*, std::string> names_;
};

/// "file.hpp:12"
std::string short_name(const std::source_location& where);

}  // namespace kith::interleave
