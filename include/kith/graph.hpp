// Keyed graphs: nodes are known by keys and found on demand, from the ones that are wanted backwards.
#pragma once

#include <kith/task.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

/// Collects the keys that a graph names.
template <class Key>
class keys {
 public:
  void add(Key k) { list_.push_back(std::move(k)); }
  std::size_t size() const noexcept { return list_.size(); }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }
  void clear() noexcept { list_.clear(); }

 private:
  std::vector<Key> list_;
};

namespace detail {
template <class G, class Key>
concept computes = requires(G& g, const Key& k, keys<Key>& further) { g.compute(k, further); } ||
                   requires(G& g, const Key& k) { g.compute(k); };
template <class Key>
concept hashable = std::equality_comparable<Key> && requires(const Key& k) { std::hash<Key>()(k); };
}  // namespace detail

/// What a graph says. `key` is any type with == and std::hash. Required:
///  - `predecessors(const key&, keys<key>&)` names the nodes whose results a node needs;
///  - `compute(const key&)` does a node's work; with a second parameter `keys<key>&` it may name further nodes, which
///    are then found and computed as well (a node that is known already is not computed again).
/// Optional:
///  - `int color(const key&)`: the worker that the node's data belongs to (policy `nabbitc`); negative: it uses no data,
///    and is left out of the count of remote accesses;
///  - `int node(const key&)`: the memory node it should run on (policy `socket`);
///  - `void accesses(const key&, access_list&)`: what it reads and writes, for policies that look at homes and for the
///    count of remote accesses. Orders nothing: predecessors do. Not commutative;
///  - `double cost(const key&)`: its work, in nanoseconds of computing. Kept in recordings; in a dry one
///    (runtime_options::dry) it takes the place of compute(), unless that names further nodes;
///  - `const task_type& type(const key&)`: its kind.
/// All of them are called by many workers at once. Only compute() may wait for anything. predecessors() is called once
/// for each node, and again where a cycle is to be reported.
template <class G>
concept keyed_graph = requires(G& g, const typename G::key& k, keys<typename G::key>& list) {
  requires detail::hashable<typename G::key>;
  requires detail::computes<G, typename G::key>;
  g.predecessors(k, list);
};

/// What explore() did.
struct exploration {
  std::uint64_t nodes = 0;              // that were found
  std::uint64_t edges = 0;              // predecessors named, by all nodes
  std::uint64_t most_predecessors = 0;  // of one node
  double work = 0;                      // the sum of cost(key), nanoseconds; 0 where the graph does not say
};

/// Thrown by explore() for nodes that wait for each other: each key needs the next one, the last one needs the first.
template <class Key>
class cycle : public error {
 public:
  cycle(const std::string& what, std::vector<Key> circle) : error(what), keys(std::move(circle)) {}
  std::vector<Key> keys;
};

namespace detail {

/// Everything of one node but its closure.
struct node_draft {
  task_ref task;
  std::uint64_t key;  // its hash: the same in every run
  task_code code;
  hints h;
  std::span<const access_record> accesses;
  bool explores = true;  // runs twice, and says first what it waits for
  bool colored = false;  // remote accesses are counted by colors (count_colors), not by accesses
};

/// The scope of one exploration: its nodes are tasks that run twice. Made, waited for and destroyed by one task;
/// everything else by any worker that runs one of its nodes.
class node_scope {
 public:
  node_scope();
  ~node_scope();
  node_scope(const node_scope&) = delete;
  node_scope& operator=(const node_scope&) = delete;

