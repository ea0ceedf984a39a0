#include "analysis/reason.hpp"

#include "policy/balanced_placement.hpp"
#include "replay/choose.hpp"

#include <kith/access.hpp>

#include <algorithm>

namespace kith::analysis {

namespace {

using sentences = std::vector<std::string>;

std::string text(std::int64_t n) { return std::to_string(n); }
std::string worker_text(std::int32_t w) { return "worker " + text(w); }

class reasoning {
 public:
  reasoning(const recording& r, const explanation& e)
      : r_(r),
        e_(e),
        t_(r.tasks[static_cast<std::size_t>(e.task)]),
        policy_(r.meta_or("policy", "")),
        name_(policy_.substr(0, policy_.find(':'))) {}

  sentences all() {
    if (t_.has(recorded_task::fence)) return {"a fence has no code: it runs nowhere"};
    if (t_.worker < 0)
      return {t_.has(recorded_task::skipped) ? "it was cancelled"
                                             : "it never ran, or had not ended when the recording stopped"};
    if (t_.has(recorded_task::root))
      return {"it is what runtime::run was given: the thread that calls run is worker 0"};
    for (const auto& [name, tells] : rules) {
      if (name_ != name) continue;
      (this->*tells)();
      return std::move(out_);
    }
    for (const policy_entry& p : choosable_policies()) {
      if (name_ == p.name) say(name_ + ": " + p.summary);
    }
    if (out_.empty())
      say("the recording does not name a policy that is known here" +
          (name_.empty() ? std::string() : " ('" + name_ + "')"));
    origin();
    return std::move(out_);
  }

 private:
  void say(std::string sentence) { out_.push_back(std::move(sentence)); }
  std::int32_t node_of(std::int32_t worker) const {
    return worker >= 0 && static_cast<std::size_t>(worker) < r_.worker_node.size()
               ? r_.worker_node[static_cast<std::size_t>(worker)]
               : -1;
  }
  bool option(const std::string& word) const { return policy_.find(word) != std::string::npos; }
  bool creates_here() const { return e_.creator_worker == t_.worker; }
  bool released_here() const {
    return e_.ended_by >= 0 && r_.tasks[static_cast<std::size_t>(e_.ended_by)].worker == t_.worker;
  }
  /// "task 3", or whose end was that task's.
  std::string released_by() const {
    return "task " + text(e_.released_by) +
           (e_.ended_by == e_.released_by ? "" : ", with its last child, task " + text(e_.ended_by));
  }

  /// What is known of where its worker had it from; true if it was stolen just before.
  bool origin() {
    if (e_.stolen && e_.first_after_steal) {
      const std::int32_t victim = e_.stolen->victim;
      say("stolen: " + worker_text(t_.worker) + " took work from " +
          (victim >= 0 ? worker_text(victim) + " on node " + text(node_of(victim)) : "a queue of several workers") +
          " " + text(static_cast<std::int64_t>(t_.started - e_.stolen->at)) + " ns before, and ran this task next");
      return true;
    }
    return false;
  }
  void own_queue(const std::string& how) {
    if (!origin()) say("no steal came right before it: " + worker_text(t_.worker) + " had it in " + how);
  }

