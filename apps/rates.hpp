// The work model of the data-flow programs: a task's operations at the rate of one core whose data is in
// its caches. The cost of moving data is not included; a simulated machine adds it.
//
// One core of about 2.5 GHz, as in the RIP paper's machines. The rates are assumed, because the paper does not print
// those of its kernels. One core of a cloud machine (Xeon, AVX-512), with data from its caches, took 2 operations in a
// nanosecond for gauss_seidel, 3 for red_black, 3 to 8 for the loops over arrays, 20 for qr and 25 for inversion.
#pragma once

#include <kith/task.hpp>

namespace kith::apps {

/// Operations in a nanosecond, by what limits the kernel.
enum class rate : int {
  chained = 1,   // each operation waits for the previous one: Gauss-Seidel, sums in order
  streamed = 4,  // independent operations of a loop over arrays
  dense = 20,    // matrix kernels that reuse data in the caches: half the peak of such a core
};

inline work work_of(double operations, rate r) noexcept { return {operations / static_cast<double>(r)}; }

}  // namespace kith::apps
