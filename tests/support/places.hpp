// Places for tests, also more than there are cores.
#pragma once

#include <kith/places.hpp>

namespace kith::test {

inline place_options make_place_options(int places, int workers = 1, const char* policy = "ads") {
  place_options o;
  o.places = places;
  o.each.workers = workers;
  o.each.policy = policy;
  o.each.oversubscribe = true;
  return o;
}

}  // namespace kith::test
