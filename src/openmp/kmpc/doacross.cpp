// ordered depend(source) and ordered depend(sink: ...).
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"
#include "openmp/fatal.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/posted_iterations.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

static_assert(sizeof(posted_iterations::loop) == 24);  // as the ABI passes it (struct kmp_dim)

/// `nest`: as Clang passes it, the last value is the number of iterations, which are numbered from 0.
KITH_OPENMP_API void __kmpc_doacross_init(const location*, std::int32_t, std::int32_t loops,
                                          const posted_iterations::loop* nest) try {
  std::vector<posted_iterations::loop> numbered(nest, nest + loops);
  for (posted_iterations::loop& l : numbered) l.last -= l.step;
  context& now = here();
  member& m = member_of(now);
  const work_shares::entered at = now.team->shares.enter(
      m.shares, [&](work_share& made) { made.posted = std::make_shared<posted_iterations>(numbered); });
  m.nest = at.share.posted;
} catch (...) {  // no memory for so many iterations
  die(std::current_exception());
}

KITH_OPENMP_API void __kmpc_doacross_fini(const location*, std::int32_t) { member_of(here()).nest.reset(); }

KITH_OPENMP_API void __kmpc_doacross_post(const location*, std::int32_t, const std::int64_t* at) {
  context& now = here();
  posted_iterations* const nest = member_of(now).nest.get();
  if (nest == nullptr) return;
  const std::optional<std::uint64_t> iteration = nest->find(at);
  if (!iteration) return;
  nest->post(*iteration);
  now.team->blocked.wake();
}

KITH_OPENMP_API void __kmpc_doacross_wait(const location*, std::int32_t, const std::int64_t* at) {
  context& now = here();
  const posted_iterations* const nest = member_of(now).nest.get();
  if (nest == nullptr) return;
  const std::optional<std::uint64_t> iteration = nest->find(at);
  if (iteration) wait_in_loop(*now.team, [&] { return nest->is_posted(*iteration); });
}
