#include "openmp/task_group.hpp"

#include "openmp/abi.hpp"
#include "openmp/kmpc/reduction.hpp"
#include "openmp/kmpc/types.hpp"

#include <cstdint>

using namespace kith::openmp::kmpc;

KITH_OPENMP_API void __kmpc_taskgroup(const location*, std::int32_t) { kith::openmp::open_group(); }
KITH_OPENMP_API void __kmpc_end_taskgroup(const location*, std::int32_t) { close_group_with_reductions(); }
