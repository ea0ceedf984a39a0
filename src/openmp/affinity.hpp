// Where threads run, as OpenMP's programs may ask for it to be shown.
#pragma once

#include <string>
#include <string_view>

namespace kith::openmp {

/// The format, as OMP_AFFINITY_FORMAT has it, with the values of the running thread; empty: the current format.
std::string affinity_text(std::string_view format);
/// Prints a line of that on stderr, for OMP_DISPLAY_AFFINITY.
void display_affinity(std::string_view format);
/// The current format.
std::string affinity_format();
void set_affinity_format(std::string_view);

}  // namespace kith::openmp
