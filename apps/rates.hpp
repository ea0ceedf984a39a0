// The work model of the data-flow programs: operations of a task at the rate of one core that has its data at hand. What
// the data's way costs is not in it: a simulated machine adds that.
//
// One core of about 2.5 GHz, as in the RIP paper's machines. The rates are assumed: the paper does not say what its kernels
// reach. One core of a cloud machine (Xeon, AVX-512), data from its caches included, took 2 operations in a nanosecond for
// gauss_seidel, 3 for red_black, 3 to 8 for the loops over arrays, 20 for qr and 25 for inversion.
#pragma once

#include <kith/task.hpp>

namespace kith::apps {

/// Operations in a nanosecond, by what holds the kernel up.
enum class rate : int {
  chained = 1,   // each operation waits for the one before: Gauss-Seidel, sums in order
  streamed = 4,  // independent operations of a loop over arrays
  dense = 20,    // matrix kernels that reuse what is in the caches: half the peak of such a core
};

inline work work_of(double operations, rate r) noexcept { return {operations / static_cast<double>(r)}; }

}  // namespace kith::apps
