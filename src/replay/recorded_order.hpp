// `replay` with another policy: that policy gets tasks in the order in which a recorded run began them, and decides
// where they run.
//
// Not in the papers. The placement that a rule chooses depends on the order in which it gets the tasks; here several
// rules get them in the same order. A task that is ready too early is held until all tasks that began before it have
// been ready. The recorded order has no deadlock by itself, because whatever a task waits for began before it. But the
// throttle may hold up a creator that it did not hold up in the recording. So when all workers are about to sleep, the
// first held task is released, and the tasks missing before it are not waited for. Tasks that are not in the recording
// are never held.
#pragma once

#include "policy/list.hpp"
#include "replay/gate.hpp"
#include "replay/schedule.hpp"
#include "task/identities.hpp"
#include "task/turns.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class recorded_order final : public gate<World> {
 public:
  using worker = typename World::worker;

  recorded_order(const policy_context& context, const recorded_schedule& from, std::unique_ptr<policy<World>> behind)
      : identities_(context.identities), regions_(context.regions), behind_(std::move(behind)) {
    std::vector<const recorded_schedule::step*> steps;
    for (const std::vector<recorded_schedule::step>& some : from.of_worker) {
      for (const recorded_schedule::step& s : some) steps.push_back(&s);
    }
    std::ranges::sort(steps, {}, [](const auto* s) { return std::tuple(s->started, s->task, !s->explores); });
    for (const recorded_schedule::step* s : steps) rank_.emplace(key(s->identity, s->explores), rank_.size());
    held_.resize(steps.size());
  }

  typename policy<World>::data_needs needs() const override {
    const auto behind = behind_->needs();
    return {.homes = behind.homes,
            .writers = behind.writers};  // and the accesses (the default), for the turns of commutative tasks
  }
  kith::observer<World>* observer() noexcept override { return behind_->observer(); }
  poll_result next(worker& self) override { return behind_->next(self); }
  void waiting(worker& self) override { behind_->waiting(self); }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    std::vector<task*> admitted, released;
    for (task* t : tasks) {
      if ((t->flags & task::exclusive) != 0) {
        admitted.push_back(t);  // it was released before, and has its turns now
      } else if (admit(*t, released)) {
        release(*t, admitted);
      }
    }
    task* first = admitted.empty() ? nullptr : behind_->ready(admitted, self, why);
    for (task* t : released) first = queue(*t, self, first);
    return first;
  }

  void ended(task& /*t*/, worker& /*self*/) override {}

  bool stalled(worker& self) override {
    std::vector<task*> found;
    {
      const std::lock_guard lock(guard_);
      const auto first = std::ranges::find_if(held_, [](const task* t) { return t != nullptr; });
      if (first == held_.end() || !self.all_sleep()) return false;
      next_ = static_cast<std::size_t>(first - held_.begin());
      take_next(found);
    }
    for (task* t : found) queue_all(*t, self);
    return true;
  }

  std::string final_error() const override { return {}; }

 private:
  static std::uint64_t key(std::uint64_t identity, bool explores) noexcept { return explores ? ~identity : identity; }

  /// True if the task is admitted now. `others` gets the held tasks that come right after it.
  bool admit(task& t, std::vector<task*>& others) {
    const auto at = rank_.find(key(identities_->identity_of(t), t.exploring != 0));
    if (at == rank_.end()) return true;
    std::vector<task*> found;
    {
      const std::lock_guard lock(guard_);
      if (at->second > next_) {
        held_[at->second] = &t;
        return false;
      }
      if (at->second == next_) {
        ++next_;
        take_next(found);
      }
    }
    for (task* other : found) release(*other, others);
    return true;
  }
  /// Takes the held tasks from the next rank on, up to the first gap. REQUIRES: the lock.
  void take_next(std::vector<task*>& found) {
    while (next_ < held_.size() && held_[next_] != nullptr) found.push_back(std::exchange(held_[next_++], nullptr));
  }

  /// Adds the task to `to`, unless it must wait for its turn at a commutative access: it then comes to ready() again.
  void release(task& t, std::vector<task*>& to) {
    if (has_turns(t)) {
      t.flags |= task::exclusive;
      if (!take_turns(regions_, t)) return;
    }
    to.push_back(&t);
  }

  /// Gives the task to the other policy. Returns the task to run at once: `first` if there is one, else the policy's.
  task* queue(task& t, worker& self, task* first) {
    task* const one = &t;
    task* next = behind_->ready({&one, 1}, self, ready_reason::arrival);
    while (next != nullptr && first != nullptr) {
      task* const again = next;
      next = behind_->ready({&again, 1}, self, ready_reason::arrival);
    }
    return first != nullptr ? first : next;
  }
  void queue_all(task& t, worker& self) {
    std::vector<task*> found;
    release(t, found);
    for (task* next : found) {
      while (next != nullptr) next = queue(*next, self, nullptr);
    }
  }

  const identity_source* identities_;
  region_table& regions_;
  std::unique_ptr<policy<World>> behind_;
  std::unordered_map<std::uint64_t, std::size_t> rank_;  // of each task, in the recorded order
  typename World::mutex guard_;
  std::vector<task*> held_;  // by rank
  std::size_t next_ = 0;     // the first rank whose task has not been ready
};

}  // namespace kith
