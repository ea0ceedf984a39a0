// One explore(): finds the nodes of a keyed graph backwards, and computes them.
#pragma once

#include <kith/detail/cycles.hpp>
#include <kith/detail/graph_forms.hpp>
#include <kith/detail/key_table.hpp>
#include <kith/detail/node_scope.hpp>
#include <kith/detail/short_list.hpp>
#include <kith/detail/value_cell.hpp>
#include <kith/keyed_graph.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail {

/// The graph, the tasks of its keys, their values, and the counts.
template <class G>
class keyed_run {
 public:
  using key = typename G::key;
  using value = typename graph_forms<G>::value;  // void: there are none

  explicit keyed_run(G& graph) : graph_(graph), parts_(static_cast<std::size_t>(scope_.workers())) {}

  exploration explore(std::span<const key> wanted) {
    std::vector<task_ref> first;
    first.reserve(wanted.size());
    if constexpr (has_values) asked_.reserve(wanted.size());
    try {
      for (const key& k : wanted) {
        const auto [at, is_new, hash] = table_.find_or_add(k, [this] { return scope_.reserve(); });
        if (is_new) {
          first.push_back(at.second.task);
          make(at, hash);
        }
        if constexpr (has_values) ask_for(at);
      }
    } catch (...) {
      scope_.fail(std::current_exception());
    }
    run(first);
    if constexpr (says::finds_first) run_held();
    return result();
  }

  /// The values of the wanted nodes, in their order. Call it after explore().
  auto take_values() {
    std::vector<value> all;
    all.reserve(asked_.size());
    for (item* i : asked_) all.push_back(take_from(*i));
    return all;
  }
  /// The value of the only wanted node.
  value take_value() { return take_from(*asked_.front()); }

 private:
  using says = graph_forms<G>;
  using kept_value = typename says::kept_value;
  static constexpr bool has_values = says::has_values, has_color = says::has_color, generates = says::generates;

  using cell = value_cell<kept_value>;
  struct plain_entry {
    task_ref task;
  };
  struct valued_entry : cell {
    task_ref task;
  };
  using table = key_table<key, std::conditional_t<has_values, valued_entry, plain_entry>>;
  using item = typename table::item;

  /// The closure of a node's task: the first run explores, the second computes.
  struct node {
    keyed_run* run;
    item* self;
    /// The predecessors' values, or, if remote accesses are counted, their colors.
    std::conditional_t<has_values, short_list<cell*, 2>, short_list<std::int32_t, 4>> needed{};
    bool explored = false;
  };

  /// The counts of one worker.
  struct alignas(128) part {
    std::uint64_t ended = 0, edges = 0, most = 0;
    double work = 0;
    keys<key> scratch;
    std::vector<task_ref> held;  // nodes without predecessors, if all nodes are found first
  };
  part& mine() noexcept { return parts_[static_cast<std::size_t>(worker_here())]; }

  static outcome code(void* closure, action what) {
    node& n = *std::launder(static_cast<node*>(closure));
    keyed_run& run = *n.run;
    if (what == action::rehearse) {
      if constexpr (says::rehearses) {
        if (n.explored) {
          run.rehearse(n);
          return outcome::held;
        }
      }
      return outcome::unable;
    }
    if (what == action::fail) return outcome::unable;  // only explore() takes failures
    if (what == action::run && !n.explored) {
      n.explored = true;
      run.find_predecessors(n);
      return outcome::again;
    }
    if constexpr (says::finds_first) {
      if (what == action::run) {
        run.compute(n);
        return outcome::held;  // the values it reads must live until all its children have ended
      }
    }
    struct destroyer {
      node& n;
      ~destroyer() { n.~node(); }
    } at_end{n};
    ++run.mine().ended;
    if constexpr (says::finds_first) {
      if (n.self->second.value) run.end_reading(n);  // else the node did not compute
    }
    if (what != action::run) return outcome::ended;
    try {
      return run.compute(n);
    } catch (...) {  // caught here, because a closure that throws would be held
      run.scope_.fail(std::current_exception());
      return outcome::ended;
    }
  }

