// A seat, from which tasks are created: one for each worker, one for the outside (used by the holder of its lock).
#pragma once

#include "task/slots.hpp"

#include <cstdint>
#include <vector>

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
  std::vector<detail::scope*> spare_scopes;
  std::uint64_t next_serial = 0, last_serial = 0;  // a range of serial numbers of its own
};

}  // namespace kith
