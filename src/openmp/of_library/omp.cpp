// What libkith_omp.so has as libomp has it.
#include "openmp/icv.hpp"

constinit const kith::openmp::library_defaults kith::openmp::of_library{.schedule = schedule_kind::static_,
                                                                        .static_is_monotonic = false};