  /// Explores one node: finds or makes each predecessor, and adds an edge from those that have not ended.
  void find_predecessors(node& n) {
    keys<key> list = std::move(mine().scratch);
    list.clear();
    try {
      graph_.predecessors(n.self->first, list);
    } catch (...) {
      scope_.fail(std::current_exception());
      list.clear();
    }
    node_phase phase(list.size());
    try {
      if (has_values || (has_color && remote_)) n.needed.set_size(list.size());
      std::size_t at = 0;
      for (const key& k : list) {
        if (k == n.self->first) throw detail::cycle_of(std::vector<key>{k});
        if constexpr (has_color && !has_values) {
          if (remote_) n.needed.data()[at++] = static_cast<std::int32_t>(graph_.color(k));
        }
        item& before = name(k, phase);
        phase.after(n.self->second.task, before.second.task);
        if constexpr (has_values) {
          before.second.add_reader();
          n.needed.data()[at++] = &before.second;
        }
      }
      if constexpr (says::finds_first) {
        if (list.size() == 0) {
          mine().held.push_back(n.self->second.task);
          phase.hold();
        }
      }
    } catch (...) {
      scope_.fail(std::current_exception());
    }
    part& p = mine();
    p.edges += list.size();
    p.most = list.size() > p.most ? list.size() : p.most;
    p.scratch = std::move(list);
    phase.end();
  }

  /// Starts the held nodes: all nodes are known, and all others wait for these.
  void run_held() {
    std::vector<task_ref> all;
    try {
      for (const part& p : parts_) all.insert(all.end(), p.held.begin(), p.held.end());
    } catch (...) {
      scope_.fail(std::current_exception());
      all.clear();
    }
    run(all);
  }

  /// If the wait is refused, the failure goes to the scope, so that result() still cleans up.
  void run(std::span<const task_ref> first) {
    try {
      scope_.run(first);
    } catch (...) {
      scope_.fail(std::current_exception());
    }
  }

  outcome compute(node& n) {
    if constexpr (has_color) {
      if (remote_ && graph_.color(n.self->first) >= 0) count_accesses(n);
    }
    if constexpr (generates) {
      keys<key> further;
      compute_now(n, further);
      if (further.size() == 0) return outcome::ended;
      node_phase phase(further.size());
      try {
        for (const key& k : further) name(k, phase);
      } catch (...) {
        scope_.fail(std::current_exception());
      }
      phase.end();
      return outcome::generated;
    } else {
      if (!is_dry()) compute_now(n);
      return outcome::ended;
    }
  }

  /// Calls the graph's compute() and stores its value.
  template <class... Further>
  void compute_now(node& n, Further&... further) {
    if constexpr (has_values) {
      n.self->second.value.fill([&]() -> decltype(auto) { return value_from(n, !generates, further...); });
    } else {
      graph_.compute(n.self->first, further...);
    }
  }
  template <class... Further>
  decltype(auto) value_from(node& n, [[maybe_unused]] bool may_move, Further&... further) {
    if constexpr (says::takes_values) {
      return graph_.compute(n.self->first, values<value>(n.needed.data(), n.needed.all().size(), may_move), further...);
    } else {
      return graph_.compute(n.self->first);
    }
  }

  /// Computes, perhaps repeatedly. Leaves the predecessors' values as they are.
  void rehearse(node& n) {
    if constexpr (has_values) {
      cell& own = n.self->second;
      if (own.value) {
        value_from(n, false);
      } else {
        own.value.fill([&]() -> decltype(auto) { return value_from(n, false); });
      }
    } else {
      graph_.compute(n.self->first);
    }
  }

  /// Called when the node has ended: clears values that no other node will read.
  void end_reading(node& n) noexcept {
    for (cell* c : n.needed.all()) {
      if (c->end_reading()) c->value.clear();
    }
  }

