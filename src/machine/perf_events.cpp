#include "machine/perf_events.hpp"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

namespace kith {

namespace {

std::string refused_here(int why) {
  return "refused (perf_event_paranoid " + perf_event_paranoid() + ": " + std::strerror(why) + ")";
}

struct perf_event {
  std::uint32_t type;
  std::uint64_t config;
};

perf_event event_of(counter c) noexcept {
  switch (c) {
    case counter::instructions: return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
    case counter::cycles: return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES};
    case counter::cache_misses: return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES};
    case counter::stalled_cycles: return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND};
    case counter::page_faults: return {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
    case counter::context_switches: return {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES};
    case counter::migrations: return {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS};
    case counter::task_clock:
    case counter::load_instructions:
    case counter::store_instructions:
    case counter::branch_instructions:
    case counter::fp_instructions:
    case counter::vector_instructions: break;
  }
  return {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK};
}

std::string first_line(const char* path) {
  std::string line;
  std::ifstream file(path);
  return std::getline(file, line) ? line : "";
}

/// Stalled cycles under this processor's own number, where the kernel has no general name for them. Intel's event
/// CYCLE_ACTIVITY.STALLS_TOTAL: nothing was executed. The kernel's name of the counters says where it has this number.
std::optional<perf_event> own_stalled_cycles() {
  const std::string pmu = first_line("/sys/bus/event_source/devices/cpu/caps/pmu_name");
  for (const char* known : {"haswell", "broadwell", "skylake", "icelake", "sapphire_rapids"}) {
    if (pmu == known) return perf_event{PERF_TYPE_RAW, 0x040004a3};
  }
  return std::nullopt;
}

/// The descriptor, or -1 and errno.
int open_event(perf_event e, bool kernel_too, int group) noexcept {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = e.type;
  a.config = e.config;
  a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  a.exclude_kernel = kernel_too ? 0 : 1;
  a.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, group, std::uint64_t{PERF_FLAG_FD_CLOEXEC}));
}

/// The same for a counter, with as much of the kernel as it needs.
int open_counter(counter c, int group) noexcept {
  const perf_event e = event_of(c);
  if (is_of_processor(c)) return open_event(e, false, group);
  const int file = open_event(e, true, group);
  // A switch and a migration happen in the kernel: without it, none would be counted.
  const bool is_of_kernel = c == counter::context_switches || c == counter::migrations;
  return file >= 0 || is_of_kernel || !is_for_lack_of_rights(errno) ? file : open_event(e, false, group);
}

constexpr bool system_has(counter c) noexcept {
  return c == counter::page_faults || c == counter::context_switches || c == counter::task_clock;
}

std::uint64_t& at(counter_reading& r, counter c) noexcept { return r.values[static_cast<std::size_t>(c)]; }

/// Counters that count together, and are read by one system call.
class perf_group {
 public:
  perf_group() = default;
  ~perf_group() {
    for (std::size_t i = count_; i-- > 0;) close(files_[i]);
  }
  perf_group(const perf_group&) = delete;
  perf_group& operator=(const perf_group&) = delete;

  bool empty() const noexcept { return count_ == 0; }
  /// The descriptor of the group's leader; -1: none yet.
  int leader() const noexcept { return count_ == 0 ? -1 : files_[0]; }
  void add(counter c, int file) noexcept {
    what_[count_] = c;
    files_[count_++] = file;
  }
  /// Also sets the times of the reading to those of this group.
  bool read(counter_reading& now) const noexcept {
    std::array<std::uint64_t, 3 + counters> got{};  // how many, enabled, running, the counts
    const auto bytes = static_cast<ssize_t>((3 + count_) * sizeof got[0]);
    if (::read(files_[0], got.data(), sizeof got) != bytes) return false;
    now.enabled = got[1];
    now.running = got[2];
    for (std::size_t i = 0; i < count_; ++i) at(now, what_[i]) = got[3 + i];
    return true;
  }

 private:
  std::array<int, counters> files_{};
  std::array<counter, counters> what_{};
  std::size_t count_ = 0;
};

class perf_counters : public counter_source {
 public:
  /// The system's counters are a group of their own, so that they go on while those of the processor have no turn.
  perf_group& group_of(counter c) noexcept { return is_of_processor(c) ? of_processor_ : of_system_; }
  /// Takes a counter from the system in another way than by a group.
  void ask_system(counter c) noexcept {
    (c == counter::page_faults ? faults_ : c == counter::context_switches ? switches_ : clock_) = true;
  }

  /// Counts of the program's own numbers, which are those of counters_of_program.
  void ask_program(const std::uint64_t* numbers) noexcept { of_program_ = numbers; }

