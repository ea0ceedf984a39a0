// How scopes learn that their tasks have ended. A worker counts the ends in its own scopes at once (ended_in()). Those
// in a scope of another worker it holds back, for one scope at a time, and reports them together. C1, C2, C4 and C5 are
// invariants of task/scope.hpp.
#include "base/fence.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

#include <utility>

namespace kith::native {

bool worker::ended_elsewhere_in(detail::scope& s, std::uint64_t bytes) {
  if (reporting_ != &s) {
    report_one();
    reporting_ = &s;
  }
  unreported_bytes_ += bytes;
  // Reports at once if these are the last ends of a scope that was left, because its task must then end here.
  if (unreported_.end() || s.ended_elsewhere.load(relaxed) + unreported_.ends() == unreported_ends::left) report_one();
  return !left_and_empty_.empty();
}

void worker::count_begun(detail::scope& s, std::uint64_t runs) {
  if (s.counts_here.load(relaxed) == this) {
    s.created.store(s.created.load(relaxed) + runs, relaxed);
    return;
  }
  if (reporting_ != &s) {
    report();
    reporting_ = &s;
  }
  unreported_.begin(runs, s.ended_elsewhere);
}

void worker::report() {
  report_one();
  while (!left_and_empty_.empty() && !ending_left_) {
    requeue(end_left(nullptr));
    report_one();  // the ends that these caused
  }
}

void worker::report_one() {
  if (reporting_ == nullptr) return;
  detail::scope& s = *std::exchange(reporting_, nullptr);
  if (unreported_bytes_ != 0) s.bytes_ended.fetch_add(std::exchange(unreported_bytes_, 0), relaxed);
  if (unreported_.ends() == 0) return;  // the scope may already be gone
  // Pairs with unfinished() and with leave(). From here on the scope may be reused, unless this worker must end
  // its task.
  if (unreported_.report(s.ended_elsewhere) == unreported_ends::left) {
    left_and_empty_.push_back(&s);
    return;
  }
  frequent_fence();  // C2 of scope.hpp: pairs with announce() in search_or_park()
  const std::uint32_t waiter = s.waiting.load(relaxed);
  if (waiter == 0) return;
  if (waiter == waiting_outside) {
    engine.outside_changed();
  } else if (waiter <= engine.workers.size() && engine.parked.wake(worker_id(static_cast<int>(waiter - 1)))) {
    sums.add(event::wake);
  }
}

}  // namespace kith::native
