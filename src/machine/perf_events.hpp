// Counters of the processor and of the system, by perf_event_open(2): which may be opened here, and why others may not.
//
// The recorder counts tasks by them, and `kith doctor` reports them; both use the sentences here on what is refused.
#pragma once

#include "base/counters.hpp"

#include <string>

namespace kith {

/// Opens the counters for the calling thread: those of the processor as one group, and those of the system as another,
/// so that a reading is one system call, or two where both are there. Those of the processor count the thread's own
/// code, not the kernel's. Where the system refuses its own counters in this form, page_faults, context_switches and
/// task_clock come from getrusage(2) and the thread's clock: one system call more for a reading. Takes some 10 us for
/// each counter. Instructions are those that the program counts itself, if it does.
opened_counters open_perf_counters(counter_set wanted);

/// By the opener that tests have set, else as open_perf_counters().
opened_counters open_counters(counter_set wanted);

/// The errno of opening this counter for this thread's own code; 0 if it is allowed.
int counter_error(counter) noexcept;

/// The text of /proc/sys/kernel/perf_event_paranoid; "absent" where there is none.
std::string perf_event_paranoid();

/// Whether the system has counters and refuses them because of missing rights.
bool is_for_lack_of_rights(int why) noexcept;
/// Why the counters of the processor cannot be opened, as a clause.
std::string why_no_hardware_counters(int why);
/// A remedy; empty: there is none.
std::string advice_on_hardware_counters(int why);

/// What could not be opened, why, and what to do; empty if nothing is missing.
std::string missing_counters(const opened_counters&);

}  // namespace kith
