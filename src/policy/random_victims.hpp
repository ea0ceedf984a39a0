// Thieves that draw their victims at random, as those of `nabbit`, `nabbitc` and `ads` do.
#pragma once

#include "base/atomic.hpp"
#include "base/rng.hpp"
#include "policy/contract/policy.hpp"

#include <vector>

namespace kith {

/// Whether a worker that makes tasks ready continues with one of them.
inline bool keeps_one(ready_reason why) noexcept {
  return why == ready_reason::completion || why == ready_reason::discovery;
}

class random_victims {
 public:
  random_victims(const team& workers, std::uint64_t seed) : workers_(workers.size()) {
    for (int w = 0; w < workers_; ++w) states_.push_back({rng(seed, purpose::victim, static_cast<std::uint32_t>(w))});
  }

  bool none() const noexcept { return workers_ < 2; }
  /// Draws any other worker.
  worker_id draw(worker_id thief) noexcept {
    const auto other = static_cast<int>(states_[thief.index()].random.below(static_cast<std::uint32_t>(workers_ - 1)));
    return worker_id(other < thief.value ? other : other + 1);
  }
  poll_result found(worker_id thief, task& t) noexcept {
    states_[thief.index()].failures = 0;
    return poll_result::got(t);
  }
  /// The result of next() after a failed attempt. Random victims may miss a worker that has work, so every deque is
  /// checked before the answer is `empty`.
  template <class Deques>
  poll_result failed(worker_id thief, const Deques& deques) noexcept {
    int& failures = states_[thief.index()].failures;
    if (++failures < workers_) return {poll_result::retry};
    failures = 0;
    for (int w = 0; w < workers_; ++w) {
      if (w != thief.value && !deques.empty(worker_id(w))) return {poll_result::retry};
    }
    return {poll_result::empty};
  }

 private:
  struct alignas(false_sharing_range) state {
    rng random;
    int failures = 0;  // since the last full check or success
  };
  int workers_;
  std::vector<state> states_;
};

}  // namespace kith
