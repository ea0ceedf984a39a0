// What the kernel allows besides CPUs and memory nodes: performance counters, membarrier, address space.
#include "doctor/checks.hpp"
#include "doctor/files.hpp"

#include "base/environment.hpp"
#include "base/fence.hpp"
#include "machine/perf_events.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstring>

namespace kith::tools {

namespace {

std::string in_mib(rlim_t bytes) { return bytes == RLIM_INFINITY ? "unlimited" : fmt::format("{} MiB", bytes >> 20); }

}  // namespace

finding check_perf_events() {
  finding f{.key = "perf_events"};
  const std::string paranoid = perf_event_paranoid();
  const int hardware = counter_error(counter::cycles), software = counter_error(counter::task_clock);
  const auto answer = [](int e) { return e == 0 ? std::string("allowed") : std::string(std::strerror(e)); };
  f.details = {{"paranoid", paranoid}, {"hardware", answer(hardware)}, {"software", answer(software)}};
  f.effect =
      "Kith runs the same; perf and its like see no cycles and cache misses here, and `kith record --counters` keeps "
      "only what the system counts";
  if (hardware == 0) {
    f.fact = fmt::format("hardware counters can be read (perf_event_paranoid {})", paranoid);
    f.effect = "`kith record --counters` counts instructions, cycles and cache misses of tasks, and perf can profile";
    return f;
  }
  f.is = is_for_lack_of_rights(hardware) ? verdict::limited : verdict::note;
  f.fact = fmt::format("{}; software counters: {}", why_no_hardware_counters(hardware), answer(software));
  f.advice = advice_on_hardware_counters(hardware);
  return f;
}

finding check_membarrier() {
  finding f{.key = "membarrier"};
  const bool serves = membarrier_serves();
  f.details = {{"serves", serves}};
  if (serves) {
    f.fact = "membarrier serves this process";
    f.effect = "a worker that makes a task ready pays no fence; one that goes to sleep pays for both";
  } else {
    f.is = verdict::limited;
    f.fact = fences_are_modelled ? "membarrier does not serve this process"
                                 : "this build checks threads and leaves membarrier aside";
    f.effect = "each task that becomes ready pays a full fence, some nanoseconds more";
    if (fences_are_modelled) f.advice = "needs Linux 4.14 or later, and a sandbox that lets the system call through";
  }
  return f;
}

finding check_address_space(const worker_plan& plan) {
  finding f{.key = "address_space"};
  rlimit space{}, stack{}, threads{};
  getrlimit(RLIMIT_AS, &space);
  getrlimit(RLIMIT_STACK, &stack);
  getrlimit(RLIMIT_NPROC, &threads);
  const std::string overcommit = first_line("/proc/sys/vm/overcommit_memory").value_or("0");
  const auto of_worker = static_cast<std::uint64_t>(number_of(var::stack).value_or(standard_number(var::stack)));
  const std::uint64_t needed = of_worker * static_cast<std::uint64_t>(plan.workers);
  f.details = {{"bytes", space.rlim_cur == RLIM_INFINITY ? nlohmann::json() : nlohmann::json(space.rlim_cur)},
               {"stack_bytes", stack.rlim_cur == RLIM_INFINITY ? nlohmann::json() : nlohmann::json(stack.rlim_cur)},
               {"threads", threads.rlim_cur == RLIM_INFINITY ? nlohmann::json() : nlohmann::json(threads.rlim_cur)},
               {"overcommit", overcommit},
               {"worker_stack_bytes", of_worker}};
  f.fact = fmt::format("address space: {}; main thread's stack: {}; overcommit mode {}", in_mib(space.rlim_cur),
                       in_mib(stack.rlim_cur), overcommit);
  f.effect = fmt::format("a worker's stack takes {} MiB of address space (KITH_STACK), of memory only what it uses",
                         of_worker >> 20);
  if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur < 2 * needed) {
    f.is = verdict::limited;
    f.advice = "lower KITH_STACK, or raise the limit with `ulimit -v`";
  } else if (overcommit == "2") {
    f.is = verdict::note;
    f.effect =
        fmt::format("a worker's stack of {} MiB (KITH_STACK) counts as used memory in this mode", of_worker >> 20);
    f.advice = "lower KITH_STACK if threads cannot be started, or sysctl vm.overcommit_memory=0";
  }
  return f;
}

}  // namespace kith::tools
