// A seat, from which tasks are created: one for each worker, one for the outside (used by the holder of its lock).
#pragma once

#include "task/slots.hpp"

#include <cstdint>

namespace kith {

namespace detail {
class scope;
}

/// What a seat owns. The engine derives from it.
class seat {
 public:
  seat(slot_space& space, std::uint16_t number) : slots(space, number) {}
  ~seat();

  slot_cache slots;
  detail::scope* spare_scopes = nullptr;           // linked by next_spare
  std::uint64_t next_serial = 0, last_serial = 0;  // a range of serial numbers of its own
};

}  // namespace kith
