#include <kith/detail/cycles.hpp>
#include <kith/detail/node_scope.hpp>
#include <kith/static_graph.hpp>
#include <kith/task.hpp>

#include "base/atomic.hpp"

#include <algorithm>
#include <exception>
#include <memory_resource>
#include <numeric>
#include <string>
#include <vector>

namespace kith {

struct static_graph::content {
  struct body {
    function f;
    detail::hints h;
  };
  std::pmr::monotonic_buffer_resource functions;  // stored together, in the order of the nodes
  std::vector<body> bodies;
  std::vector<std::pair<node, node>> edges;

  // ---- derived from these; empty after a change
  std::vector<std::uint32_t> first;  // where each node's successors begin, and the end
  std::vector<node> successors;
  std::vector<std::uint32_t> predecessors;  // the number for each node
  std::vector<node> sources;

  // ---- of the current run
  std::unique_ptr<atomic<std::uint32_t>[]> join;  // predecessors that have not ended
  atomic<bool> running{false};
  detail::node_scope* scope = nullptr;

  // ---- of a run that is recorded
  std::vector<std::vector<node>> needed;  // each node's predecessors
  std::vector<task_ref> made;             // each node's task, written before its successors can be made

  content() = default;
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  ~content() {
    for (const body& b : bodies) b.f.destroy(b.f.object);
  }
  void sort_edges();
  void check_cycles() const;
  task_ref make(node n);
  void release_successors(node n);
};

namespace {

/// The closure of a node's task.
struct node_closure {
  static_graph::node self;
  void* graph;
};

}  // namespace

void static_graph::content::sort_edges() {
  const std::size_t n = bodies.size();
  first.assign(n + 1, 0);
  predecessors.assign(n, 0);
  for (const auto& [before, after] : edges) {
    ++first[before + 1];
    ++predecessors[after];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  successors.resize(edges.size());
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
  for (const auto& [before, after] : edges) successors[at[before]++] = after;
  sources.clear();
  for (node i = 0; i < n; ++i) {
    if (predecessors[i] == 0) sources.push_back(i);
  }
  join = std::make_unique<atomic<std::uint32_t>[]>(n);
}

/// Removes nodes whose predecessors are removed (Kahn's algorithm); finds a cycle by walking backwards among the rest.
void static_graph::content::check_cycles() const {
  std::vector<std::uint32_t> left = predecessors;
  std::vector<node> gone = sources;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    for (std::uint32_t s = first[gone[i]]; s < first[gone[i] + 1]; ++s) {
      if (--left[successors[s]] == 0) gone.push_back(successors[s]);
    }
  }
  if (gone.size() == bodies.size()) return;
  std::vector<node> needs(bodies.size());  // for each node that is left, a predecessor that is left
  for (const auto& [before, after] : edges) {
    if (left[before] != 0) needs[after] = before;
  }
  node at = static_cast<node>(std::ranges::find_if(left, [](std::uint32_t l) { return l != 0; }) - left.begin());
  std::vector<node> path;
  while (std::ranges::find(path, at) == path.end()) {
    path.push_back(at);
    at = needs[at];
  }
  path.erase(path.begin(), std::ranges::find(path, at));
  throw detail::cycle_of(std::move(path));
}

task_ref static_graph::content::make(node n) {
  const auto code = [](void* closure, detail::action what) {
    const node_closure self = *static_cast<node_closure*>(closure);
    if (what == detail::action::discard) return detail::outcome::ended;
    if (what == detail::action::rehearse) return detail::outcome::unable;
    content& graph = *static_cast<content*>(self.graph);
    const function& f = graph.bodies[self.self].f;
    f.call(f.object);
    if (graph.first[self.self] == graph.first[self.self + 1]) return detail::outcome::ended;
    kith::wait();  // the node must not end before the tasks that it created
    graph.release_successors(self.self);
    return detail::outcome::generated;
  };
  const task_ref task = scope->reserve();
  const detail::node_draft d{.task = task, .key = n, .code = code, .h = bodies[n].h, .accesses = {}, .explores = false};
  ::new (scope->fill(d, sizeof(node_closure), alignof(node_closure))) node_closure{n, this};
  if (!made.empty()) {
    made[n] = task;
    for (node b : needed[n]) scope->note_need(task, made[b]);
  }
  return task;
}

void static_graph::content::release_successors(node n) {
  detail::node_phase phase(first[n + 1] - first[n]);
  try {
    for (std::uint32_t s = first[n]; s < first[n + 1]; ++s) {
      atomic<std::uint32_t>& left = join[successors[s]];
      // If 1 is left, it is ours. acquire and acq_rel pair with the fetch_sub of the other predecessors: the
      // node sees what they wrote.
      if (left.load(acquire) == 1 || left.fetch_sub(1, acq_rel) == 1) phase.found(make(successors[s]));
    }
  } catch (...) {
    scope->fail(std::current_exception());
  }
  phase.end();
}

static_graph::static_graph() : content_(std::make_unique<content>()) {}
static_graph::~static_graph() = default;
static_graph::static_graph(static_graph&&) noexcept = default;
static_graph& static_graph::operator=(static_graph&&) noexcept = default;

std::size_t static_graph::nodes() const noexcept { return content_ ? content_->bodies.size() : 0; }
std::size_t static_graph::edges() const noexcept { return content_ ? content_->edges.size() : 0; }

static_graph::content& static_graph::present(const char* who) const {
  if (!content_) {
    throw error(std::string("static_graph::") + who +
                ": the graph was moved to another; use that one, or assign a graph to this one first");
  }
  return *content_;
}

void* static_graph::room_for_node(std::size_t bytes, std::size_t align) {
  content& c = present("add()");
  if (c.bodies.size() == c.bodies.capacity()) c.bodies.reserve(std::max<std::size_t>(16, 2 * c.bodies.size()));
  return c.functions.allocate(bytes, align);
}

static_graph::node static_graph::add_node(const function& f, const detail::hints& h) noexcept {
  content_->bodies.push_back({f, h});
  content_->first.clear();
  return static_cast<node>(content_->bodies.size() - 1);
}

void static_graph::edge(node before, node after) {
  content& c = present("edge()");
  for (node n : {before, after}) {
    if (n >= nodes()) {
      throw error("static_graph::edge(): there is no node " + std::to_string(n) + ", only " + std::to_string(nodes()) +
                  " so far");
    }
  }
  c.edges.emplace_back(before, after);
  c.first.clear();
}

void static_graph::run() {
  content& c = present("run()");
  detail::node_scope scope;
  if (c.running.exchange(true, acquire)) throw error("static_graph::run(): the graph is running");
  struct ending {
    content& c;
    ~ending() { c.running.store(false, release); }
  } at_end{c};
  if (c.first.empty()) {
    c.sort_edges();
    try {
      c.check_cycles();
    } catch (...) {
      c.first.clear();
      throw;
    }
  }
  for (std::size_t i = 0; i < c.bodies.size(); ++i) c.join[i].store(c.predecessors[i], relaxed);
  c.scope = &scope;
  c.made.clear();
  if (scope.records()) {
    c.made.resize(c.bodies.size());
    c.needed.assign(c.bodies.size(), {});
    for (const auto& [b, after] : c.edges) c.needed[after].push_back(b);
  }
  std::vector<task_ref> ready;
  ready.reserve(c.sources.size());
  try {
    for (node n : c.sources) ready.push_back(c.make(n));
  } catch (...) {
    scope.fail(std::current_exception());
  }
  scope.run(ready);
  if (std::exception_ptr failure = scope.take_failure()) std::rethrow_exception(std::move(failure));
}

}  // namespace kith
