// The trial of chain_bound.hpp: one node, the scout, runs with the bound until enough of its tasks count. They are
// compared with what the nodes did before, without it.
#pragma once

#include "base/atomic.hpp"
#include "policy/contract/policy.hpp"

#include <cstdint>

namespace kith {

enum class trial_result : std::uint8_t { none_yet, slower, faster };

/// Any worker may call anything. Two that count a sample at once may count one.
template <class World>
class chain_trial {
 public:
  /// Of a chain: its data is in the caches after them, and further tasks count.
  static constexpr std::uint32_t warm_up_tasks = 8;

  bool under_way() const { return scout_.load(relaxed) != nobody; }
  bool is_at(node_id n) const { return scout_.load(relaxed) == n.value; }

  /// REQUIRES: none is under way. (If two workers begin one at once, the second does.)
  void begin(node_id n) {
    looked_at_.store(0, relaxed);
    counted_.store(0, relaxed);
    gained_.store(0, relaxed);
    ending_.store(0, relaxed);
    scout_.store(n.value, relaxed);
  }
  /// Adds a task of the scout, where so many workers work: how many times as fast it was as before; 0: it does not
  /// count. One call returns the result; that caller then calls end().
  trial_result add(float speed_up, int working) {
    if (speed_up != 0) {
      gained_.store(gained_.load(relaxed) + speed_up, relaxed);
      counted_.fetch_add(1, relaxed);
    }
    const std::int32_t counted = counted_.load(relaxed);
    const std::int32_t most = samples + 2 * static_cast<std::int32_t>(warm_up_tasks) * working;
    if (looked_at_.fetch_add(1, relaxed) + 1 < most && counted < samples) return trial_result::none_yet;
    if (ending_.fetch_add(1, relaxed) != 0) return trial_result::none_yet;  // another worker ends the trial
    const bool pays = counted >= samples / 2 && gained_.load(relaxed) > gain * static_cast<float>(counted);
    return pays ? trial_result::faster : trial_result::slower;
  }
  void end() { scout_.store(nobody, relaxed); }

 private:
  static constexpr float gain = 1.1F;          // a smaller gain is not worth idle workers
  static constexpr std::int32_t samples = 16;  // that count
  static constexpr std::int32_t nobody = -1;

  typename World::template shared<std::int32_t> scout_{nobody};
  typename World::template shared<std::int32_t> looked_at_{0}, counted_{0}, ending_{0};
  typename World::template shared<float> gained_{0};
};

}  // namespace kith
