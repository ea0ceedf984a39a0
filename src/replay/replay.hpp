// `replay`: decides as a recorded run, native or simulated, did.
//
// The policy is not in the papers, but the NabbitC paper (section V) measures PageRank by running a recorded schedule
// again. Every worker runs the tasks that it ran in the recording, in the order in which they began. A task begins
// inside the wait of another task only if it did so in the recording (`inside`), and only when that task has progressed
// as far as it had then: it has begun as many waits (`waits_before`) and, for tasks that run while a creator is held
// up, created as many tasks (`created_before`). So the tasks that wait below a task on its stack are at most those of
// the recording, whatever time tasks take. The recorded run proves that this order has no deadlock.
//
// With fewer workers than in the recording, the order cannot always be kept. Then (`order=ready`) one worker
// runs the tasks of several, and of its ready tasks the one that began first in the recording is next. The same
// holds for recordings with tasks from outside, which come in no fixed order. Tasks with commutative accesses
// take turns in the recorded order, and exclude each other whatever was recorded.
//
// A divergence is refused with the task's name: a task that is not in the schedule or, when all workers sleep
// while tasks are held back, one of those tasks and the task that should have run before it. After a refusal, the rest
// of the run is in any order.
// Tasks that destructors of a task's captures create are refused, too: their numbers among its children do not repeat.
#pragma once

