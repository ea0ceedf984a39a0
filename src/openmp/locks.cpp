// omp_lock_t and omp_nest_lock_t. GCC's omp.h gives them 4 and 16 bytes, LLVM's 8 and 8: so a lock that nests is a
// pointer to one, as it is in Fortran.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/lock.hpp"

#include <new>

using namespace kith::openmp;

namespace {

using plain_lock = kith::spin_mutex;

struct nest_lock {
  plain_lock it;
  int count;             // how often its owner holds it
  const context* owner;  // the task; null: none. Only the owner writes its own address here.
};
static_assert(sizeof(plain_lock) == 4);

bool owns(const nest_lock& l) noexcept { return __atomic_load_n(&l.owner, __ATOMIC_RELAXED) == &here(); }

int hold_once_more(nest_lock& l) noexcept {
  __atomic_store_n(&l.owner, &here(), __ATOMIC_RELAXED);
  return ++l.count;
}

}  // namespace

KITH_OPENMP_API void omp_init_lock(plain_lock* l) { ::new (l) plain_lock; }
KITH_OPENMP_API void omp_init_lock_with_hint(plain_lock* l, int) { omp_init_lock(l); }
KITH_OPENMP_API void omp_destroy_lock(plain_lock*) {}
KITH_OPENMP_API void omp_set_lock(plain_lock* l) { kith::openmp::take_lock(*l); }
KITH_OPENMP_API void omp_unset_lock(plain_lock* l) { kith::openmp::give_lock(*l); }
KITH_OPENMP_API int omp_test_lock(plain_lock* l) { return kith::openmp::try_take_lock(*l); }

KITH_OPENMP_API void omp_init_nest_lock(nest_lock** l) { *l = new nest_lock{}; }
KITH_OPENMP_API void omp_init_nest_lock_with_hint(nest_lock** l, int) { omp_init_nest_lock(l); }
KITH_OPENMP_API void omp_destroy_nest_lock(nest_lock** l) {
  delete *l;
  *l = nullptr;
}
KITH_OPENMP_API void omp_set_nest_lock(nest_lock** lock) {
  nest_lock& l = **lock;
  if (!owns(l)) kith::openmp::take_lock(l.it);
  hold_once_more(l);
}
KITH_OPENMP_API void omp_unset_nest_lock(nest_lock** lock) {
  nest_lock& l = **lock;
  if (--l.count != 0) return;
  __atomic_store_n(&l.owner, nullptr, __ATOMIC_RELAXED);
  kith::openmp::give_lock(l.it);
}
KITH_OPENMP_API int omp_test_nest_lock(nest_lock** lock) {
  nest_lock& l = **lock;
  return owns(l) || kith::openmp::try_take_lock(l.it) ? hold_once_more(l) : 0;
}

KITH_OPENMP_API void omp_init_lock_(plain_lock* l) { omp_init_lock(l); }
KITH_OPENMP_API void omp_init_lock_with_hint_(plain_lock* l, const int*) { omp_init_lock(l); }
KITH_OPENMP_API void omp_destroy_lock_(plain_lock*) {}
KITH_OPENMP_API void omp_set_lock_(plain_lock* l) { omp_set_lock(l); }
KITH_OPENMP_API void omp_unset_lock_(plain_lock* l) { omp_unset_lock(l); }
KITH_OPENMP_API int omp_test_lock_(plain_lock* l) { return omp_test_lock(l); }

KITH_OPENMP_API void omp_init_nest_lock_(nest_lock** l) { omp_init_nest_lock(l); }
KITH_OPENMP_API void omp_init_nest_lock_with_hint_(nest_lock** l, const int*) { omp_init_nest_lock(l); }
KITH_OPENMP_API void omp_destroy_nest_lock_(nest_lock** l) { omp_destroy_nest_lock(l); }
KITH_OPENMP_API void omp_set_nest_lock_(nest_lock** l) { omp_set_nest_lock(l); }
KITH_OPENMP_API void omp_unset_nest_lock_(nest_lock** l) { omp_unset_nest_lock(l); }
KITH_OPENMP_API int omp_test_nest_lock_(nest_lock** l) { return omp_test_nest_lock(l); }
