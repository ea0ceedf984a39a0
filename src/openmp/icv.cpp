#include "openmp/icv.hpp"

#include "base/environment.hpp"
#include "base/made_once.hpp"
#include "base/printable.hpp"
#include "machine/limits.hpp"
#include "openmp/setting_text.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

namespace kith::openmp {

namespace {

constexpr std::int64_t most_int = std::numeric_limits<int>::max();

void report(const char* name, const std::string& text, const char* expected, const std::string& used) {
  std::fprintf(stderr, "kith: %s: '%s' is not %s; using %s\n", name, printable(text).c_str(), expected, used.c_str());
}

/// The value of the variable; `standard` if it is not set, or wrong. `used`: how to name that; null: by its value.
template <class T, class Read>
T setting(const char* name, const char* expected, T standard, Read read, const char* used = nullptr) {
  const std::optional<std::string> text = environment(name);
  if (!text) return standard;
  const auto value = read(plain(*text));
  if (value) return static_cast<T>(*value);
  report(name, *text, expected, used != nullptr ? used : to_text(standard));
  return standard;
}

bool flag(const char* name, bool standard) { return setting(name, "TRUE or FALSE", standard, read_bool); }

int number(const char* name, const char* expected, std::int64_t least, std::int64_t most, std::int64_t standard,
           const char* used = nullptr) {
  const auto read = [&](const std::string& text) { return read_number(text, least, most); };
  return static_cast<int>(setting(name, expected, standard, read, used));
}

/// Without OMP_NUM_THREADS: KITH_WORKERS, else the CPUs that the process may use.
int standard_threads() {
  try {
    if (const std::optional<int> workers = workers_setting()) return *workers;
  } catch (const error& wrong) {
    std::fprintf(stderr, "kith: %s\n", printable(wrong.what()).c_str());
  }
  return usable_cpus(process_limits());
}

void read_threads(settings& s) {
  s.first.threads = standard_threads();
  s.threads_by_level =
      setting("OMP_NUM_THREADS", "a list of positive numbers", std::vector<int>{s.first.threads}, read_numbers);
  s.first.threads = s.threads_by_level.front();
  if (!environment("OMP_NUM_THREADS")) s.threads_by_level.clear();
  s.first.dynamic = flag("OMP_DYNAMIC", false);
  s.first.thread_limit = number("OMP_THREAD_LIMIT", "a positive number", 1, most_int, most_int);
  s.teams = number("OMP_NUM_TEAMS", "a positive number", 1, most_int, 0, "the default");
  s.teams_thread_limit = number("OMP_TEAMS_THREAD_LIMIT", "a positive number", 1, most_int, 0, "the default");
}

/// A list of numbers of threads, or of bindings, asks for nested regions unless another setting says otherwise.
void read_levels(settings& s) {
  const std::optional<std::string> bindings = environment("OMP_PROC_BIND");
  const bool lists = s.threads_by_level.size() > 1 || (bindings && bindings->find(',') != std::string::npos);
  const bool nested = flag("OMP_NESTED", lists);
  const int standard = nested ? most_active_levels : 1;
  const auto read = [](const std::string& text) {
    return read_number(text, 0, std::numeric_limits<std::int64_t>::max());
  };
  const auto levels = setting("OMP_MAX_ACTIVE_LEVELS", "a number from 0", std::int64_t{standard}, read);
  s.first.max_active_levels = static_cast<int>(std::min<std::int64_t>(levels, most_active_levels));
}

void read_loops(settings& s) {
  const auto schedule = setting("OMP_SCHEDULE", "[monotonic:|nonmonotonic:](static|dynamic|guided|auto)[,chunk]",
                                usual_schedule(), read_schedule);
  s.first.schedule = schedule.kind;
  s.first.monotonic = schedule.monotonic;
  s.first.chunk = schedule.chunk;
}

void read_tasks(settings& s) {
  s.max_task_priority = number("OMP_MAX_TASK_PRIORITY", "a number from 0", 0, most_int, 0);
  s.cancellation = flag("OMP_CANCELLATION", false);
}

/// A variable of which Kith only says whether its value is one. Where workers run is KITH_BIND's.
void check(const char* name, const char* expected, const char* used, bool (*is_value)(const std::string&)) {
  const std::optional<std::string> text = environment(name);
  if (text && !is_value(plain(*text))) report(name, *text, expected, used);
}

void read_threads_themselves(settings& s) {
  s.stack_bytes = setting("OMP_STACKSIZE", "a number of kilobytes, or one with B, K, M or G (1024G at most)",
                          std::int64_t{0}, read_bytes, "the default");
  check("OMP_WAIT_POLICY", "ACTIVE or PASSIVE", "PASSIVE",
        [](const std::string& text) { return text == "active" || text == "passive"; });
  s.waits_actively = plain(environment("OMP_WAIT_POLICY").value_or("")) == "active";
  check("OMP_PROC_BIND", "TRUE, FALSE, or a list of PRIMARY, CLOSE and SPREAD", "FALSE", is_binding);
  check("OMP_PLACES", "a list of places", "none", is_places);
  s.displays_affinity = flag("OMP_DISPLAY_AFFINITY", false);
  s.affinity_format = environment("OMP_AFFINITY_FORMAT").value_or("level %L thread %i affinity %A");
}

void read_memory_and_devices(settings& s) {
  s.first.default_device = number("OMP_DEFAULT_DEVICE", "a number from 0", 0, most_int, 0);
  check("OMP_ALLOCATOR", "a predefined allocator", "omp_default_mem_alloc",
        [](const std::string& text) { return read_allocator(text).has_value(); });
  s.first.allocator = read_allocator(plain(environment("OMP_ALLOCATOR").value_or(""))).value_or(s.first.allocator);
  check("OMP_TARGET_OFFLOAD", "DEFAULT, DISABLED or MANDATORY", "DEFAULT",
        [](const std::string& text) { return text == "default" || text == "disabled" || text == "mandatory"; });
}

void display_if_asked(const settings& s) {
  check("OMP_DISPLAY_ENV", "TRUE, FALSE or VERBOSE", "FALSE",
        [](const std::string& text) { return text == "verbose" || read_bool(text).has_value(); });
  const std::string asked = plain(environment("OMP_DISPLAY_ENV").value_or(""));
  if (asked == "true" || asked == "verbose") display_settings(s, asked == "verbose");
}

settings read_settings() {
  settings s;
  read_threads(s);
  read_levels(s);
  read_loops(s);
  read_tasks(s);
  read_threads_themselves(s);
  read_memory_and_devices(s);
  display_if_asked(s);
  return s;
}

constinit made_once<settings> read_once;

}  // namespace

const settings& the_settings() noexcept { return read_once.get(read_settings); }

}  // namespace kith::openmp