#include "base/identity.hpp"
#include "policy/contract/explainer.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/make_in.hpp"
#include "replay/gate.hpp"
#include "replay/ordered_queue.hpp"
#include "replay/schedule.hpp"
#include "replay/turn_order.hpp"
#include "task/identities.hpp"
#include "task/turns.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class replay final : public gate<World> {
 public:
  using worker = typename World::worker;
  using step = recorded_schedule::step;

  static constexpr std::array options{
      file_name("file", "RECORDING", "the run whose schedule is followed"),
      one_of("order", "auto|strict|ready",
             "strict: recorded order, by as many workers; ready: the first ready task in recorded order; auto: strict "
             "where that is possible"),
      policy_text("policy", "decides where tasks run; they come to it in the recorded order. The last option"),
  };
  [[gnu::cold]] static void explain(explainer& e) {
    const std::string behind = e.options.text("policy");
    e.say_of_policy(behind.empty() ? "the recorded schedule has it on " + e.worker_text(e.facts.worker)
                                   : "tasks came in the recorded order to " + behind + ", which decided");
  }

  static constexpr policy_entry about{
      .name = "replay",
      .paper = "NabbitC",
      .section = "V",
      .summary = "decides as a recorded run did",
      .options = options,
      .priorities = false,
      .explain = explain,
  };

  replay(const policy_context& context, const policy_options& given) : replay(context, given, given.text("file")) {}

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) {
      const auto at = where_.find(key(identities_->identity_of(*t), t->exploring != 0));
      if (at == where_.end()) {
        self.refuse(*t, "is not in the schedule of " + file_ + ": the recorded program differs from this one");
        give_up(self);
      } else if (const std::int32_t n = step_at(at->second).task; !turns_.has_come(n, *t)) {
        continue;
      } else if (diverged_.load(relaxed) && turns_.concerns(n)) {
        self.refuse(*t, out_of_turn);
      }
      push_in_turn(*t, self);
    }
    return nullptr;
  }

  poll_result next(worker& self) override {
    list& mine = lists_[self.id.index()];
    const auto [t, position] = mine.queue->pop(free_.load(relaxed) ? everything : last_allowed(mine, self), self);
    if (t != nullptr) mine.note_begun(position);
    return poll_result::at(t, poll_result::empty);
  }

  void ended(task& t, worker& self) override {
    if ((t.flags & task::exclusive) == 0) return;
    const auto at = where_.find(key(identities_->identity_of(t), false));
    if (at == where_.end()) return;
    for (const auto& [n, come] : turns_.ended(step_at(at->second).task)) push_in_turn(*come, self);
  }

  bool stalled(worker& self) override {
    if (diverged_.load(relaxed)) return false;
    if (!free_.load(relaxed)) {
      for (list& l : lists_) {
        const held_task found = l.queue->refuse_first(self, [&](task& t, std::int64_t position) {
          self.refuse(t, "is ready, but in the schedule of " + file_ + " its worker " + what_is_missing(l, position));
          give_up(self);
        });
        if (found != held_task::none) return found == held_task::refused;
      }
    }
    return turns_.holds_any() && self.all_sleep() && give_up(self);
  }

  std::string final_error() const override {
    if (diverged_.load(relaxed)) return {};  // already reported
    for (const list& l : lists_) {
      if (const std::size_t next = l.next.load(relaxed); next < l.steps.size())
        return "policy 'replay': task " + name(l.steps[next]) + " of " + file_ +
               " was not created: the recorded program differs from this one";
    }
    return {};
  }

 private:
  replay(const policy_context& context, const policy_options& given, const std::string& file)
      : replay(context, given, file, schedule_in(file)) {}

  replay(const policy_context& context, const policy_options& given, std::string file, const recorded_schedule& from)
      : identities_(context.identities),
        regions_(context.regions),
        file_(std::move(file)),
        lists_(static_cast<std::size_t>(context.workers.size())),
        types_(from.type),
        // Tasks from outside come in no fixed order, so their turns have none either.
        turns_(from.outside ? decltype(from.turns){} : from.turns) {
    const std::size_t then = from.of_worker.size(), now = lists_.size();
    const bool few = then > now;
    enum order : std::uint8_t { automatic, strict, by_readiness };
    const auto wanted = given.word("order", {automatic, strict, by_readiness});
    if (wanted == strict && (few || from.outside))
      throw error(
          "policy 'replay': order=strict: " + file_ +
              (from.outside ? " has tasks from outside, which come in no fixed order"
                            : " was run by " + std::to_string(then) + " workers, here are " + std::to_string(now)),
          error_kind::setting);
    free_.store(wanted == by_readiness || few || from.outside, relaxed);
    for (std::size_t w = 0; w < then; ++w) {
      std::vector<step>& steps = lists_[few ? w * now / then : w].steps;
      steps.insert(steps.end(), from.of_worker[w].begin(), from.of_worker[w].end());
    }
    for (std::size_t w = 0; w < now; ++w) {
      list& mine = lists_[w];
      const worker_id me(static_cast<int>(w));
      mine.queue = make_in<ordered_queue<World>>(context.memory_of(me), me);
      if (few)
        std::ranges::sort(mine.steps, {}, [](const step& x) { return std::tuple(x.started, x.task, !x.explores); });
      mine.has_begun.resize(mine.steps.size());
      for (std::size_t i = 0; i < mine.steps.size(); ++i) {
        const step& x = mine.steps[i];
        where_[key(x.identity, x.explores)] = {w, static_cast<std::int64_t>(i)};
      }
    }
  }

  static constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

  struct alignas(false_sharing_range) list {
    std::vector<step> steps;
    std::shared_ptr<ordered_queue<World>> queue;
    typename World::template shared<std::size_t> next{0};  // the first step that has not begun; changed only by the
                                                           // list's worker
    typename World::template shared<bool> covered{false};  // the next step waits for the end of a task that its
                                                           // worker is in
    std::vector<bool> has_begun;                           // by step; used only by the list's worker

    /// A step may begin more than once.
    void note_begun(std::int64_t position) {
      if (position == everything) return;
      has_begun[static_cast<std::size_t>(position)] = true;
      std::size_t n = next.load(relaxed);
      while (n < steps.size() && has_begun[n]) ++n;
      next.store(n, relaxed);
    }
  };
  struct schedule_position {
    std::size_t worker;
    std::int64_t position;
  };
  static constexpr const char* out_of_turn = "is not run: another task of the schedule was refused";

  /// The last position that may begin now. A task that the engine put back has an earlier position than the next step.
  std::int64_t last_allowed(list& mine, const worker& owner) const {
    const std::size_t n = mine.next.load(relaxed);
    return static_cast<std::int64_t>(n) - (n < mine.steps.size() && may_begin(mine, mine.steps[n], owner) ? 0 : 1);
  }
  bool may_begin(list& mine, const step& s, const worker& owner) const {
    const identity::naming_state& around = owner.innermost();
    if (around.self == s.inside) {
      mine.covered.store(false, relaxed);
      return around.children >= s.created_before && around.waits >= s.waits_before;
    }
    // A step may begin on top of the tasks that it was on top of in the recording. If the innermost task is another of
    // these, those further in have ended.
    const bool covered = position_of(around.self, owner.id.index()) > s.inside_at;
    mine.covered.store(covered, relaxed);
    return !covered;
  }
  /// The position of a task that runs on worker w; -1 if it is not in the worker's list (the root, or no task).
  std::int64_t position_of(std::uint64_t runs, std::size_t w) const {
    for (const bool explores : {false, true}) {
      const auto at = where_.find(key(runs, explores));
      if (at == where_.end() || at->second.worker != w) continue;
      if (lists_[w].has_begun[static_cast<std::size_t>(at->second.position)]) return at->second.position;
    }
    return -1;
  }

  const step& step_at(const schedule_position& p) const noexcept {
    return lists_[p.worker].steps[static_cast<std::size_t>(p.position)];
  }
  std::string name(const step& s) const {
    return std::to_string(s.task) + " (" + types_[static_cast<std::size_t>(s.task)] + ")";
  }
  std::string what_is_missing(const list& l, std::int64_t position) const {
    const std::size_t next = std::min(l.next.load(relaxed), l.steps.size() - 1);
    const step& missing = l.steps[next];
    const std::string other = ": the recorded program differs from this one";
    if (static_cast<std::int64_t>(next) != position)
      return "runs task " + name(missing) + " first, which was not created" + other;
    return l.covered.load(relaxed) ? "must first end another task, which waits"
                                   : "has created or waited for more by then" + other;
  }
  void push(task& t, worker& self) {
    const auto at = where_.find(key(identities_->identity_of(t), t.exploring != 0));
    if (at == where_.end()) {
      lists_[self.id.index()].queue->push(t, everything, self);
    } else {
      lists_[at->second.worker].queue->push(t, at->second.position, self);
    }
  }
  /// If a region is in use, the engine passes the task to ready() again later. It releases the regions when the
  /// task ends.
  void push_in_turn(task& t, worker& self) {
    if ((t.flags & task::exclusive) == 0 && has_turns(t)) {
      t.flags |= task::exclusive;
      if (!take_turns(regions_, t)) return;
    }
    push(t, self);
  }
  /// Runs the rest without an order. Refuses the tasks that wait for a turn; true if there were any. Workers that sleep
  /// because their next step had not come look again.
  bool give_up(worker& self) {
    free_.store(true, relaxed);
    diverged_.store(true, relaxed);
    for (list& l : lists_) l.queue->ring(self);
    const auto held = turns_.open();
    for (const auto& [n, t] : held) {
      self.refuse(*t, out_of_turn);
      push_in_turn(*t, self);
    }
    return !held.empty();
  }
  static std::uint64_t key(std::uint64_t identity, bool explores) noexcept { return explores ? ~identity : identity; }

  const identity_source* identities_;
  region_table& regions_;
  std::string file_;
  std::vector<list> lists_;
  std::unordered_map<std::uint64_t, schedule_position> where_;
  std::vector<std::string> types_;
  turn_order<World> turns_;
  typename World::template shared<bool> free_{false};  // tasks need not keep the order
  typename World::template shared<bool> diverged_{false};
};

}  // namespace kith
