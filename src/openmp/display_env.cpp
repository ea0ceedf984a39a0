// OMP_DISPLAY_ENV and omp_display_env(): the settings in the form that OpenMP prescribes.
#include "openmp/icv.hpp"
#include "openmp/omp.hpp"
#include "openmp/setting_text.hpp"

#include <cstdio>
#include <string>

namespace kith::openmp {

namespace {

void add(std::string& to, const char* name, const std::string& value) {
  to += "  " + std::string(name) + " = '" + value + "'\n";
}

}  // namespace

void display_settings(const settings& s, bool verbose) {
  const icv_set& first = s.first;
  std::string text = "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n";
  add(text, "_OPENMP", "201511");
  add(text, "OMP_DYNAMIC", to_text(first.dynamic));
  add(text, "OMP_NESTED", to_text(first.max_active_levels > 1));
  add(text, "OMP_NUM_THREADS",
      s.threads_by_level.empty() ? std::to_string(first.threads) : to_text(s.threads_by_level));
  add(text, "OMP_SCHEDULE", to_text(schedule_setting{first.schedule, first.monotonic, first.chunk}));
  add(text, "OMP_PROC_BIND", "FALSE");  // threads are bound by KITH_BIND
  add(text, "OMP_PLACES", "");
  add(text, "OMP_STACKSIZE", to_text(s.stack_bytes));
  add(text, "OMP_WAIT_POLICY", s.waits_actively ? "ACTIVE" : "PASSIVE");
  add(text, "OMP_THREAD_LIMIT", std::to_string(first.thread_limit));
  add(text, "OMP_MAX_ACTIVE_LEVELS", std::to_string(first.max_active_levels));
  add(text, "OMP_NUM_TEAMS", std::to_string(s.teams));
  add(text, "OMP_TEAMS_THREAD_LIMIT", std::to_string(s.teams_thread_limit));
  add(text, "OMP_CANCELLATION", to_text(s.cancellation));
  add(text, "OMP_DEFAULT_DEVICE", std::to_string(first.default_device));
  add(text, "OMP_MAX_TASK_PRIORITY", std::to_string(s.max_task_priority));
  add(text, "OMP_DISPLAY_AFFINITY", to_text(s.displays_affinity));
  add(text, "OMP_AFFINITY_FORMAT", s.affinity_format);
  add(text, "OMP_ALLOCATOR", allocator_text(first.allocator));
  add(text, "OMP_TARGET_OFFLOAD", "DEFAULT");
  if (verbose) {
    add(text, "GOMP_CPU_AFFINITY", "");
    add(text, "GOMP_STACKSIZE", to_text(s.stack_bytes));
    add(text, "GOMP_SPINCOUNT", "0");
  }
  text += "OPENMP DISPLAY ENVIRONMENT END\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace kith::openmp

using namespace kith::openmp;

void omp_display_env(int verbose) { display_settings(the_settings(), verbose != 0); }
