// `nabbitc`: groups sorted by color, and thieves that prefer their own color.
//
// NabbitC paper, section III. A worker without work makes `attempts` colored attempts (a random victim, whose top
// item is taken only if it has the thief's color), then one attempt that takes anything, and so on (the paper's K
// "is a constant"; 4 here, as OpenCilk's batch). The first successful steal of a worker in a run must be colored.
// Not in the paper: the first steal may also take an item whose color is no worker's (table III of the paper has
// only such colors), and a worker gives up the restriction after `budget` x workers attempts that met items of
// other colors; colors may mean nodes (`colors=node`), or follow from where a task's data is (`colors=data`).
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/data_weights.hpp"
#include "policy/random_victims.hpp"
#include "queue/group_deque.hpp"

namespace kith {

template <class World>
class nabbitc final : public policy<World>, public observer<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      number("attempts", 4, 0, 1 << 20, "colored steal attempts before one that takes anything"),
      one_of("first", "on|off", "whether a worker's first steal of a run must be colored"),
      number("budget", 64, 0, 1 << 20, "attempts for each worker after which a first steal may take anything"),
      one_of("morph", "on|off", "whether a group's own-colored half is taken first, whichever half that is"),
      one_of("colors", "worker|node|data",
             "what a color means: a worker, its node, or the node of most of a task's data"),
  };
  [[gnu::cold]] static void explain(explainer& e) {
    const placement_facts& f = e.facts;
    if (!e.options.is("colors", "worker")) {
      e.say_of_policy("groups are sorted by color, which is the node of " +
                      std::string(e.options.is("colors", "data") ? "most of a task's data" : "the worker it names") +
                      "; thieves prefer their own");
    } else if (f.color < 0) {
      e.say_of_policy("it has no color: the worker that splits its group runs it");
    } else if (f.color == f.worker) {
      e.say_of_policy("its color is that of " + e.worker_text(f.worker) + ", which ran it");
    } else {
      const std::string where = f.color_node < 0 ? ", which the run did not have"
                                                 : " on node " + e.text(f.color_node) +
                                                       (f.color_node == f.node_ran_on ? ", the same node" : "");
      e.say_of_policy("its color is that of " + e.worker_text(f.color) + where +
                      "; a group that was stolen, or was left over, brought it here");
    }
    e.say_queue("its own deque");
  }

  static constexpr policy_entry about{
      .name = "nabbitc",
      .paper = "NabbitC",
      .section = "III",
      .summary = "groups sorted by color; thieves prefer their own color",
      .options = options,
      .explain = explain,
  };

  nabbitc(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        attempts_(given.number("attempts")),
        first_(given.is("first", "on")),
        budget_(given.number("budget") * context.workers.size()),
        morphs_(given.is("morph", "on")),
        meaning_(given.word("colors", {meaning::worker, meaning::node, meaning::data})),
        deques_(context.workers.size(), meaning_ == meaning::worker ? context.workers.size() : context.workers.nodes(),
                [&](worker_id w) { return context.memory_of(w); }),
        victims_(context.workers, context.seed),
        weights_(context.memory) {
    for (int w = 0; w < team_.size(); ++w) states_.push_back({.weights = weights_.room()});
  }

  typename policy<World>::data_needs needs() const override {
    return {.homes = meaning_ == meaning::data && team_.nodes() > 1, .accesses = meaning_ == meaning::data};
  }
  bool leaves_short_tasks() const override { return team_.nodes() == 1; }
  kith::observer<World>* observer() noexcept override { return this; }
  typename kith::observer<World>::subscriptions subscribes_to() const override { return {}; }
  void run_began() override { run_.fetch_add(1, relaxed); }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    const auto color = [&](const task& t) { return color_of(t, states_[self.id.index()]); };
    if (keeps_one(why)) return deques_.push_rest(tasks, self, preference_of(self), color);
    deques_.push(tasks, self, color);
    return nullptr;
  }

  poll_result next(worker& self) override {
    const color_preference preferred = preference_of(self);
    if (task* t = deques_.pop(self, preferred)) return poll_result::got(*t);
    if (victims_.none()) return {poll_result::empty};
    state& mine = states_[self.id.index()];
    const bool forced = must_be_colored(mine);
    const bool colored = forced || mine.series < attempts_;
    task* t = nullptr;
    // A run may have begun since `forced` was read; its first steal is forced. A worker that sees a task of a run sees
    // the run's number.
    const auto same_run = [&] { return !first_ || mine.run == run_.load(relaxed); };
    switch (deques_.steal(t, victims_.draw(self.id), self, preferred, colored ? preferred.own : -1, forced, same_run)) {
      case steal_result::got:
        mine.series = 0;
        mine.budget = 0;
        return victims_.found(self.id, *t);
      case steal_result::unwanted:
        if (forced) --mine.budget;
        break;
      case steal_result::empty:
      case steal_result::lost: break;
    }
    mine.series = colored && !forced ? mine.series + 1 : 0;
    return victims_.failed(self.id, deques_);
  }

 private:
  enum class meaning : std::uint8_t { worker, node, data };
  struct alignas(false_sharing_range) state {
    std::uint64_t run = 0;    // the run that `budget` counts for
    std::int64_t budget = 0;  // forced attempts left; 0: not forced
    std::int64_t series = 0;  // colored attempts since the last one that could take anything
    data_weights::room_type weights;
  };

  color_preference preference_of(const worker& self) const noexcept {
    return {meaning_ == meaning::worker ? self.id.value : self.node.value, morphs_};
  }

  color_number color_of(const task& t, state& mine) const {
    switch (meaning_) {
      case meaning::worker: break;
      case meaning::node:
        if (t.color < 0) return -1;
        // A color that no worker has is the number of no node: there are at least as many workers.
        return t.color < team_.size() ? team_.node_of(worker_id(t.color)).value : t.color;
      case meaning::data: return weights_.heaviest_home(t, mine.weights).value;
    }
    return t.color;
  }

  bool must_be_colored(state& mine) const noexcept {
    if (!first_) return false;
    const std::uint64_t run = run_.load(relaxed);
    if (mine.run != run) {
      mine.run = run;
      mine.budget = budget_;
    }
    return mine.budget > 0 && attempts_ != 0;
  }

  const team& team_;
  std::int64_t attempts_;
  bool first_;
  std::int64_t budget_;
  bool morphs_;
  meaning meaning_;
  group_deques<World> deques_;
  random_victims victims_;
  data_weights weights_;
  std::vector<state> states_;
  typename World::template shared<std::uint64_t> run_{1};
};

}  // namespace kith
