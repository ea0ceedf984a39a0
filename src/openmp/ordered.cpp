#include "openmp/ordered.hpp"

#include "openmp/construct.hpp"
#include "openmp/wait.hpp"

namespace kith::openmp {

namespace {

struct awaited_turn {
  const team& in;
  const work_share& share;
  const std::uint64_t first;

  bool has_come() const noexcept { return share.turn.load(acquire) == first; }  // pairs with pass_turn()
  /// In a cancelled region the members before this one may have left without passing their turns.
  static bool is_over(const void* what) {
    const auto& t = *static_cast<const awaited_turn*>(what);
    return t.has_come() || t.in.is_cancelled();
  }
};

void wait_for_turn(team& in, const share_position& p) {
  const awaited_turn turn{in, *p.at, p.chunk.begin};
  if (!turn.has_come()) wait_until(awaited_turn::is_over, &turn);
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
  p.at->turn.store(p.chunk.end, release);  // pairs with has_come()
  p.chunk = {};
  wake_waiting(in);
}

}  // namespace kith::openmp
