// The mean of about the last eight values, or the share of about the last events that had some property. All workers
// share it and update it without synchronisation: a lost update does no harm.
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

/// The share of events, 0 to 1, that had the property; about the last `Last` of them count.
template <class World, int Last = 8>
class running_share {
 public:
  /// `start` is the share before the first event.
  explicit running_share(float start) : share_(start) {}
  float get() const { return share_.load(relaxed); }
  void add(bool had) {
    const float old = get(), left = (had ? 1.0F : 0.0F) - old;
    if (left > -settled && left < settled) return;
    share_.store(old + left / Last, relaxed);
  }

 private:
  static constexpr float settled = 1.0F / 1024;  // so near to none or all, workers only read

  typename World::template shared<float> share_;
};

}  // namespace kith
