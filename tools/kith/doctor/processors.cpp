// The processors, those that this process may use, and the workers that it gets.
#include "doctor/checks.hpp"
#include "numbers.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kith::tools {

namespace {

std::size_t cpus_of(const machine& m) {
  std::size_t count = 0;
  for (const machine::core& c : m.cores) count += c.cpus.size();
  return count;
}

/// The errno of binding this thread to the CPUs that it already has; 0 if it is allowed.
int try_binding() {
  cpu_set_t now;
  CPU_ZERO(&now);
  if (sched_getaffinity(0, sizeof now, &now) != 0) return errno;
  return sched_setaffinity(0, sizeof now, &now) == 0 ? 0 : errno;
}

constexpr const char* not_here = "a pretended machine: this limit of the real one does not count";

}  // namespace

finding check_machine(const machine& here) {
  finding f{.key = "machine"};
  const std::size_t cpus = cpus_of(here);
  std::uint64_t memory = 0;
  for (const machine::node& n : here.nodes) memory += n.memory_bytes;
  const bool hybrid = std::ranges::any_of(here.cores, [](const machine::core& c) { return c.core_class != 0; });
  f.fact = fmt::format("{}: {} with {}, {}{}", here.name, counted(here.cores.size(), "core"),
                       counted(cpus, "hardware thread"), counted(here.nodes.size(), "memory node"),
                       memory == 0 ? "" : " with " + in_bytes(memory));
  f.details = {{"name", here.name},
               {"pretended", here.pretended},
               {"nodes", here.nodes.size()},
               {"cores", here.cores.size()},
               {"cpus", cpus},
               {"memory_bytes", memory},
               {"hybrid", hybrid}};
  if (here.pretended) {
    f.is = verdict::note;
    f.effect =
        "Kith behaves as if on this machine: workers share the real cores unbound, homes and every count are pretended";
    f.advice = "unset KITH_MACHINE to use the real machine";
  } else {
    f.effect = here.nodes.size() > 1
                   ? "policies that place tasks have something to choose from"
                   : "one node: all memory is equally near, and placing policies have nothing to gain but caches";
    if (hybrid) f.effect += "; the fastest kind of cores is used first";
  }
  return f;
}

finding check_affinity(const machine& here, const limits& allowed) {
  finding f{.key = "affinity"};
  const int refused = try_binding();
  const std::size_t all = cpus_of(here);
  f.details = {{"cpus", allowed.affinity ? nlohmann::json(*allowed.affinity) : nlohmann::json()},
               {"binding", refused == 0 ? "allowed" : std::strerror(refused)}};
  f.fact = allowed.affinity ? "may run on CPU " + in_ranges(*allowed.affinity) : "which CPUs may be used is not known";
  if (here.pretended) {
    f.effect = not_here;
    return f;
  }
  if (allowed.affinity) f.fact += fmt::format(", {} of {}", allowed.affinity->size(), all);
  f.effect = "workers run there, and nowhere else";
  if (refused != 0) {
    f.is = verdict::limited;
    f.fact += fmt::format("; threads may not be bound ({})", std::strerror(refused));
    f.effect = "workers run where the system puts them, and data near a worker may not stay near";
    f.advice = "let sched_setaffinity through the sandbox";
  } else if (allowed.affinity && allowed.affinity->size() < all) {
    f.is = verdict::limited;
    f.advice = "started under taskset, a container's cpuset or a batch system: widen it there to use the other CPUs";
  }
  return f;
}

finding check_quota(const machine& here, const limits& allowed) {
  finding f{.key = "cpu_quota"};
  f.details = {{"cpus", allowed.quota ? nlohmann::json(*allowed.quota) : nlohmann::json()},
               {"from", allowed.quota_from}};
  if (!allowed.quota) {
    f.fact = "no quota of CPU time";
    f.effect = "workers are not throttled";
    return f;
  }
  f.fact = fmt::format("a quota of {:.2f} CPUs' worth of time ({})", *allowed.quota, allowed.quota_from);
  if (here.pretended) {
    f.effect = not_here;
  } else if (*allowed.quota < static_cast<double>(here.cores.size())) {
    f.is = verdict::limited;
    f.effect =
        "as many workers as that, rounded up: more would be stopped in the middle of tasks while others wait for them";
    f.advice = "raise the quota (docker: --cpus; Kubernetes: limits.cpu; systemd: CPUQuota=)";
  } else {
    f.effect = "the quota is not below the cores, and changes nothing";
  }
  return f;
}

