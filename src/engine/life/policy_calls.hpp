// The only caller of a policy, in both engines. With a gate, it calls the gate, which calls the policy. It makes only
// the observer calls that the policy subscribed to.
#pragma once

#include "replay/choose.hpp"
#include "replay/gate.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace kith {

template <class World>
class policy_calls {
 public:
  using worker = typename World::worker;

  void set(chosen_policy<World> chosen) {
    owned_ = std::move(chosen.policy);
    gate_ = chosen.gate;
    needs_ = owned_->needs();
    leaves_short_tasks_ = gate_ == nullptr && owned_->leaves_short_tasks();
    redirect(*owned_);
  }
  /// Sends all further calls to `other`, without a gate; the policy set before stays alive.
  void cut_off(policy<World>& other) noexcept {
    gate_ = nullptr;
    leaves_short_tasks_ = false;
    redirect(other);
  }

  bool needs_accesses() const noexcept { return needs_.accesses; }
  bool needs_homes() const noexcept { return needs_.homes; }
  bool needs_writers() const noexcept { return needs_.writers; }
  bool leaves_short_tasks() const noexcept { return leaves_short_tasks_; }
  bool observes_creation() const noexcept { return observed_.created; }
  bool expects_every_ready() const noexcept { return observed_.created && observed_.every_ready; }
  bool observes_time() const noexcept { return observed_.ran; }
  bool observes_idleness() const noexcept { return observed_.idle; }
  /// With a gate, tasks have identities, and the gate decides their order (replay/gate.hpp).
  bool has_gate() const noexcept { return gate_ != nullptr; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) { return called_->ready(tasks, self, why); }
  poll_result next(worker& self) { return called_->next(self); }
  void waiting(worker& self) { called_->waiting(self); }

  void created(task& t, worker& self) {
    if (observed_.created) observer_->created(t, self);
  }
  /// REQUIRES: observes_time().
  void ran(const task& t, worker& self, std::uint64_t nanoseconds) { observer_->ran(t, self, nanoseconds); }
  void idle(worker& self) noexcept {
    if (observed_.idle) observer_->idle(self);
  }
  void run_began() {
    if (observer_ != nullptr) observer_->run_began();
  }
  void found_elsewhere(const region& r, node_id assumed, node_id actual) {
    if (observer_ != nullptr) observer_->found_elsewhere(r, assumed, actual);
  }

  void ended(task& t, worker& self) {
    if (gate_ != nullptr) gate_->ended(t, self);
  }
  /// False without a gate, because no task is then held back.
  bool stalled(worker& self) { return gate_ != nullptr && gate_->stalled(self); }
  std::string final_error() const { return gate_ != nullptr ? gate_->final_error() : std::string(); }

 private:
  void redirect(policy<World>& to) noexcept {
    called_ = &to;
    observer_ = to.observer();
    observed_ = observer_ != nullptr ? observer_->subscribes_to() : typename kith::observer<World>::subscriptions{};
  }

  std::unique_ptr<policy<World>> owned_;
  policy<World>* called_ = nullptr;
  observer<World>* observer_ = nullptr;
  gate<World>* gate_ = nullptr;
  typename policy<World>::data_needs needs_;
  bool leaves_short_tasks_ = false;
  typename kith::observer<World>::subscriptions observed_;
};

}  // namespace kith
