// Scheduling: where a thread may be left, which one continues, and when a buffered store reaches memory.
#include "interleave/execution.hpp"

namespace kith::interleave {
namespace {
execution* running = nullptr;
constexpr const char* does_not_repeat =
    "the program does not repeat: it depends on more than the schedule (time, addresses, randomness, state "
    "kept between "
    "schedules)";
}  // namespace

execution* execution::current() noexcept { return running; }

execution::execution(const options& o, int bound, choices& c, orderings& w, std::vector<std::unique_ptr<fiber>>& stacks)
    : options_(o), preemptions_left_(bound), choices_(c), orderings_(w), stacks_(stacks) {
  threads_.reserve(max_threads);
  threads_.emplace_back().name = "main";
  threads_[0].clock.tick(0);
  running = this;
}

execution::~execution() { running = nullptr; }

void execution::add_thread(std::function<void()> body, std::string name) {
  const std::size_t number = threads_.size();
  if (stacks_.size() < number) stacks_.push_back(std::make_unique<fiber>());
  agent& a = threads_.emplace_back();
  a.name = name.empty() ? std::string("T").append(std::to_string(number)) : std::move(name);
  a.body = std::move(body);
  a.stack = stacks_[number - 1].get();
}

void execution::run() {
  trace_.clear();  // how the program was built is not reported
  for (std::size_t i = 1; i < threads_.size(); ++i) {
    threads_[i].clock = threads_[0].clock;
    threads_[i].clock.tick(static_cast<int>(i));
    threads_[i].stack->prepare(&execution::entry, this);
  }
  threads_[0].clock.tick(0);
  threads_[0].is = agent::state::ended;
  const int first = choose_next(false, true, {});
  if (failure_.empty()) {
    running_ = first;
    left_ = &main_;
    main_.switch_to(*of(first).stack);
  }
  running_ = 0;
  if (!failure_.empty()) return;
  if (choices_.unfinished()) return fail(does_not_repeat);
  for (std::size_t i = 1; i < threads_.size(); ++i) {
    drain(static_cast<int>(i));
    threads_[0].clock.join(threads_[i].clock);
  }
}

void execution::entry(void* self) {
  auto& run = *static_cast<execution*>(self);
  fiber::entered(*run.left_);
  run.me().just_chosen = true;
  try {
    run.me().body();
  } catch (const std::exception& e) {
    run.fail(std::string("an exception left the thread: ") + e.what());
  } catch (...) {
    run.fail("an exception left the thread");
  }
  run.me().is = agent::state::ended;
  run.me().body = nullptr;
  run.note({run.running_, event::what::ended});
  run.leave(false, {});
}

bool execution::enabled(int thread) noexcept {
  const agent& a = of(thread);
  if (a.is == agent::state::yielded) return changes_by_others(a) != a.seen_changes;
  return a.is == agent::state::ready;
}

void execution::fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  if (running_ != 0) me().stack->switch_to(main_);  // never resumed; explore() keeps its stack
}

/// Called before an operation that others can see or that can see others.
void execution::point(const std::source_location& where) {
  if (running_ == 0) return;
  count_step(where);
  if (me().just_chosen) {  // all others were offered just before
    me().just_chosen = false;
  } else {
    leave(true, where);
  }
}

/// Called where a thread waits. `may_continue`: it may continue at once.
void execution::rest(bool may_continue, const std::source_location& where) {
  count_step(where);
  leave(may_continue, where);
  me().just_chosen = true;
}

void execution::count_step(const std::source_location& where) {
  if (++me().steps > options_.max_steps) {
    fail(me().name + " made " + std::to_string(options_.max_steps) + " steps without an end at " + short_name(where) +
         ": a loop that waits must call pause(); or raise options.max_steps");
  }
}

/// Drains of different threads commute unless they are to the same place. Of equivalent orders, only one is kept.
void execution::list_drains(int last_drained) {
  for (int t = 1; t < static_cast<int>(threads_.size()); ++t) {
    if (of(t).buffer.empty()) continue;
    if (t < last_drained && !of(last_drained).buffer.empty() &&
        of(t).buffer.front().at.address != of(last_drained).buffer.front().at.address) {
      continue;
    }
    options_now_.push_back({t, true});
  }
}

/// Returns the thread that continues, after draining what the schedule says; 0 if all have ended. The
/// running thread continues at no cost if it may; leaving it costs a preemption unless `free`.
int execution::choose_next(bool may_continue, bool free, const std::source_location& where) {
  const int threads = static_cast<int>(threads_.size());
  std::vector<action>& list = options_now_;
  bool paid = free;
  int last_drained = 0;
  bool foreign_drain = false;
  for (;;) {
    list.clear();
    const bool stay = may_continue && (!paid || free || foreign_drain);
    if (stay && enabled(running_)) list.push_back({running_});
    if (paid || preemptions_left_ > 0) {
      for (int t = 1; t < threads; ++t) {
        if ((t != running_ || !may_continue) && enabled(t)) list.push_back({t});
      }
      list_drains(last_drained);
      if (list.empty() && may_continue && enabled(running_)) list.push_back({running_});
      if (!list.empty() && options_.spurious_wakes && preemptions_left_ > 0) {
        for (int t = 1; t < threads; ++t) {
          if (of(t).is == agent::state::asleep) list.push_back({t, false, true});
        }
      }
    } else {
      for (int t = 1; t < threads && !left_out_; ++t)
        left_out_ = (t != running_ && enabled(t)) || !of(t).buffer.empty();
    }
    if (list.empty()) {
      bool all_ended = true;
      std::string stuck;
      for (int t = 1; t < threads; ++t) {
        if (of(t).is == agent::state::ended) continue;
        all_ended = false;
        stuck += (stuck.empty() ? "" : ", ") + of(t).name +
                 (of(t).is == agent::state::asleep ? " sleeps in futex_wait" : " pauses and nothing changes");
      }
      if (!all_ended) fail("deadlock: " + stuck);
      return 0;
    }
    const action chosen = list[choices_.pick(list.size())];
    if (choices_.diverged()) {
      fail(does_not_repeat);
      return 0;
    }
    const bool leaves = chosen.drains || chosen.thread != running_;
    if (chosen.spurious) {
      --preemptions_left_;
      of(chosen.thread).is = agent::state::ready;
      note({chosen.thread, event::what::spurious});
    }
    if (leaves && !paid) {
      paid = true;
      if (!chosen.spurious) --preemptions_left_;
      note({running_, event::what::preempted, {}, {nullptr, 0, {}}, 0, 0, where});
    }
    if (!chosen.drains) return chosen.thread;
    foreign_drain = foreign_drain || chosen.thread != running_;
    last_drained = chosen.thread;
    drain_one(chosen.thread);
  }
}

void execution::leave(bool may_continue, const std::source_location& where) {
  const bool free = !may_continue || me().is == agent::state::yielded;
  const int next = choose_next(may_continue, free, where);
  if (next == 0) {
    me().stack->switch_to(main_, true);
  } else {
    go_to(next);
  }
}

void execution::go_to(int thread) {
  agent& next = of(thread);
  if (next.is == agent::state::yielded) next.is = agent::state::ready;
  if (thread == running_) return;
  agent& self = me();
  running_ = thread;
  left_ = self.stack;
  self.stack->switch_to(*next.stack, self.is == agent::state::ended);
}

std::string execution::story() const {
  std::vector<std::string> names;
  for (const agent& a : threads_) names.push_back(a.name);
  return trace_.text(names);
}

}  // namespace kith::interleave