  bool read(counter_reading& now) noexcept override {
    if (of_program_ != nullptr) {
      for (std::size_t i = 0; i < counters_of_program.size(); ++i) at(now, counters_of_program[i]) = of_program_[i];
    }
    if (!of_system_.empty() && !of_system_.read(now)) return false;
    if (!of_processor_.empty() && !of_processor_.read(now)) return false;
    if (faults_ || switches_) {
      rusage used{};
      if (getrusage(RUSAGE_THREAD, &used) != 0) return false;
      if (faults_) at(now, counter::page_faults) = static_cast<std::uint64_t>(used.ru_minflt + used.ru_majflt);
      if (switches_) at(now, counter::context_switches) = static_cast<std::uint64_t>(used.ru_nvcsw + used.ru_nivcsw);
    }
    if (!clock_) return true;
    if (!of_system_.empty() || !of_processor_.empty()) {
      at(now, counter::task_clock) = now.enabled;  // a thread's counters are enabled while it has a CPU
      return true;
    }
    timespec spent{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent) != 0) return false;
    at(now, counter::task_clock) =
        static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(spent.tv_nsec);
    return true;
  }

 private:
  perf_group of_processor_, of_system_;
  bool faults_ = false, switches_ = false, clock_ = false;
  const std::uint64_t* of_program_ = nullptr;
};

}  // namespace

opened_counters open_perf_counters(counter_set wanted) {
  opened_counters o;
  auto source = std::make_unique<perf_counters>();
  const instruction_count of_program = the_instruction_count();
  wanted.for_each([&](counter c) {
    // The processor would count the instructions that count the program's instructions, too.
    if (of_program != nullptr && is_of_program(c)) {
      source->ask_program(of_program());
      o.there.add(c);
      return;
    }
    if (is_of_program_alone(c)) {
      o.refused.push_back({c, ENOTSUP});
      return;
    }
    // The kernel updates the clock only where it leads its group; the group's own time is the same.
    int file = c == counter::task_clock ? -1 : open_counter(c, source->group_of(c).leader());
    const int why = errno;
    if (c == counter::stalled_cycles) {
      o.stalled_as = "stalled-cycles-backend";
      if (const auto own = file < 0 && !is_for_lack_of_rights(why) ? own_stalled_cycles() : std::nullopt) {
        file = open_event(*own, false, source->group_of(c).leader());
        o.stalled_as = "cycle_activity.stalls_total";
      }
    }
    if (file >= 0) {
      source->group_of(c).add(c, file);
      if (is_of_processor(c)) o.in_turns.add(c);
    } else if (system_has(c)) {
      source->ask_system(c);
    } else {
      o.refused.push_back({c, why});
      return;
    }
    o.there.add(c);
  });
  if (!o.there.has(counter::stalled_cycles)) o.stalled_as.clear();
  if (!o.there.empty()) o.source = std::move(source);
  return o;
}

opened_counters open_counters(counter_set wanted) {
  const counter_opener other = the_counter_opener();
  return other != nullptr ? other(wanted) : open_perf_counters(wanted);
}

int counter_error(counter c) noexcept {
  const int file = open_event(event_of(c), false, -1);
  if (file < 0) return errno;
  close(file);
  return 0;
}

std::string perf_event_paranoid() {
  const std::string level = first_line("/proc/sys/kernel/perf_event_paranoid");
  return level.empty() ? "absent" : level;
}

bool is_for_lack_of_rights(int why) noexcept { return why == EACCES || why == EPERM; }

std::string why_no_hardware_counters(int why) {
  return is_for_lack_of_rights(why)
             ? "hardware counters are " + refused_here(why)
             : std::string("there are no hardware counters (") + std::strerror(why) + "), as in most virtual machines";
}

std::string advice_on_hardware_counters(int why) {
  if (!is_for_lack_of_rights(why)) return "";
  return "sysctl kernel.perf_event_paranoid=1, as root; in a container also add the right (docker: --cap-add PERFMON, "
         "and a seccomp profile that allows perf_event_open)";
}

std::string missing_counters(const opened_counters& o) {
  std::vector<std::pair<std::string, counter_set>> by_reason;
  std::string advice;
  bool some = false;  // counters of the processor are there
  o.there.for_each([&](counter c) { some |= is_of_processor(c); });
  for (const opened_counters::missing& m : o.refused) {
    const std::string answer = std::strerror(m.why);
    const std::string reason = is_for_lack_of_rights(m.why)  ? refused_here(m.why)
                               : is_of_program_alone(m.what) ? "the program is not built with kith::count_instructions"
                               : !is_of_processor(m.what)    ? answer
                               : some ? "this processor does not count them beside the others (" + answer + ")"
                                      : why_no_hardware_counters(m.why);
    auto at = std::ranges::find(by_reason, reason, &std::pair<std::string, counter_set>::first);
    if (at == by_reason.end()) at = by_reason.insert(at, {reason, {}});
    at->second.add(m.what);
    if (advice.empty()) advice = advice_on_hardware_counters(m.why);
  }
  std::string text;
  for (const auto& [reason, what] : by_reason) text += (text.empty() ? "" : "; ") + what.text() + ": " + reason;
  return text + (advice.empty() ? "" : "; what helps: " + advice);
}

}  // namespace kith
