#include "engine/native/array_run.hpp"

#include "base/clock.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/inherited.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

namespace kith::native {

namespace {

constexpr std::uint32_t most_taken = 32;            // nodes taken in one visit
constexpr std::uint32_t nodes_between_clocks = 64;  // how often a worker times its nodes
/// How many searches in vain end a worker's part in a run. Half-way it begins to search other memory nodes.
int searches_before_leaving(const engine_options& o) noexcept { return o.spin == 0 ? 2 : 256; }

}  // namespace

array_run::array_run(node_arrays& graph, node_deques& kept, worker& owner, detail::scope& scope)
    : graph_(graph),
      deques_(kept),
      owner_(owner),
      owner_id_(owner.id),
      runs_in_(owner.running),
      scope_(scope),
      alone_(owner.engine.workers.size() == 1),
      by_home_(graph.homes_in == owner.engine.number && owner.engine.workers_where.inhabited().size() > 1),
      arrivals_(by_home_ ? static_cast<std::size_t>(owner.engine.workers_where.nodes()) : 1),
      left_(static_cast<std::uint32_t>(graph.steps.size())) {
  while (deques_.size() < owner.engine.workers.size()) deques_.emplace_back();
}

/// Gives each worker a piece of the nodes without predecessors: with homes, of those that belong to its node.
void array_run::deal_sources() {
  const auto deal = [](std::uint32_t from, std::uint32_t to, std::size_t share, std::size_t shares,
                       node_deque& to_deque) {
    const std::uint64_t n = to - from;
    to_deque.sources_at.store(from + static_cast<std::uint32_t>((n * share + shares - 1) / shares), relaxed);
    to_deque.sources_end = from + static_cast<std::uint32_t>((n * (share + 1) + shares - 1) / shares);
  };
  for (node_deque& d : deques_) d.sources_at.store(d.sources_end = d.taken_at = d.taken_end = 0, relaxed);
  const std::size_t workers = owner_.engine.workers.size();
  const auto count = static_cast<std::uint32_t>(graph_.sources.size());
  if (!by_home_) {
    for (std::size_t i = 0; i < workers; ++i) deal(0, count, i, workers, deques_[(owner_.id.index() + i) % workers]);
    return;
  }
  for (std::uint32_t from = 0; from < count;) {  // they are sorted by home
    const std::uint16_t home = graph_.steps[graph_.sources[from]].home;
    std::uint32_t to = from;
    while (to < count && graph_.steps[graph_.sources[to]].home == home) ++to;
    const std::vector<worker_id>& there = owner_.engine.workers_where.workers_at(node_id(home));
    for (std::size_t i = 0; i < there.size(); ++i) deal(from, to, i, there.size(), deques_[there[i].index()]);
    from = to;
  }
}

void array_run::run() {
  deal_sources();
  engine& e = owner_.engine;
  e.graph_runs.add(*this);
  if (graph_.sources.size() > 1 || by_home_) e.parked.wake_one(e.workers_where.everybody());  // N4
  for (bool listed = true;;) {
    const bool others_go_on = work(owner_);
    if (is_over() && std::exchange(listed, false)) e.graph_runs.remove(*this);
    if (!listed && inside_.load(acquire) == 0) return;  // pairs with help()
    int refusals = others_go_on ? 2 : 0;  // work_until() asks twice before it looks at the worker's other waits
    const auto is_over_or_has_work = [this, &refusals] {
      if (refusals > 0) {
        --refusals;
        return false;
      }
      return is_over() ? inside_.load(acquire) == 0 : has_work(owner_);
    };
    pending_wait w(is_over_or_has_work);
    w.name = "the run of a graph";
    w.scope = &scope_;
    w.unrefusable = true;
    owner_.work_until(w, nullptr);
  }
}

void array_run::help(worker& w) noexcept {
  if (has_sources()) w.engine.parked.wake_one(w.engine.workers_where.everybody());  // N4
  work(w);
  inside_.fetch_sub(1, release);  // N3: pairs with run(); run_half() wakes the owner
}

bool array_run::has_sources() const noexcept {
  return std::ranges::any_of(deques_, [](const node_deque& d) { return d.sources_at.load(relaxed) < d.sources_end; });
}

bool array_run::has_work(const worker& w) const noexcept {
  const node_deque& mine = deques_[w.id.index()];
  if (top_ != node_arrays::none || mine.taken_at != mine.taken_end) return true;
  for (const list& l : arrivals_) {
    if (l.head.load(relaxed) != node_arrays::none) return true;
  }
  return has_sources() || std::ranges::any_of(deques_, [](const node_deque& d) { return d.ready.size() > 0; });
}

/// True if other code of the worker may continue.
bool array_run::work(worker& w) {
  w.report();  // C1 of scope.hpp: the nodes may take long
  detail::scope* const outer_scope = std::exchange(w.task_scope, &scope_);
  detail::scope* const outer_children = std::exchange(w.children_scope, nullptr);
  const bool others_go_on = alone_ ? run_nodes<true>(w) : run_nodes<false>(w);
  w.task_scope = outer_scope;
  w.children_scope = outer_children;
  return others_go_on;
}

template <bool Alone>
bool array_run::run_nodes(worker& w) {
  const int most_failed_searches = searches_before_leaving(w.engine.options);
  node_deque& mine = deques_[w.id.index()];
  std::uint32_t ended = 0, skipped = 0, until_clock = nodes_between_clocks;
  std::uint64_t clock = Alone ? 0 : ticks();
  int failed_searches = 0;
  step* now = nullptr;
  while (true) {
    if (now == nullptr && (now = take_own<Alone>(w, mine)) == nullptr) {
      report(w, std::exchange(ended, 0), std::exchange(skipped, 0));
      if (Alone || is_over() || failed_searches == most_failed_searches) return false;
      now = steal(w, mine, failed_searches >= most_failed_searches / 2);
      if (now == nullptr) {
        if (w.ready_to_go_on() != nullptr) return true;
        ++failed_searches;
        for (int pauses = std::min(failed_searches, 32); pauses > 0; --pauses)
          pause();  // each look costs the others a miss
        continue;
      }
      failed_searches = 0;
      clock = ticks();
      until_clock = nodes_between_clocks;
    }
    execute(w, *now, skipped);
    now = end<Alone>(w, mine, *now);
    ++ended;
    if constexpr (!Alone) {
      if (--until_clock == 0) [[unlikely]] {
        const std::uint64_t then = std::exchange(clock, ticks());
        const bool is_short = clock - then < std::uint64_t{nodes_between_clocks} * w.engine.distance.short_task();
        if (is_short != mine.is_short.load(relaxed)) mine.is_short.store(is_short, relaxed);
        until_clock = nodes_between_clocks;
        w.engine.distance.publish(w.id);
      }
    }
    if (!w.suspended_.empty() && w.ready_to_go_on() != nullptr) [[unlikely]] {
      if (now != nullptr) offer<Alone>(w, mine, static_cast<node>(now - graph_.steps.data()));
      // No other worker could take these.
      while (mine.taken_at != mine.taken_end) push(mine, graph_.sources[mine.taken_at++]);
      report(w, ended, skipped);
      w.engine.parked.wake_one(w.engine.workers_where.everybody());  // N4: for the nodes that stay in this deque
      return true;
    }
  }
}

[[gnu::always_inline]] inline void array_run::execute(worker& w, const step& s, std::uint32_t& skipped) {
  if (scope_.is_cancelled()) [[unlikely]] {
    ++skipped;
    return;
  }
  try {
    s.code(s.closure, detail::action::run);
  } catch (...) {
    scope_.fail(std::current_exception());
    if (w.children_scope != nullptr) w.children_scope->cancel();
  }
  if (w.engine.inherited()) [[unlikely]]
    end_forked_process();
  if (w.children_scope != nullptr) [[unlikely]] {
    if (std::exception_ptr failure = w.end_children()) scope_.fail(std::move(failure));
  }
}

/// Counts the successors down. Returns one to run next.
template <bool Alone>
[[gnu::always_inline]] inline array_run::step* array_run::end(worker& w, node_deque& mine, const step& ended) {
  step* next = nullptr;
  for (std::uint32_t i = ended.first; i < ended.last; ++i) {
    const node s = graph_.successors[i];
    step& to = graph_.steps[s];
    if constexpr (Alone) {
      atomic<std::uint32_t>& left = graph_.join[s];
      const std::uint32_t before = left.load(relaxed);
      left.store(before == 1 ? to.predecessors : before - 1, relaxed);  // A1 of node_arrays.hpp
      if (before != 1) continue;
    } else {
      if (!count_down(graph_.join[s], to.predecessors)) continue;
    }
    if (next == nullptr && (!by_home_ || to.home == w.node.value)) {
      next = &to;
    } else {
      offer<Alone>(w, mine, s);
    }
  }
  return next;
}

template <bool Alone>
void array_run::offer(worker& w, node_deque& mine, node n) {
  if constexpr (Alone) {
    graph_.next[n].store(std::exchange(top_, n), relaxed);
  } else {
    if (by_home_ && graph_.steps[n].home != w.node.value) {
      put(arrivals_[graph_.steps[n].home], n);
      if (w.engine.parked.wake_one(w.engine.workers_where.serving(node_id(graph_.steps[n].home))))
        w.sums.add(event::wake);
    } else {
      push(mine, n);
      if (w.engine.parked.wake_one(w.engine.workers_where.everybody())) w.sums.add(event::wake);
    }
  }
}

void array_run::push(node_deque& mine, node n) noexcept {
  try {
    mine.ready.push(&graph_.steps[n]);
  } catch (const std::bad_alloc&) {
    put(arrivals_[by_home_ ? graph_.steps[n].home : 0], n);
  }
}

void array_run::put(list& in, node n) noexcept {
  node head = in.head.load(relaxed);
  do {
    graph_.next[n].store(head, relaxed);
  } while (!in.head.compare_exchange_weak(head, n, release, relaxed));  // pairs with take_all()
}

/// Takes all nodes of the list: keeps the newest, and puts the others into the worker's own deque.
array_run::step* array_run::take_all(list& from, node_deque& mine) noexcept {
  if (from.head.load(relaxed) == node_arrays::none) return nullptr;
  const node newest = from.head.exchange(node_arrays::none, acquire);  // pairs with put()
  if (newest == node_arrays::none) return nullptr;
  for (node n = graph_.next[newest].load(relaxed); n != node_arrays::none;) {
    const node after = graph_.next[n].load(relaxed);
    push(mine, n);
    n = after;
  }
  return &graph_.steps[newest];
}

template <bool Alone>
array_run::step* array_run::take_own(worker& w, node_deque& mine) noexcept {
  if constexpr (Alone) {
    if (top_ != node_arrays::none) {
      const node n = std::exchange(top_, graph_.next[top_].load(relaxed));
      return &graph_.steps[n];
    }
    if (mine.sources_at.load(relaxed) == mine.sources_end) return nullptr;
    const std::uint32_t at = mine.sources_at.load(relaxed);
    mine.sources_at.store(at + 1, relaxed);
    return &graph_.steps[graph_.sources[at]];
  } else {
    if (step* s = mine.ready.pop()) return s;
    if (mine.taken_at != mine.taken_end) return &graph_.steps[graph_.sources[mine.taken_at++]];
    if (step* s = take_all(arrivals_[by_home_ ? static_cast<std::size_t>(w.node.value) : 0], mine)) return s;
    return take_sources(mine, mine);
  }
}

/// Takes one source. If nodes are short, takes a few, and the worker runs the others next.
array_run::step* array_run::take_sources(node_deque& from, node_deque& mine) noexcept {
  const std::uint32_t seen = from.sources_at.load(relaxed), end = from.sources_end;
  if (seen >= end) return nullptr;
  const std::uint32_t count =
      mine.is_short.load(relaxed) ? std::clamp<std::uint32_t>((end - seen) / 8, 1, most_taken) : 1;
  const std::uint32_t at = from.sources_at.fetch_add(count, relaxed);
  if (at >= end) return nullptr;
  mine.taken_at = at + 1;
  mine.taken_end = std::min(at + count, end);
  return &graph_.steps[graph_.sources[at]];
}

/// Looks once at each other worker of this worker's memory node; with `anywhere`, also at those of other nodes.
array_run::step* array_run::steal(const worker& w, node_deque& mine, bool anywhere) noexcept {
  const std::size_t workers = w.engine.workers.size();
  const auto visit = [&](bool near) -> step* {
    for (std::size_t i = 1; i < workers; ++i) {
      const std::size_t v = (w.id.index() + i) % workers;
      if (by_home_ && (w.engine.workers[v].node == w.node) != near) continue;
      if (step* s = steal_from(deques_[v], mine)) return s;
      if (step* s = take_sources(deques_[v], mine)) return s;
    }
    return nullptr;
  };
  if (step* s = visit(true)) return s;
  if (!by_home_ || !anywhere) return nullptr;
  if (step* s = visit(false)) return s;
  for (list& l : arrivals_) {
    if (step* s = take_all(l, mine)) return s;
  }
  return nullptr;
}

/// Takes up to half of the victim's nodes. If these are short, the first look only gives their owner time to get ahead
/// (docs/decisions/short-tasks-are-not-stolen.md).
array_run::step* array_run::steal_from(node_deque& victim, node_deque& mine) noexcept {
  const std::int64_t there = victim.ready.size();
  if (there == 0) return nullptr;
  if (victim.is_short.load(relaxed) && !std::exchange(mine.waited, true)) {
    constexpr int spins = 64;
    for (int pauses = 0; pauses < spins; ++pauses) pause();
    return nullptr;
  }
  mine.waited = false;
  step* first = nullptr;
  if (victim.ready.steal(first) != steal_result::got) return nullptr;
  for (std::int64_t more = std::min<std::int64_t>(there / 2, most_taken) - 1; more > 0; --more) {
    step* s = nullptr;
    if (victim.ready.steal(s) != steal_result::got) break;
    push(mine, static_cast<node>(s - graph_.steps.data()));
  }
  return first;
}

/// Reports the ends of nodes (N2).
void array_run::report(worker& w, std::uint32_t ended, std::uint32_t skipped) noexcept {
  if (ended == 0) return;
  w.sums.add(event::task_created, ended);
  w.sums.add(event::task_executed, ended - skipped);
  w.sums.add(event::task_cancelled, skipped);
  if (alone_) {
    left_.store(left_.load(relaxed) - ended, relaxed);
  } else {
    left_.fetch_sub(ended, acq_rel);  // pairs with is_over(): the owner sees what all nodes wrote
  }
}

bool may_run_arrays(const worker& w, const node_arrays& graph, bool has_priorities) noexcept {
  const engine& e = w.engine;
  return !w.needs_tasks() && !e.options.dry && !has_priorities &&
         (e.workers_where.inhabited().size() == 1 || graph.homes_in == e.number);
}

void run_arrays(worker& w, node_arrays& graph, array_run::node_deques& kept) {
  if (graph.steps.empty()) return;
  w.tell_waiting();
  detail::scope& s = open_scope(w, w.task_scope);
  s.listed = false;
  array_run(graph, kept, w, s).run();
  std::exception_ptr failure = s.take_failure();
  give_scope(s);
  if (failure) std::rethrow_exception(std::move(failure));
}

void learn_homes(const worker& w, node_arrays& graph) {
  using arrays = node_arrays;
  for (arrays::node n = 0; n < graph.steps.size(); ++n) {
    std::uint16_t& home = graph.steps[n].home;
    if (graph.steps[n].closure != nullptr) {
      if (home == arrays::no_home) return;  // it was skipped
    } else {                                // a node that only orders others has no task, so no home
      home = static_cast<std::uint16_t>(w.engine.workers_where.inhabited().front().value);
    }
  }
  std::ranges::sort(graph.sources, {}, [&](arrays::node n) { return std::pair(graph.steps[n].home, n); });
  graph.homes_in = w.engine.number;
}

}  // namespace kith::native
