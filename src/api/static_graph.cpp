#include <kith/detail/cycles.hpp>
#include <kith/detail/node_scope.hpp>
#include <kith/static_graph.hpp>
#include <kith/task.hpp>

#include "api/graph_in_use.hpp"
#include "engine/native/array_run.hpp"
#include "engine/native/engine.hpp"

#include <algorithm>
#include <exception>
#include <memory_resource>
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

  // ---- derived from these
  native::node_arrays arrays;  // not linked after a change
  bool has_priorities = false;

  // ---- of the current run
  native::array_run::node_deques deques;
  graph_in_use in_use{"static_graph"};
  detail::node_scope* scope = nullptr;

  // ---- of a run that is recorded
  std::vector<std::vector<node>> needed;  // each node's predecessors
  std::vector<task_ref> made;             // each node's task, written before its successors can be made

  content() = default;
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  ~content() {
    for (const body& b : bodies) b.f.code(b.f.object, detail::action::discard);
  }
  void link();
  void check_cycles() const;
  void run_as_tasks();
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

void static_graph::content::link() {
  arrays.steps.clear();
  has_priorities = false;
  for (const body& b : bodies) {
    arrays.steps.push_back({b.f.code, b.f.object});
    has_priorities = has_priorities || b.h.priority != 0;
  }
  arrays.link(edges);
}

/// Removes nodes whose predecessors are removed (Kahn's algorithm); finds a cycle by walking backwards among the rest.
void static_graph::content::check_cycles() const {
  std::vector<std::uint32_t> left;
  for (const native::node_arrays::step& s : arrays.steps) left.push_back(s.predecessors);
  std::vector<node> gone = arrays.sources;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    for (std::uint32_t s = arrays.steps[gone[i]].first; s < arrays.steps[gone[i]].last; ++s) {
      if (--left[arrays.successors[s]] == 0) gone.push_back(arrays.successors[s]);
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
    f.code(f.object, detail::action::run);
    native::node_arrays::step& mine = graph.arrays.steps[self.self];
    mine.home = static_cast<std::uint16_t>(native::worker::current()->node.value);
    if (mine.first == mine.last) return detail::outcome::ended;
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
  const native::node_arrays::step& ended = arrays.steps[n];
  detail::node_phase phase(ended.last - ended.first);
  try {
    for (std::uint32_t s = ended.first; s < ended.last; ++s) {
      const node after = arrays.successors[s];
      if (native::count_down(arrays.join[after], arrays.steps[after].predecessors)) phase.found(make(after));
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
  content_->arrays.unlink();
  return static_cast<node>(content_->bodies.size() - 1);
}

void static_graph::edge(node before, node after) {
  content& c = present("edge()");
  for (node n : {before, after}) {
    if (n >= nodes()) {
      throw error("static_graph::edge(): there is no node " + std::to_string(n) + ", only " + std::to_string(nodes()) +
                  " so far; expected numbers that add() returned");
    }
  }
  c.edges.emplace_back(before, after);
  c.arrays.unlink();
}

void static_graph::run() {
  content& c = present("run()");
  native::worker& w = native::worker::current_to_run("static_graph::run()");
  const graph_in_use::hold now(c.in_use, "run()");
  if (!c.arrays.linked()) {
    c.link();
    try {
      c.check_cycles();
    } catch (...) {
      c.arrays.unlink();
      throw;
    }
  }
  if (native::may_run_arrays(w, c.arrays, c.has_priorities)) return native::run_arrays(w, c.arrays, c.deques);
  c.run_as_tasks();
  native::learn_homes(w, c.arrays);
}

void static_graph::content::run_as_tasks() {
  content& c = *this;
  detail::node_scope tasks;
  c.scope = &tasks;
  const struct joins {
    content& c;
    ~joins() { c.arrays.reset_joins(); }  // skipped nodes have counted down no successor
  } at_end{c};
  c.made.clear();
  if (tasks.records()) {
    c.made.resize(c.bodies.size());
    c.needed.assign(c.bodies.size(), {});
    for (const auto& [b, after] : c.edges) c.needed[after].push_back(b);
  }
  std::vector<task_ref> ready;
  ready.reserve(c.arrays.sources.size());
  try {
    for (node n : c.arrays.sources) ready.push_back(c.make(n));
  } catch (...) {
    tasks.fail(std::current_exception());
  }
  tasks.run(ready);
  if (std::exception_ptr failure = tasks.take_failure()) std::rethrow_exception(std::move(failure));
}

}  // namespace kith
