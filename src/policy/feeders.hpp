// Feeders: types of tasks that make many others ready. Of several tasks, the worker should run one of these first.
//
// Not in the papers. If the end of a task makes several tasks ready, the worker runs one of them at once, and the
// others wait until some worker is free. If one of these is the next step of a serial chain that feeds all workers,
// such as a producer of items, all workers wait with it. The value of a type is what its tasks make ready when they
// end: the mean of the sum, over the tasks made ready, of 1 + half the value of their types. That is how many tasks the
// end of one leads to, where each generation counts half of the one before. It is learned as in temporal-difference
// learning. A task of a type with at least twice the value is a feeder.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/type_table.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Each worker calls for itself. The values are shared, and updated without synchronisation: a lost update does no
/// harm. They are written only if they change, because all workers read them.
template <class World>
class feeders {
 public:
  using worker = typename World::worker;

  explicit feeders(int workers) : states_(static_cast<std::size_t>(workers)) {}

  /// Called when the worker is about to run `t`: what its end makes ready is to be measured.
  void begins(const task& t, worker& self) { states_[self.id.index()] = {t.type, true}; }
  /// Whether the worker runs such a task.
  bool measures(const worker& self) const { return states_[self.id.index()].measures; }
  /// Called when a task of the worker has ended and made these ready; none: the worker looks for another task. Counts
  /// only if the task was to be measured.
  void ended(std::span<task* const> released, worker& self) {
    state& mine = states_[self.id.index()];
    if (!std::exchange(mine.measures, false)) return;
    float sum = 0;
    for (const task* t : released) sum += 1 + value(*t) / 2;
    auto& mean = values_[mine.type].mean;
    const float old = mean.load(relaxed), now = old + (sum - old) / 8;
    if (std::abs(now - old) > old / 64) mean.store(now, relaxed);
  }
  /// Chooses the task to run next: the one at `usual`, or a feeder.
  std::size_t choose(std::span<task* const> tasks, std::size_t usual) const {
    std::size_t best = usual;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (value(*tasks[i]) > value(*tasks[best])) best = i;
    }
    return value(*tasks[best]) >= 2 * value(*tasks[usual]) + least ? best : usual;
  }

 private:
  static constexpr float least = 0.125F;  // the least difference that counts

  struct shared_mean {
    typename World::template shared<float> mean{0};
  };
  struct alignas(false_sharing_range) state {
    std::uint16_t type = 0;  // of the task that the worker runs
    bool measures = false;
  };

  float value(const task& t) const { return values_[t.type].mean.load(relaxed); }

  type_table<shared_mean> values_;
  std::vector<state> states_;
};

}  // namespace kith
