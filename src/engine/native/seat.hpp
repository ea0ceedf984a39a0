// A seat of this engine: where scopes find the engine they belong to.
#pragma once

#include "task/scope.hpp"

namespace kith::native {

class engine;

class native_seat : public seat {
 public:
  native_seat(engine& owner, slot_space& space, std::uint16_t number, bool is_worker)
      : seat(space, number), home(owner), worker_seat(is_worker) {}

  engine& home;
  const bool worker_seat;  // a worker; else the outside
};

}  // namespace kith::native