  /// A name for a node that is about to be made; others may wait for it from now on.
  task_ref reserve();
  /// Makes it; returns the place of its closure, which the caller constructs. Then it can be handed over.
  /// Throws std::bad_alloc, if `accesses` or the closure need more room than the task has, and kith::error for
  /// commutative accesses.
  void* fill(const node_draft&, std::size_t closure_bytes, std::size_t closure_align);
  /// Starts with these nodes, and waits until nothing of the scope can go on.
  void run(std::span<const task_ref> wanted);
  void fail(std::exception_ptr why) noexcept;
  std::exception_ptr take_failure() noexcept;
  /// Whether the task has not ended. After run().
  bool lives(task_ref) const noexcept;
  /// Takes back a task that will never run. After run().
  void discard(task_ref) noexcept;
  int workers() const noexcept;
  /// Whether homes, and so remote accesses, are counted.
  bool counts_remote() const noexcept;
  bool records() const noexcept;
  /// In the recording: `task` starts after `before`. By the worker that makes the task.
  void note_need(task_ref task, task_ref before) noexcept;
  bool dry() const noexcept;

 private:
  scope* scope_;
};

/// What a node does while it explores, or generates, collected for the engine. One at a time on a worker.
class node_phase {
 public:
  /// `most`: how many nodes may be found.
  explicit node_phase(std::size_t most);
  /// `self` (the running node) starts after `before` has ended.
  void after(task_ref self, task_ref before);
  void found(task_ref made) noexcept;
  /// The engine takes over. Exactly once, and last.
  void end() noexcept;

 private:
  std::uint32_t edges_ = 0;
};

template <class Key>
cycle<Key> cycle_of(std::vector<Key> circle) {
  constexpr std::size_t shown = 20;
  std::ostringstream text;
  text << "graph: a cycle of " << circle.size() << (circle.size() == 1 ? " node" : " nodes");
  if constexpr (requires { text << circle.front(); }) {
    text << ", each needs the next: ";
    for (std::size_t i = 0; i < circle.size() && i < shown; ++i) text << circle[i] << " -> ";
    if (circle.size() > shown) text << "... -> ";
    text << circle.front();
  }
  return {text.str(), std::move(circle)};
}

/// The worker that calls, 0 to workers-1.
int worker_here() noexcept;
/// Counts the accesses of the running node to the results of nodes of these colors.
void count_colors(std::span<const std::int32_t>) noexcept;

/// Which task each key has. In shards, each with a lock and a map of its own, so that none grows while all wait.
template <class Key>
class key_table {
 public:
  struct entry {
    task_ref task;
  };
  using item = std::pair<const Key, entry>;

  /// The key's item, and whether it is new: then reserve() has named its task.
  template <class Reserve>
  std::pair<item*, bool> find_or_add(const Key& k, Reserve&& reserve) {
    shard& s = shard_of(k);
    std::lock_guard lock(s.guard);
    const auto [at, is_new] = s.map.try_emplace(k);
    if (is_new) {
      try {
        at->second.task = reserve();
      } catch (...) {
        s.map.erase(at);
        throw;
      }
    }
    return {&*at, is_new};
  }
  /// By one thread, when no other uses the table: null if there is none.
  item* find(const Key& k) {
    shard& s = shard_of(k);
    const auto at = s.map.find(k);
    return at == s.map.end() ? nullptr : &*at;
  }
  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const shard& s : shards_) sum += s.map.size();
    return sum;
  }
  template <class F>
  void for_each(F&& f) {
    for (shard& s : shards_) {
      for (item& i : s.map) f(i);
    }
  }

 private:
  static constexpr std::size_t shards = 64;
  struct alignas(128) shard {
    std::mutex guard;
    std::pmr::monotonic_buffer_resource memory;  // nothing is taken out of the map before all of it is
    std::pmr::unordered_map<Key, entry> map{&memory};
  };
  shard& shard_of(const Key& k) noexcept {
    // The map uses the hash's low digits: the shard takes others.
    return shards_[(static_cast<std::uint64_t>(std::hash<Key>()(k)) * 0x9e3779b97f4a7c15u) >> 58];
  }
  std::array<shard, shards> shards_;
};