  void one_queue() {
    say(name_ + ": one queue for all workers; " + worker_text(t_.worker) + " asked when it was this task's turn");
  }
  void source_rule() {
    if (creates_here()) {
      say("source: a core prefers tasks that were created on it; " + worker_text(t_.worker) + " created this one");
    } else {
      say("source: it was created by " + (e_.creator_worker < 0 ? "the outside" : worker_text(e_.creator_worker)) +
          "; " + worker_text(t_.worker) + " had none of its own left");
    }
    origin();
  }
  void steal_rule() {
    if (origin()) return;
    if (released_here()) {
      say(name_ + ": " + worker_text(t_.worker) + " ended its last predecessor (" + released_by() +
          "), and had it at hand");
    } else if (creates_here()) {
      say(name_ + ": " + worker_text(t_.worker) + " created it, and had it in its own deque");
    } else if (e_.stolen) {
      say(name_ + ": " + worker_text(t_.worker) +
          " neither created it nor ended its last predecessor: it came with the " +
          "tasks of an earlier theft (the last one " + text(static_cast<std::int64_t>(t_.started - e_.stolen->at)) +
          " ns before)");
    } else {
      say(name_ + ": " + worker_text(t_.worker) +
          " neither created it nor ended its last predecessor, and has stolen " +
          "nothing: it came from outside, or was taken past its queue");
    }
  }
  void dealt() {
    say("dfifo: tasks are dealt to the workers' queues in turn, wherever their data is");
    own_queue("its own queue: it was dealt to it");
  }
  void socket_rule() {
    if (t_.node >= 0) {
      const std::int32_t wanted = t_.node % static_cast<std::int32_t>(e_.nodes.size());
      say("socket: the program names node " + text(t_.node) + " for it");
      fits(wanted);
    } else {
      say("socket: the program names no node for it: it goes to the node of its creator, " +
          (e_.creator_worker < 0 ? "which is outside" : "node " + text(node_of(e_.creator_worker))));
      if (e_.creator_worker >= 0) fits(node_of(e_.creator_worker));
    }
  }
  /// What the rule says against what was done.
  void fits(std::int32_t wanted) {
    if (wanted == e_.node) return;
    if (e_.nodes[static_cast<std::size_t>(wanted)].workers == 0) {
      say("node " + text(wanted) + " has no workers: the nearest that has serves it");
    } else if (!origin()) {
      say(option("steal=nearest")
              ? "it ran on node " + text(e_.node) + ": another node's worker had nothing to do"
              : "it ran on node " + text(e_.node) + " all the same" +
                    (t_.has(recorded_task::listed) ? ": whoever waits for it may take it past its queue"
                                                   : ", which the rule does not explain"));
    }
  }
  void dep_rule() { by_data("dep"); }
  void by_data(const std::string& who) {
    if (e_.data.empty()) {
      say(who + ": it uses no data: it goes to the node of its creator");
      if (e_.creator_worker >= 0) fits(node_of(e_.creator_worker));
      return;
    }
    if (e_.nodes.size() == 1) {
      say(who + ": there is one node");
      return;
    }
    std::uint64_t most = 0;
    for (const alternative& n : e_.nodes) most = std::max(most, n.home_bytes);
    const std::string all = text(static_cast<std::int64_t>(e_.bytes));
    if (e_.nowhere > most) {
      say(who + ": most of its data (" + text(static_cast<std::int64_t>(e_.nowhere)) + " of " + all +
          " bytes) had no home yet: a node was drawn, and became that data's home");
      return;
    }
    std::vector<std::int32_t> heaviest;
    for (const alternative& n : e_.nodes) {
      if (n.home_bytes == most) heaviest.push_back(n.node);
    }
    const std::string much = text(static_cast<std::int64_t>(most)) + " of " + all + " bytes";
    const bool drawn = heaviest.size() > 1 || e_.nowhere == most;
    if (!drawn) {
      say(who + ": a task runs where most of its data is: node " + text(heaviest.front()) + " has " + much);
      fits(heaviest.front());
      return;
    }
    std::string names;
    for (const std::int32_t n : heaviest) names += (names.empty() ? "" : ", ") + text(n);
    if (e_.nowhere == most) names += names.empty() ? "no node" : ", and no node yet,";
    say(who + ": nodes " + names + " have " + much + " each: one was drawn");
    if (std::ranges::find(heaviest, e_.node) == heaviest.end() && e_.nowhere != most) fits(heaviest.front());
  }
  /// The same sums as in policy/balanced_placement.hpp.
  void auto_rule() {
    const auto inhabited = std::ranges::count_if(e_.nodes, [](const alternative& n) { return n.workers > 0; });
    std::vector<std::uint64_t> bytes(e_.nodes.size());
    std::uint64_t placed = 0, nowhere = 0;
    for (const used_region& u : e_.data) {
      if (u.bytes < least_placed) continue;
      placed += u.bytes;
      nowhere += u.place.nowhere;
      const std::uint64_t times = static_cast<mode>(u.mode) == mode::in ? 1 : 2;
      for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] += times * u.place.bytes[n];
    }
    if (inhabited <= 1 || placed == 0) {
      say(inhabited <= 1 ? "auto: one node has all workers, so it is `steal`"
                         : "auto: it uses no data of a page or more, so it is treated as under `steal`");
      steal_rule();
      return;
    }
    const std::uint64_t most = *std::ranges::max_element(bytes);
    if (nowhere > most) {
      say("auto: most of its data (" + text(static_cast<std::int64_t>(nowhere)) + " of " +
          text(static_cast<std::int64_t>(placed)) +
          " bytes) had no home yet: it was dealt to the node whose turn it was");
      origin();
      return;
    }
    std::string names;
    for (const alternative& n : e_.nodes) {
      if (bytes[static_cast<std::size_t>(n.node)] == most) names += (names.empty() ? "" : ", ") + text(n.node);
    }
    const bool several = names.find(',') != std::string::npos;
    say(std::string("auto: a task runs where most of its data is, what it writes counted twice: ") +
        (several ? "nodes " : "node ") + names + (several ? " have " : " has ") +
        text(static_cast<std::int64_t>(most)) + " bytes" + (several ? " each; the shortest queue was taken" : ""));
    if (bytes[static_cast<std::size_t>(e_.node)] == most) {
      if (released_here())
        say("its last predecessor (" + released_by() + ") ended on " + worker_text(t_.worker) +
            ", which has its data in its caches");
    } else if (!origin()) {
      say("it ran on node " + text(e_.node) +
          ": a worker there had nothing to do, and fetching the data was to cost "
          "less than waiting");
    }
  }
  void rip_dep_rule() {
    const std::uint64_t place = place_among_created();
    if (!r_.jobs.empty() && place < r_.jobs.front().tasks) {
      const recorded_job& j = r_.jobs.front();
      say("rip-dep: it is one of the first " + text(static_cast<std::int64_t>(j.tasks)) +
          " tasks, whose graph was partitioned onto the nodes (" + text(static_cast<std::int64_t>(j.dependences)) +
          " dependences, by " + worker_text(j.worker) + "): it runs where its part is");
      return;
    }
    if (e_.nodes.size() > 1) {
      say(r_.jobs.empty()
              ? "rip-dep: no window was partitioned in this run"
              : "rip-dep: it was created after the first " + text(static_cast<std::int64_t>(r_.jobs.front().tasks)) +
                    " tasks, which were partitioned; later ones go by their data");
    }
    by_data("rip-dep");
  }
  void rip_mw_rule() {
    const auto before = std::ranges::count_if(r_.jobs, [&](const recorded_job& j) { return j.ended <= t_.started; });
    if (before == 0) {
      by_data("rip-mw");
      return;
    }
    say("rip-mw: it runs where its part of a window's graph is; " + text(before) + " of " +
        text(static_cast<std::int64_t>(r_.jobs.size())) + " windows were partitioned before it started");
    say("which window it was in is not recorded; outside windows, tasks go by their data");
  }
  void nabbit_rule() {
    say("nabbit: tasks that became ready together are groups, of which thieves take halves");
    own_queue("its own deque");
  }
  void nabbitc_rule() {
    if (option("colors=data") || option("colors=node")) {
      say("nabbitc: groups are sorted by color, which " + policy_ + " derives; thieves prefer their own");
    } else if (t_.color < 0) {
      say("nabbitc: it has no color: whoever takes its group apart runs it");
    } else if (t_.color == t_.worker) {
      say("nabbitc: its color is that of " + worker_text(t_.worker) + ", which ran it");
    } else {
      say("nabbitc: its color is that of " + worker_text(t_.color) +
          (static_cast<std::size_t>(t_.color) < r_.worker_node.size()
               ? " on node " + text(node_of(t_.color)) + (node_of(t_.color) == e_.node ? ", the same node" : "")
               : ", which the run did not have") +
          "; a group that was stolen, or was left over, brought it here");
    }
    own_queue("its own deque");
  }
  void replay_rule() { say(policy_ + ": the recorded schedule has it on " + worker_text(t_.worker)); }

