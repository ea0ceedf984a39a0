#include "openmp/team.hpp"

#include "base/clock.hpp"
#include "base/futex.hpp"
#include "engine/native/worker.hpp"
#include "openmp/task.hpp"
#include "openmp/task_group.hpp"
#include "openmp/wait.hpp"

#include <mutex>
#include <thread>
#include <utility>

namespace kith::openmp {

namespace {

/// What the members of a new region begin with.
icv_set icv_at(int level, const context& maker) {
  icv_set icv = maker.icv();
  const std::vector<int>& by_level = the_settings().threads_by_level;
  if (static_cast<std::size_t>(level) < by_level.size()) icv.threads = by_level[static_cast<std::size_t>(level)];
  return icv;
}

std::vector<member> members_of(int size) {
  std::vector<member> all(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) all[static_cast<std::size_t>(i)].number = i;
  return all;
}

}  // namespace

team::team(const icv_set& icv)
    : size(1),
      outer(nullptr),
      outer_thread(0),
      level(0),
      active_level(0),
      engine(nullptr),
      environment{this, icv},
      members(members_of(1)),
      shares(1) {}

team::team(int threads, const context& maker, native::engine* on)
    : size(threads),
      outer(maker.team),
      outer_thread(maker.thread),
      level(maker.team->level + 1),
      active_level(maker.team->active_level + (threads > 1)),
      engine(on),
      environment{this, icv_at(level, maker)},
      members(members_of(threads)),
      shares(threads) {}

context team::context_of(int number) noexcept {
  context c;
  c.team = this;
  c.member = &members[static_cast<std::size_t>(number)];
  c.group = group_of_all;
  c.thread = number;
  c.environment = &environment;
  return c;
}

const data_environment& team::keep(std::unique_ptr<const data_environment> e) {
  constexpr std::size_t looks = 16;  // programs change settings between few values
  const std::lock_guard guard(keeping_);
  for (std::size_t i = kept_.size(); i > 0 && kept_.size() - i < looks; --i) {
    if (kept_[i - 1]->icv == e->icv) return *kept_[i - 1];
  }
  return *kept_.emplace_back(std::move(e));
}

void team::end_event() noexcept {
  atomic<std::uint32_t>& open = open_events_;
  // release: pairs with await_events(), after which the team may be gone; so futex_wake() uses the address alone.
  if (open.fetch_sub(1, release) == 1) futex_wake(open, 1);
}

void team::await_events() noexcept {
  for (;;) {
    const std::uint32_t open = open_events_.load(acquire);
    if (open == 0) return;
    futex_wait(open_events_, open);
  }
}

bool team::has_workers() const noexcept { return engine != nullptr && native::worker::current() != nullptr; }

void team::barrier() {
  wait_for_children_at_barrier();
  meet(false);
}

bool team::barrier_or_cancelled() {
  if (is_cancelled()) return true;
  wait_for_children_at_barrier();
  meet(true);
  return is_cancelled();
}

/// No meeting: the region's run waits for all members, which are its tasks.
void team::end() {
  wait_for_children_at_barrier();
  forget_queued();
}

/// All members' tasks have ended when all have arrived, because each has waited for its own, and a task ends after its
/// children. So any task may run on top of this wait: nothing below it continues before that task has ended.
void team::meet(bool until_cancelled) {
  forget_queued();
  if (size == 1 || !has_workers()) {
    share_cancelled_.store(false, relaxed);
    return;
  }
  const std::uint32_t before = passed_.load(relaxed);
  // acq_rel: the last one sees what all have done, and the others see that by its store to `passed_` (release), which
  // they read (acquire).
  if (arrived_.fetch_add(1, acq_rel) + 1 == size) {
    arrived_.store(0, relaxed);
    share_cancelled_.store(false, relaxed);
    passed_.store(before + 1, release);
    wake_waiting(*this);
    return;
  }
  // The others are often close behind, and then neither a look for tasks nor a sleep pays.
  constexpr int first_looks = 64;
  for (int i = 0; i < first_looks && passed_.load(acquire) == before; ++i) pause();
  if (passed_.load(acquire) != before) return;
  int looks = 0;
  wait_until_all_ended([&] {
    if (passed_.load(acquire) != before || (until_cancelled && is_cancelled())) return true;
    // The one that is waited for may need this core, and need not be ready long enough for the kernel to move it.
    constexpr int before_yield = 32;
    if (++looks % before_yield == 0) std::this_thread::yield();
    return false;
  });
}

bool team::is_task_cancelled(const task_group* of) const noexcept {
  return is_cancelled() || (of != nullptr && of->cancelled.load(relaxed));
}

void team::cancel() noexcept {
  cancelled_.store(true, relaxed);
  wake_waiting(*this);  // those in barrier_or_cancelled()
  blocked.wake();
}

void team::spin_until_begun() const noexcept {
  constexpr int before_yield = 1000;
  for (int looks = 0; begun_.load(relaxed) != size; ++looks) {
    if (looks < before_yield) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace kith::openmp