/// The colors of a node's predecessors; a few need no memory of their own.
class color_list {
 public:
  color_list() = default;
  color_list(const color_list&) = delete;
  color_list& operator=(const color_list&) = delete;
  ~color_list() {
    if (count_ > few) delete[] many_;
  }
  void reserve(std::size_t n) {
    if (n > few) many_ = new std::int32_t[n];
    count_ = static_cast<std::uint32_t>(n);
  }
  std::int32_t* data() noexcept { return count_ > few ? many_ : few_; }
  std::span<const std::int32_t> all() noexcept { return {data(), count_}; }

 private:
  static constexpr std::uint32_t few = 4;
  union {
    std::int32_t few_[few];
    std::int32_t* many_;
  };
  std::uint32_t count_ = 0;
};

/// One explore(): the graph, the tasks of its keys, and what is counted.
template <class G>
class keyed_run {
 public:
  using key = typename G::key;
  using item = typename key_table<key>::item;

  explicit keyed_run(G& graph) : graph_(graph), parts_(static_cast<std::size_t>(scope_.workers())) {}

  exploration explore(std::span<const key> wanted) {
    std::vector<task_ref> first;
    first.reserve(wanted.size());
    try {
      for (const key& k : wanted) {
        const auto [at, is_new] = table_.find_or_add(k, [this] { return scope_.reserve(); });
        if (!is_new) continue;
        first.push_back(at->second.task);
        make(*at);
      }
    } catch (...) {
      scope_.fail(std::current_exception());
    }
    scope_.run(first);

    exploration done{.nodes = table_.size()};
    std::uint64_t ended = 0;
    for (const part& p : parts_) {
      ended += p.ended;
      done.edges += p.edges;
      done.work += p.work;
      done.most_predecessors = std::max(done.most_predecessors, p.most);
    }
    std::exception_ptr failure = scope_.take_failure();
    if (ended != done.nodes) {
      if (!failure) failure = find_cycle();
      table_.for_each([this](item& i) {
        if (scope_.lives(i.second.task)) scope_.discard(i.second.task);
      });
    }
    if (failure) std::rethrow_exception(std::move(failure));
    return done;
  }

 private:
  static constexpr bool has_color = requires(G& g, const key& k) { g.color(k); };
  static constexpr bool has_cost = requires(G& g, const key& k) { g.cost(k); };
  static constexpr bool generates = requires(G& g, const key& k, keys<key>& further) { g.compute(k, further); };

  /// The closure of a node's task: the first run explores, the second computes.
  struct node {
    keyed_run* run;
    const item* self;
    color_list colors{};  // of the predecessors, where remote accesses are counted
    bool explored = false;
  };

  /// What one worker counted.
  struct alignas(128) part {
    std::uint64_t ended = 0, edges = 0, most = 0;
    double work = 0;
    keys<key> scratch;
  };
  part& mine() noexcept { return parts_[static_cast<std::size_t>(worker_here())]; }

  static outcome code(void* closure, action what) {
    node& n = *std::launder(static_cast<node*>(closure));
    keyed_run& run = *n.run;
    if (what == action::rehearse) {
      if constexpr (!generates) {
        if (n.explored) {
          run.graph_.compute(n.self->first);
          return outcome::held;
        }
      }
      return outcome::unable;
    }
    if (what == action::run && !n.explored) {
      n.explored = true;
      run.find_predecessors(n);
      return outcome::again;
    }
    struct destroyer {
      node& n;
      ~destroyer() { n.~node(); }
    } at_end{n};
    ++run.mine().ended;
    if (what != action::run) return outcome::ended;
    try {
      return run.compute(n);
    } catch (...) {  // here: a closure that throws would be held
      run.scope_.fail(std::current_exception());
      return outcome::ended;
    }
  }

