#include "openmp/completion_event.hpp"

#include "base/address.hpp"
#include "engine/native/held.hpp"
#include "engine/native/worker.hpp"
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/team.hpp"

namespace kith::openmp {

void completion_event::fulfil() noexcept {
  // acq_rel: what either side wrote before is visible to the other one.
  if (state_.exchange(fulfilled, acq_rel) == pending) return;
  if (holds_ != nullptr) native::open_held(*holds_);
  if (counts_ != nullptr) counts_->end_event();
  delete this;
}

void completion_event::body_ended(team& of) {
  if (state_.load(acquire) != fulfilled) {
    if (of.has_workers()) {
      const keeps_context mine;
      holds_ = &native::create_held(*native::worker::current());
    } else {
      counts_ = &of;
      of.add_event();
    }
    std::uint32_t was = pending;
    if (state_.compare_exchange_strong(was, left_open, acq_rel, acquire)) return;
    if (holds_ != nullptr) native::open_held(*holds_);
    if (counts_ != nullptr) counts_->end_event();
  }
  delete this;
}

}  // namespace kith::openmp

KITH_OPENMP_API void omp_fulfill_event(std::uintptr_t event) {
  static_cast<kith::openmp::completion_event*>(kith::at_address(event))->fulfil();
}
// In Fortran it is passed by value, too.
KITH_OPENMP_API void omp_fulfill_event_(std::uintptr_t event) { omp_fulfill_event(event); }
