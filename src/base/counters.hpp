// What can be counted for a worker while it runs a task: the events, their names, and their sources.
//
// machine/perf_events.hpp counts by the system, and reads what a program counts itself. Tests count by a source of
// their own (set_counter_opener). A source belongs to the thread that opened it, and only that thread calls it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// In the order of the columns of a recording's table `counts`. The processor counts those before page_faults, the
/// system those up to task_clock, and the program itself the others, where it is built with kith::count_instructions.
enum class counter : std::uint8_t {
  instructions,
  cycles,
  cache_misses,    // in the last level
  stalled_cycles,  // in which the processor could finish nothing
  page_faults,
  context_switches,
  migrations,  // of the worker to another CPU
  task_clock,  // nanoseconds for which the worker had a CPU
  // Instructions of a kind; one may be of several (src/counting/instruction_kinds.py).
  load_instructions,
  store_instructions,
  branch_instructions,
  fp_instructions,
  vector_instructions,
};
inline constexpr std::size_t counters = 13;
inline constexpr std::array<const char*, counters> counter_names = {
    "instructions",        "cycles",          "cache_misses",       "stalled_cycles",    "page_faults",
    "context_switches",    "migrations",      "task_clock",         "load_instructions", "store_instructions",
    "branch_instructions", "fp_instructions", "vector_instructions"};

/// Those that a program counts itself, in their order in the program's memory.
inline constexpr std::array<counter, 6> counters_of_program = {
    counter::instructions,        counter::load_instructions, counter::store_instructions,
    counter::branch_instructions, counter::fp_instructions,   counter::vector_instructions};

constexpr bool is_of_processor(counter c) noexcept { return c < counter::page_faults; }
constexpr bool is_of_program(counter c) noexcept {
  return std::ranges::find(counters_of_program, c) != counters_of_program.end();
}
/// Whether only a program counts it, neither the processor nor the system.
constexpr bool is_of_program_alone(counter c) noexcept { return is_of_program(c) && !is_of_processor(c); }
/// The names of groups of counters, as in lists of counters. `all` leaves out what only a program counts.
inline constexpr std::array<const char*, 4> counter_groups = {"all", "hardware", "software", "mix"};
constexpr bool is_of_group(counter c, std::string_view group) noexcept {
  if (group == "mix") return is_of_program(c);
  return !is_of_program_alone(c) && (group == "all" || is_of_processor(c) == (group == "hardware"));
}

class counter_set {
 public:
  constexpr counter_set() noexcept = default;
  static constexpr counter_set of_bits(std::uint16_t bits) noexcept {
    counter_set s;
    s.bits_ = bits & ((1U << counters) - 1);
    return s;
  }
  static constexpr counter_set all() noexcept { return of_bits(0xffff); }

  constexpr void add(counter c) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | bit(c)); }
  constexpr bool has(counter c) const noexcept { return (bits_ & bit(c)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr std::uint16_t bits() const noexcept { return bits_; }
  constexpr bool operator==(const counter_set&) const noexcept = default;
  template <class Each>
  void for_each(const Each& each) const {
    for (std::size_t i = 0; i < counters; ++i) {
      if (has(static_cast<counter>(i))) each(static_cast<counter>(i));
    }
  }
  /// The names, with a comma and a blank between them.
  std::string text() const {
    std::string names;
    for_each([&](counter c) {
      names += (names.empty() ? "" : ", ") + std::string(counter_names[static_cast<std::size_t>(c)]);
    });
    return names;
  }
  /// What `parse` expects, for messages.
  static std::string expected() { return "all, hardware, software, mix, or some of: " + all().text(); }
  /// Reads names of groups and of counters with commas between them; none if a name is not known.
  static std::optional<counter_set> parse(std::string_view list) {
    counter_set s;
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view name = list.substr(0, comma);
      list.remove_prefix(std::min(comma + 1, list.size()));
      const auto at = std::ranges::find(counter_names, name);
      if (at != counter_names.end()) {
        s.add(static_cast<counter>(at - counter_names.begin()));
      } else if (std::ranges::find(counter_groups, name) != counter_groups.end()) {
        all().for_each([&](counter c) {
          if (is_of_group(c, name)) s.add(c);
        });
      } else {
        return std::nullopt;
      }
    }
    return s;
  }

 private:
  static constexpr std::uint16_t bit(counter c) noexcept {
    return static_cast<std::uint16_t>(std::uint16_t{1} << static_cast<unsigned>(c));
  }
  std::uint16_t bits_ = 0;
};

/// What a source has counted since it was opened.
struct counter_reading {
  std::array<std::uint64_t, counters> values{};
  // Nanoseconds for which the group of counters was to count, and did: the latter is less where groups take turns.
  std::uint64_t enabled = 0, running = 0;
};

/// Counts for the thread that opened it.
class counter_source {
 public:
  virtual ~counter_source() = default;
  /// False if the counters could not be read.
  virtual bool read(counter_reading& now) noexcept = 0;
};

struct opened_counters {
  struct missing {
    counter what;
    int why;  // errno
  };
  std::unique_ptr<counter_source> source;  // null: nothing could be opened
  counter_set there;                       // what it counts
  counter_set in_turns;                    // those of `there` that count only while their group of counters does
  std::vector<missing> refused;
  std::string stalled_as;  // the kind of cycles that stalled_cycles counts
};

/// Opens counters for the calling thread.
using counter_opener = opened_counters (*)(counter_set wanted);
/// The opener that replaces the system's; null: none.
counter_opener the_counter_opener() noexcept;
/// For tests: recordings that begin after this use this opener. Null: the system's again.
void set_counter_opener(counter_opener) noexcept;

/// Where a program that counts its own instructions has the numbers of those that the calling thread has executed: one
/// for each of counters_of_program.
using instruction_count = const std::uint64_t* (*)();
/// Null: the program was built without kith::count_instructions.
instruction_count the_instruction_count() noexcept;
/// For src/counting, while static objects are made.
void set_instruction_count(instruction_count) noexcept;

}  // namespace kith
