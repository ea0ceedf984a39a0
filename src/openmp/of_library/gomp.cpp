// What libkith_gomp.so has as libgomp has it.
#include "openmp/icv.hpp"

constinit const kith::openmp::library_defaults kith::openmp::of_library{.schedule = schedule_kind::dynamic,
                                                                        .static_is_monotonic = true};