  void count_accesses(node& n) noexcept {
    if constexpr (has_values) {
      for (const cell* c : n.needed.all()) detail::count_colors({&c->color, 1});
    } else {
      detail::count_colors(n.needed.all());
    }
  }

  bool is_dry() const noexcept { return says::has_cost && says::has_default && dry_; }

  /// The item of a key. Makes its task if it has none.
  item& name(const key& k, node_phase& phase) {
    const auto [at, is_new, hash] = table_.find_or_add(k, [this] { return scope_.reserve(); });
    if (is_new) {
      phase.found(at.second.task);
      make(at, hash);
    }
    return at;
  }

  /// Makes the task of a new item. If the graph throws, the scope fails; the task is still made, and skipped.
  void make(item& at, std::uint64_t hash) noexcept {
    node_draft d{.task = at.second.task, .key = hash, .code = &code, .h = {}, .accesses = {}, .colored = has_color};
    access_list list;
    try {
      const key& k = at.first;
      if constexpr (has_color) {
        const kith::color c{graph_.color(k)};
        detail::apply(d.h, c);
        if constexpr (has_values) at.second.color = c.value;
      }
      if constexpr (requires { graph_.node(k); }) detail::apply(d.h, kith::node{graph_.node(k)});
      if constexpr (requires { graph_.type(k); }) detail::apply(d.h, graph_.type(k));
      if constexpr (says::has_cost) {
        detail::apply(d.h, kith::work{graph_.cost(k)});
        mine().work += d.h.work;
      }
      if constexpr (requires { graph_.accesses(k, list); }) {
        if (remote_ || records_) graph_.accesses(k, list);
        d.accesses = list.records();
      }
      ::new (scope_.fill(d, sizeof(node), alignof(node))) node{this, &at};
    } catch (...) {
      scope_.fail(std::current_exception());
      d.accesses = {};
      ::new (scope_.fill(d, sizeof(node), alignof(node))) node{this, &at};  // fits the task: cannot fail
    }
  }

  exploration result() {
    exploration done{.nodes = table_.size()};
    std::uint64_t ended = 0;
    for (const part& p : parts_) {
      ended += p.ended;
      done.edges += p.edges;
      done.work += p.work;
      if (p.most > done.most_predecessors) done.most_predecessors = p.most;
    }
    std::exception_ptr failure = scope_.take_failure();
    if (ended != done.nodes) {
      if (!failure) failure = detail::find_cycle(graph_, table_, [this](task_ref t) { return scope_.lives(t); });
      table_.for_each([this](item& i) {
        if (scope_.lives(i.second.task)) scope_.discard(i.second.task);
      });
    }
    if (failure) std::rethrow_exception(std::move(failure));
    return done;
  }

  // ---- wanted nodes: explore() is one more reader of their values
  void ask_for(item& i) {
    const bool first = i.second.add_reader();
    if constexpr (!std::copy_constructible<kept_value>) {
      if (!first)
        throw error("kith::explore(): the node" + detail::key_text(i.first) +
                    " is wanted twice, and its value cannot be copied; ask for it once");
    }
    asked_.push_back(&i);
  }

  kept_value take_from(item& i) {
    cell& own = i.second;
    if (!own.value) {
      if constexpr (says::has_default) {
        if (is_dry()) return kept_value();
      }
      throw error("kith::explore(): the node" + detail::key_text(i.first) +
                      " has no value: the exploration was cancelled before it was computed",
                  error_kind::cancelled);
    }
    if constexpr (std::copy_constructible<kept_value>) {
      if (!own.end_reading()) return *own.value;
    }
    return std::move(*own.value);
  }

  G& graph_;
  node_scope scope_;
  table table_;
  std::vector<part> parts_;
  std::vector<item*> asked_;  // in the order of the wanted keys
  const bool remote_ = scope_.counts_remote();
  const bool records_ = scope_.records();
  const bool dry_ = scope_.dry();
};

}  // namespace kith::detail
