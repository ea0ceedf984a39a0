// The options of a runtime with so many workers, however many cores there are.
#pragma once

#include <kith/runtime.hpp>

namespace kith::test {

inline runtime_options with(int workers) {
  runtime_options o;
  o.workers = workers;
  o.oversubscribe = true;
  return o;
}

}  // namespace kith::test
