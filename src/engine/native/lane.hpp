// The halves of joins that a worker offers to others, for one of its stacks (fork_join.cpp).
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "engine/native/frame_stack.hpp"

#include <kith/detail/fork_lane.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace kith {

class task;

}  // namespace kith

namespace kith::native {

/// Halves of a lane below `from` belong to `joins` (null: the root), or to tasks further down the stack. `joins` waits,
/// or helps at the throttle, while other tasks run on top of it. The object is on the stack of that wait.
struct task_boundary {
  detail::split_deque<detail::half>::slot_pointer from;
  task* joins;
  const task_boundary* next;  // the next one further down
};

/// A lane stays with its worker until the engine ends, and belongs to one of that worker's stacks at a time.
struct lane : detail::fork_lane {
  /// The lane's capacity: deeper joins of a stack run without being offered.
  static constexpr std::uint32_t most_halves = 1 << 14;
  /// The number of oldest halves that are always public, so that a worker that becomes idle while this one runs
  /// something long finds them. A join with fewer others below it on the stack costs more for that; in a deep
  /// recursion nearly all halves stay private.
  static constexpr std::size_t always_offered = 4;
  using halves_places = std::unique_ptr<std::atomic<detail::half*>[]>;
  lane(worker_id owner_id, std::size_t workers, halves_places room)
      : fork_lane(room.get(), most_halves, static_cast<std::uint32_t>(std::min(workers - 1, always_offered))),
        owner(owner_id),
        places_(std::move(room)) {}
  ~lane() {
    detail::frame_stack* const held = frames.stack;
    give_frames_away();
    detail::end_frame_stack(held);
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Gives up the stack of frames. Coroutines then use `held`, or a stack that is made when it is needed.
  void give_frames_away(detail::frame_stack* held = nullptr) noexcept {
    if (frames.stack != nullptr) frames.stack->give(frames);
    frames = held != nullptr ? held->take() : detail::frame_room{};
  }

  const worker_id owner;
  const task_boundary* boundaries = nullptr;  // the newest
  lane* next_of_worker = nullptr;             // not changed after the lane was published

 private:
  halves_places places_;
};

/// The lanes of one worker. Its own stacks take them and return them; any worker may look through all of them.
class lane_pool {
 public:
  /// Whether take() will succeed. Makes a spare lane if there is none; false if there is no memory for it. Sets
  /// `forking` once there is a lane that other workers may take from.
  bool ensure_spare(worker_id owner, std::size_t workers, atomic<bool>& forking) noexcept;
  /// REQUIRES: ensure_spare() has returned true.
  lane* take() noexcept {
    lane* const taken = spare_.back();
    spare_.pop_back();
    return taken;
  }
  void give_back(lane* l) noexcept { spare_.push_back(l); }  // ensure_spare() reserved room
  /// The newest of all lanes; lane::next_of_worker leads to the others. Any worker may call it.
  lane* newest() const noexcept { return newest_.load(acquire); }  // pairs with ensure_spare()

 private:
  std::deque<lane> all_;  // a deque, so that addresses stay valid
  std::vector<lane*> spare_;
  alignas(false_sharing_range) atomic<lane*> newest_{nullptr};
};

/// Marks in a worker's lane, if it has halves, that other tasks than `running` may run further up the stack.
class above_halves {
 public:
  above_halves(lane* l, task* running) noexcept : lane_(l != nullptr && !l->halves.empty() ? l : nullptr) {
    if (lane_ == nullptr) return;
    here_ = {lane_->halves.top(), running, lane_->boundaries};
    lane_->boundaries = &here_;
  }
  ~above_halves() {
    if (lane_ != nullptr) lane_->boundaries = here_.next;
  }
  above_halves(const above_halves&) = delete;
  above_halves& operator=(const above_halves&) = delete;

 private:
  lane* const lane_;
  task_boundary here_{};
};

/// A half that a worker has taken, and is to run.
struct taken_half {
  detail::half* it = nullptr;
  worker_id owner{0};
};

}  // namespace kith::native
