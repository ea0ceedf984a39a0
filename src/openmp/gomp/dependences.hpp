// The lists of `depend` clauses that GCC makes.
#pragma once

#include "openmp/dependences.hpp"

namespace kith::openmp {

/// The accesses of a list in the layout of GOMP_task, which has addresses without sizes: each counts as one byte.
access_records records_of(void** list);

}  // namespace kith::openmp
