// A seat of this engine; scopes find their engine through it.
#pragma once

#include "base/identity.hpp"
#include "task/scope.hpp"

#include <cstdint>

namespace kith::native {

class engine;
class seat_log;

class native_seat : public seat {
 public:
  native_seat(native::engine& owner, slot_space& space, std::uint16_t number, bool is_worker)
      : seat(space, number), engine(owner), worker_seat(is_worker) {}

  native::engine& engine;
  const bool worker_seat;         // true: a worker; false: the outside
  bool creates_plainly = false;   // a worker whose new tasks are only ordered and queued: nothing of them is kept for
                                  // the policy, observed, recorded or replayed
  seat_log* log = nullptr;        // null: nothing is recorded
  void* addresses = nullptr;      // what traced_body takes; null: no addresses are recorded
  identity::naming_state naming;  // of the task that creates on this seat; used if identities are kept
  std::uint64_t creating_since = 0;  // in ticks; valid while the creation of a task is recorded
};

/// The engine whose seat owns the scope.
inline native::engine& engine_of(const detail::scope& s) noexcept {
  return static_cast<const native_seat&>(*s.seat).engine;
}

}  // namespace kith::native
