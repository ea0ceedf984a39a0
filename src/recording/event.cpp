#include "recording/event.hpp"

namespace kith {

// The table is in the order of the enumeration, so that event_names[value] is the event's name.
static_assert([] {
  for (std::size_t i = 0; i < events; ++i) {
    if (static_cast<std::size_t>(event_names[i].what) != i) return false;
  }
  return true;
}());

}  // namespace kith
