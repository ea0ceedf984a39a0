// The mean of about the last eight values, or the share of about the last eight events that had some property. All
// workers share it and update it without synchronisation: a lost update does no harm.
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

/// The share of events, 0 to 1, that had the property.
template <class World>
class running_share {
 public:
  /// `start` is the share before the first event.
  explicit running_share(float start) : share_(start) {}
  float get() const { return share_.load(relaxed); }
  void add(bool had) {
    const float old = get();
    share_.store(old + ((had ? 1.0F : 0.0F) - old) / 8, relaxed);
  }

 private:
  typename World::template shared<float> share_;
};

}  // namespace kith