  /// How many tasks that windows count were created before it.
  std::uint64_t place_among_created() const {
    std::uint64_t place = 0;
    for (std::int32_t i = 0; i < e_.task; ++i) {
      const recorded_task& o = r_.tasks[static_cast<std::size_t>(i)];
      const bool counts = !o.has(recorded_task::root) && !o.has(recorded_task::fence) &&
                          !o.has(recorded_task::outside) && !o.has(recorded_task::keyed) &&
                          !o.has(recorded_task::generated);
      place += counts ? 1 : 0;
    }
    return place;
  }

  using rule = void (reasoning::*)();
  static constexpr std::pair<const char*, rule> rules[] = {
      {"fifo", &reasoning::one_queue},     {"lifo", &reasoning::one_queue},     {"random", &reasoning::one_queue},
      {"source", &reasoning::source_rule}, {"steal", &reasoning::steal_rule},   {"dfifo", &reasoning::dealt},
      {"socket", &reasoning::socket_rule}, {"dep", &reasoning::dep_rule},       {"rip-dep", &reasoning::rip_dep_rule},
      {"rip-mw", &reasoning::rip_mw_rule}, {"nabbit", &reasoning::nabbit_rule}, {"nabbitc", &reasoning::nabbitc_rule},
      {"replay", &reasoning::replay_rule}, {"auto", &reasoning::auto_rule},
  };

  const recording& r_;
  const explanation& e_;
  const recorded_task& t_;
  std::string policy_, name_;
  sentences out_;
};

}  // namespace

std::vector<std::string> reasons_for(const recording& r, const explanation& e) { return reasoning(r, e).all(); }

}  // namespace kith::analysis
