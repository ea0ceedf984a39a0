#include "openmp/ordered.hpp"

#include "openmp/construct.hpp"
#include "openmp/wait.hpp"

namespace kith::openmp {

namespace {

void wait_for_turn(team& in, const share_position& p) {
  const work_share& share = *p.at;
  wait_in_loop(in, [&] { return share.turn.load(acquire) == p.chunk.begin; });  // pairs with pass_turn()
}

}  // namespace

void await_turn() {
  context& now = here();
  const share_position& p = member_of(now).shares;
  if (p.loop.ordered && !p.chunk.is_empty()) wait_for_turn(*now.team, p);
}

void pass_turn(team& in, share_position& p) {
  if (p.chunk.is_empty()) return;
  wait_for_turn(in, p);
  p.at->turn.store(p.chunk.end, release);  // pairs with wait_for_turn()
  p.chunk = {};
  in.blocked.wake();
}

}  // namespace kith::openmp
