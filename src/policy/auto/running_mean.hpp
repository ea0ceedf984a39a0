// A mean over about the last eight values. All workers share it and update it without synchronisation: a lost update
// does no harm.
#pragma once

#include "base/atomic.hpp"

namespace kith {

/// The mean of positive values; 0 before the first.
template <class World>
class running_mean {
 public:
  float get() const { return mean_.load(relaxed); }
  void add(float value) {
    const float old = get();
    mean_.store(old == 0 ? value : old + (value - old) / 8, relaxed);
  }

 private:
  typename World::template shared<float> mean_{0};
};

}  // namespace kith
