// The constructs single, and scope.
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"
#include "openmp/wait.hpp"

using namespace kith::openmp;

namespace {

bool is_copied(const void* share) {
  return static_cast<const work_share*>(share)->copied.load(kith::acquire);  // pairs with GOMP_single_copy_end()
}

}  // namespace

KITH_OPENMP_API bool GOMP_single_start() {
  context& now = here();
  return now.team->size == 1 || now.team->shares.enter(member_of(now).shares).first;
}

// With copyprivate: null for the member that runs the block, which then calls GOMP_single_copy_end(). The others get
// what it passes there. The compiler adds the barrier that keeps the variables alive.
KITH_OPENMP_API void* GOMP_single_copy_start() {
  context& now = here();
  if (now.team->size == 1) return nullptr;
  const work_shares::entered at = now.team->shares.enter(member_of(now).shares);
  if (at.first) return nullptr;
  if (!is_copied(&at.share)) wait_until(is_copied, &at.share);
  return at.share.copy;
}

KITH_OPENMP_API void GOMP_single_copy_end(void* data) {
  context& now = here();
  if (now.team->size == 1) return;
  work_share& share = *member_of(now).shares.at;
  share.copy = data;
  share.copied.store(true, kith::release);  // pairs with is_copied()
  wake_waiting(*now.team);
}

KITH_OPENMP_API void GOMP_scope_start(std::uintptr_t* reductions) {
  context& now = here();
  enter_reductions(*now.team, now.team->shares.enter(member_of(now).shares), reductions);
}
