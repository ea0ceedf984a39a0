// Who creates tasks: a worker, or the outside (whoever holds its lock).
#pragma once

#include "task/slots.hpp"

#include <cstdint>
#include <vector>

namespace kith {

namespace detail {
class scope;
}

/// What a creator owns. The engine derives from it.
class seat {
 public:
  seat(slot_space& space, std::uint16_t number) : slots(space, number) {}
  ~seat();

  slot_cache slots;
  std::vector<detail::scope*> spare_scopes;
  std::uint64_t next_serial = 0, last_serial = 0;  // a range of serial numbers of its own
};

}  // namespace kith
