#include "openmp/task_group.hpp"

#include "openmp/abi.hpp"

KITH_OPENMP_API void GOMP_taskgroup_start() { kith::openmp::open_group(); }
KITH_OPENMP_API void GOMP_taskgroup_end() { kith::openmp::close_group(); }
