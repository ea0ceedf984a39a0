// What a creator does at the throttle: when too many of the tasks that it has created are unfinished, it runs some of
// them before it creates more. The bounds are in life/throttle.hpp.
#include "engine/life/throttle.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/step.hpp"
#include "engine/native/worker.hpp"

#include <utility>

namespace kith::native {

void worker::help(detail::scope& s) {
  const bool exceeded = help_until_few(s, true);
  // not_ended_here() still counts tasks that other workers have ended. The next check comes when it has grown
  // by `left`.
  const std::uint64_t left = life::throttle(engine.options.throttle).owner_goes_on_for(s.unfinished(), exceeded);
  const std::uint64_t now = s.not_ended_here();
  s.throttle_at = left > ~now ? ~std::uint64_t{0} : now + left;
}

void worker::help_to_fill(detail::scope& s) {
  if (engine.options.throttle == 0 || unthrottled_-- != 0) return;
  const life::throttle bound(engine.options.throttle);
  unthrottled_ = bound.member_goes_on_for(false);  // also for tasks that run meanwhile
  if (bound.is_reached(s.unfinished())) unthrottled_ = bound.member_goes_on_for(help_until_few(s, false));
}

/// Runs tasks until half the bound is left, or until there was nothing to run for a while. True if too many are
/// still left. With `on_top`, tasks of the scope run on top of the creator, which is the parent of all of them.
bool worker::help_until_few(detail::scope& s, bool on_top) {
  const life::throttle bound(engine.options.throttle);
  const std::uint64_t bytes = on_top ? engine.options.throttle_bytes : 0;  // tasks of a group have no accesses
  auto over = [&] { return bound.is_reached(s.unfinished()) || (bytes != 0 && s.unfinished_bytes() >= bytes); };
  if (over()) sums.add(event::throttled);
  const above_halves tasks_run_on_top(lane_, running);
  const uncounted waits(counts);
  const bool all = on_top && std::exchange(runs_all_at_throttle_, false);  // no task of a group sees it empty
  const std::uint64_t few = all ? 1 : bound.low_mark();
  const auto below_low_mark = [&s, few, bytes] {
    return s.unfinished() < few && (bytes == 0 || s.unfinished_bytes() < bytes - bytes / 2);
  };
  // Other code asks a copy, so that the condition of the loop stays in registers.
  const auto condition_for_resumers = below_low_mark;
  pending_wait w(condition_for_resumers);
  w.scope = on_top ? &s : nullptr;
  w.may_claim_children = on_top && s.listed;
  w.helping = true;
  w.adopted_from = adopted_.size();
  task* t = nullptr;
  int failed_searches = 0;
  bool waiting_announced = false;
  const bool has_room = may_nest();
  while (!below_low_mark()) {
    if (!has_room && !may_leave_stack(w)) break;  // what is claimed must run
    if (t == nullptr && (t = find(w)) == nullptr) {
      report();
      pause();
      if (++failed_searches < life::throttle::most_failed_searches) continue;
      if (std::exchange(waiting_announced, true)) break;
      tell_waiting(s);  // the policy may hold tasks back
      failed_searches = 0;
      continue;
    }
    if (failed_searches != 0 && claimed_ != nullptr) engine.policy.idle(*this);  // found without the policy
    failed_searches = 0;
    if (has_room && may_run_here(*t, w)) {
      t = run_measured(*t);
    } else if (go_elsewhere(w, t)) {
      t = nullptr;
    } else {
      break;  // no stack is left: the creator continues
    }
  }
  requeue(t);
  engine.policy.idle(*this);
  report();
  const bool exceeded = over();
  if (exceeded) sums.add(event::throttle_exceeded);
  return exceeded;
}

}  // namespace kith::native