  /// Exploration of one node: each predecessor is found or made, and waited for if it has not ended.
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
      if (has_color && remote_) n.colors.reserve(list.size());
      std::size_t at = 0;
      for (const key& k : list) {
        if (k == n.self->first) throw cycle_of(std::vector<key>{k});
        if constexpr (has_color) {
          if (remote_) n.colors.data()[at++] = static_cast<std::int32_t>(graph_.color(k));
        }
        const task_ref before = name(k, phase);
        phase.after(n.self->second.task, before);
      }
    } catch (...) {
      scope_.fail(std::current_exception());
    }
    part& p = mine();
    p.edges += list.size();
    p.most = std::max<std::uint64_t>(p.most, list.size());
    p.scratch = std::move(list);
    phase.end();
  }

  outcome compute(node& n) {
    if constexpr (has_color) {
      if (remote_ && graph_.color(n.self->first) >= 0) count_colors(n.colors.all());
    }
    if constexpr (generates) {
      keys<key> further;
      graph_.compute(n.self->first, further);
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
      if (!has_cost || !dry_) graph_.compute(n.self->first);
      return outcome::ended;
    }
  }

  /// The task of a key, made if there was none.
  task_ref name(const key& k, node_phase& phase) {
    const auto [at, is_new] = table_.find_or_add(k, [this] { return scope_.reserve(); });
    if (is_new) {
      phase.found(at->second.task);
      make(*at);
    }
    return at->second.task;
  }

  /// Makes the task of a new item. A failure of the graph is the scope's; the task is made all the same, and skipped.
  void make(item& at) noexcept {
    node_draft d{.task = at.second.task,
                 .key = static_cast<std::uint64_t>(std::hash<key>()(at.first)),
                 .code = &code,
                 .h = {},
                 .accesses = {},
                 .colored = has_color};
    access_list list;
    try {
      const key& k = at.first;
      if constexpr (has_color) apply(d.h, kith::color{graph_.color(k)});
      if constexpr (requires { graph_.node(k); }) apply(d.h, kith::node{graph_.node(k)});
      if constexpr (requires { graph_.type(k); }) apply(d.h, graph_.type(k));
      if constexpr (has_cost) {
        apply(d.h, kith::work{graph_.cost(k)});
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

  /// After run(): nodes are left that wait for each other.
  std::exception_ptr find_cycle() {
    try {
      const item* at = nullptr;
      table_.for_each([&](item& i) {
        if (at == nullptr && scope_.lives(i.second.task)) at = &i;
      });
      std::unordered_map<const item*, std::size_t> seen;
      std::vector<key> path;
      while (at != nullptr && seen.try_emplace(at, path.size()).second) {
        path.push_back(at->first);
        keys<key> list;
        graph_.predecessors(at->first, list);
        at = nullptr;
        for (const key& k : list) {
          const item* const before = table_.find(k);
          if (before != nullptr && scope_.lives(before->second.task)) at = before;
        }
      }
      if (at == nullptr)
        throw error("keyed graph: nodes are left that wait for nothing; predecessors() has changed its mind");
      path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen[at]));
      throw cycle_of(std::move(path));
    } catch (...) {
      return std::current_exception();
    }
  }

  G& graph_;
  node_scope scope_;
  key_table<key> table_;
  std::vector<part> parts_;
  const bool remote_ = scope_.counts_remote();
  const bool records_ = scope_.records();
  const bool dry_ = scope_.dry();
};

}  // namespace detail

/// Finds and computes everything that the `wanted` nodes need, and them; each node once, after all its predecessors.
/// Waits. Inside a task or `runtime::run`; colors may be of any worker. Throws the first exception of the graph's
/// functions (nodes that have not started are then skipped), and cycle<key> if nodes wait for each other.
///
/// A node is a task that is queued twice: to find its predecessors, then, when they have ended, to compute. It lives
/// from when it is found until it has computed (128 bytes); its key is kept until the end. NabbitC paper, sections II
/// and III (dynamic task graphs); which nodes become known or ready together is told to the policy as a group.
template <keyed_graph G>
exploration explore(G& graph, std::span<const typename G::key> wanted) {
  return detail::keyed_run<G>(graph).explore(wanted);
}
template <keyed_graph G>
exploration explore(G& graph, const typename G::key& wanted) {
  return explore(graph, std::span<const typename G::key>(&wanted, 1));
}

}  // namespace kith