finding check_slurm(const machine& here, const limits& allowed) {
  finding f{.key = "slurm"};
  f.details = {{"cpus", allowed.slurm ? nlohmann::json(*allowed.slurm) : nlohmann::json()},
               {"from", allowed.slurm_from}};
  if (!allowed.slurm) {
    f.fact = "not in a Slurm job";
    return f;
  }
  f.fact =
      fmt::format("Slurm allots {} ({})", counted(static_cast<std::size_t>(*allowed.slurm), "CPU"), allowed.slurm_from);
  f.effect = here.pretended ? not_here : "not more workers than that";
  if (!here.pretended && static_cast<std::size_t>(*allowed.slurm) < here.cores.size()) {
    f.is = verdict::limited;
    f.advice = "ask for more with --cpus-per-task, and start the program with srun";
  }
  return f;
}

finding check_ranks(const machine& here, const limits& allowed, const worker_plan& plan) {
  finding f{.key = "mpi"};
  f.details = {{"rank", allowed.rank ? nlohmann::json(allowed.rank->rank) : nlohmann::json()},
               {"ranks", allowed.rank ? nlohmann::json(allowed.rank->ranks) : nlohmann::json()},
               {"from", allowed.rank ? allowed.rank->from : ""},
               {"share", nullptr}};
  if (!allowed.rank) {
    f.fact = "not one of several ranks of an MPI program on this machine";
    return f;
  }
  f.fact =
      fmt::format("rank {} of {} on this machine ({})", allowed.rank->rank, allowed.rank->ranks, allowed.rank->from);
  const auto share = std::ranges::find(plan.limits, "share of the rank", &worker_plan::limit::name);
  if (share != plan.limits.end()) {
    f.is = verdict::note;
    f.details["share"] = *share->value;
    f.effect = fmt::format("the launcher has given it no mask, so it takes its share of the cores, {}", *share->value);
    f.advice = "let the launcher bind ranks (mpirun --map-by socket --bind-to socket, srun --cpu-bind=cores)";
  } else {
    f.effect = here.pretended ? not_here : "it keeps to the mask that it was given";
  }
  return f;
}

finding check_workers(const machine& here, const worker_plan& plan) {
  finding f{.key = "workers"};
  f.fact =
      fmt::format("{}; what decides: {}", counted(static_cast<std::size_t>(plan.workers), "worker"), plan.decided_by);
  const bool threads = std::ranges::any_of(here.cores, [](const machine::core& c) { return c.cpus.size() > 1; });
  if (plan.cores_shared) {
    f.effect = "not bound: they share cores, and the system moves them";
  } else if (plan.bound == bind_mode::cores) {
    f.effect = fmt::format("each is bound to one CPU of its core (of {}){}", in_ranges(plan.cpus),
                           threads ? "; a core's other hardware threads stay free" : "");
  } else if (plan.bound == bind_mode::caches) {
    f.effect =
        "each is bound to the CPUs of its last-level cache, where its data stays; KITH_BIND=off|cores|caches|nodes";
  } else if (plan.bound == bind_mode::nodes) {
    f.effect =
        "each is bound to the CPUs of its memory node, so that its data stays near; KITH_BIND=off|cores|caches|nodes";
  } else {
    f.effect = "not bound: the system places them among the CPUs of this process; KITH_BIND=off|cores|caches|nodes";
  }
  f.details = {{"workers", plan.workers},
               {"decided_by", plan.decided_by},
               {"bind", name_of(plan.bound)},
               {"cores_shared", plan.cores_shared}};
  if (plan.clamped) {
    f.is = verdict::limited;
    f.advice = "fewer than KITH_WORKERS asks for; KITH_OVERSUBSCRIBE=1 lifts the limit, for tests";
  } else if (plan.cores_shared && !here.pretended) {
    f.is = verdict::note;
    f.advice = "for measurements, at most as many workers as cores (KITH_WORKERS)";
  }
  return f;
}

}  // namespace kith::tools
