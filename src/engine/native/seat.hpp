// A seat of this engine: where scopes find the engine they belong to.
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
  const bool worker_seat;            // a worker; else the outside
  seat_log* log = nullptr;           // none: nothing is recorded
  identity::creator naming;          // of what creates on this seat; where identities are kept
  std::uint64_t creating_since = 0;  // in ticks; while a task is made, and that is recorded
};

}  // namespace kith::native
