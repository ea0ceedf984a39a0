// The constructs single, and scope.
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"

using namespace kith::openmp;

KITH_OPENMP_API bool GOMP_single_start() { return enter_single(); }

// With copyprivate: null for the member that runs the block, which then calls GOMP_single_copy_end(). The others get
// what it passes there. The compiler adds the barrier that keeps the variables alive.
KITH_OPENMP_API void* GOMP_single_copy_start() { return enter_single() ? nullptr : await_copy(); }

KITH_OPENMP_API void GOMP_single_copy_end(void* data) {
  if (here().team->size != 1) publish_copy(data);
}

KITH_OPENMP_API void GOMP_scope_start(std::uintptr_t* reductions) {
  context& now = here();
  enter_reductions(*now.team, now.team->shares.enter(member_of(now).shares), reductions);
}
