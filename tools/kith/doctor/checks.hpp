// The doctor's checks. Each one asks the system one question. examination.cpp calls them all.
#pragma once

#include "doctor/finding.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"

namespace kith::tools {

// processors.cpp
finding check_machine(const machine& here);
finding check_affinity(const machine& here, const limits& allowed);
finding check_quota(const machine& here, const limits& allowed);
finding check_slurm(const machine& here, const limits& allowed);
finding check_ranks(const machine& here, const limits& allowed, const worker_plan& plan);
finding check_workers(const machine& here, const worker_plan& plan);
// memory.cpp
finding check_memory_policy(const machine& here);
finding check_page_migration(const machine& here);
finding check_huge_pages();
// settings.cpp
finding check_settings();
// kernel.cpp
finding check_perf_events();
finding check_membarrier();
finding check_address_space(const worker_plan& plan);
// places.cpp
finding check_places();
// trial.cpp
finding check_trial(const worker_plan& plan);
finding check_homes(const machine& here);

}  // namespace kith::tools
