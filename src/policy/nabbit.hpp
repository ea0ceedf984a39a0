// `nabbit`: random stealing of groups, without colors.
//
// NabbitC paper, section II, and what its evaluation compares with: tasks that became ready together are halved again
// and again, the halves not taken first wait in the worker's deque, thieves take the largest of a random victim.
#pragma once

#include "policy/policy.hpp"
#include "policy/random_victims.hpp"
#include "policy/settings.hpp"
#include "queue/group_deque.hpp"

namespace kith {

template <class World>
class nabbit final : public policy<World> {
 public:
  using worker = typename World::worker;

  nabbit(const surroundings& s, settings&)
      : deques_(s.workers.size(), 0, [&](worker_id w) { return s.memory_of(w); }), victims_(s.workers, s.seed) {}

  typename policy<World>::wishes wants() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& by, moment why) override {
    if (keeps_one(why)) return deques_.push_rest(tasks, by, {}, no_color);
    deques_.push(tasks, by, no_color);
    return nullptr;
  }

  look next(worker& by) override {
    if (task* t = deques_.pop(by, {})) return look::got(*t);
    if (victims_.none()) return {look::empty};
    task* t = nullptr;
    if (deques_.steal(t, victims_.draw(by.id), by, {}) == theft::got) return victims_.found(by.id, *t);
    return victims_.failed(by.id, deques_);
  }

 private:
  static color_number no_color(const task&) noexcept { return -1; }

  group_deques<World> deques_;
  random_victims victims_;
};

}  // namespace kith
