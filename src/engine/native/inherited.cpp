#include "engine/native/inherited.hpp"

#include "base/fork.hpp"
#include "engine/native/binding.hpp"
#include "engine/native/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <vector>

namespace kith::native {

namespace {

/// The policy of an inherited engine: ends the child if the thread that forked inside a task returns from it (F1 of
/// inherited.hpp).
class no_policy final : public kith::policy<world>, public kith::observer<world> {
 public:
  using worker = worker_view;
  task* ready(std::span<task* const> /*tasks*/, worker& /*self*/, ready_reason /*why*/) override {
    end_forked_process();
  }
  poll_result next(worker& /*self*/) override { end_forked_process(); }
  kith::observer<world>* observer() noexcept override { return this; }
  subscriptions subscribes_to() const override { return {.idle = true}; }
  void idle(worker& /*self*/) override { end_forked_process(); }  // the task ran on top of a wait, which ends here
};

struct engine_list {
  std::mutex guard;
  std::vector<engine*> all;  // in a child it includes the parents' engines, which stay
  no_policy nothing;
};
engine_list& engines() {
  static engine_list& list = *new engine_list;
  return list;
}

void cut_off_all() noexcept {
  worker::forget_thread();
  binding::forget_in_child();
  for (engine* e : engines().all) e->cut_off(engines().nothing);
}
[[maybe_unused]] const bool engines_are_kept = (keep_over_fork(engines().guard, cut_off_all), true);  // before main()

}  // namespace

void end_forked_process() noexcept {
  constexpr std::string_view word =
      "kith: a child of fork() has returned into the task it was made in; the workers are the parent's. End it there, "
      "with exec(), exit() or _exit()\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, word.data(), word.size());
  ::_exit(70);
}

void join_engines(engine& e) {
  engine_list& list = engines();
  std::lock_guard lock(list.guard);
  list.all.push_back(&e);
}

void leave_engines(engine& e) noexcept {
  engine_list& list = engines();
  std::lock_guard lock(list.guard);
  std::erase(list.all, &e);
}

engine* engine_of_number(std::uint64_t number) noexcept {
  engine_list& list = engines();
  std::lock_guard lock(list.guard);
  const auto at =
      std::ranges::find_if(list.all, [&](const engine* e) { return e->number == number && !e->inherited(); });
  return at == list.all.end() ? nullptr : *at;
}

void wake_those_that_await() noexcept {
  engine_list& list = engines();
  std::lock_guard lock(list.guard);
  for (engine* e : list.all) {
    if (e->inherited()) continue;
    for (const worker& w : e->workers) {
      if (w.awaits.load(relaxed) != 0) e->parked.wake(w.id);
    }
  }
}

bool never_completes(std::uint64_t number) noexcept {
  engine_list& list = engines();
  std::lock_guard lock(list.guard);
  if (number == 0)
    return !list.all.empty() && std::ranges::all_of(list.all, [](const engine* e) { return e->inherited(); });
  return std::ranges::any_of(list.all, [&](const engine* e) { return e->number == number && e->inherited(); });
}

void engine::cut_off(kith::policy<world>& nothing) noexcept {
  if (std::exchange(cut_off_, true)) return;  // already cut off in a parent that was itself a child
  policy.cut_off(nothing);
  if (recorder_) recorder_->cut_off();
  if (options.claims) options.claims->release();
}

void engine::refuse_inherited(const char* call) const {
  if (!inherited()) return;
  throw error(std::string(call) +
              ": this runtime was made before fork(), and its threads are the parent's; make one in the child instead");
}

}  // namespace kith::native
