#include <kith/captured_graph.hpp>
#include <kith/error.hpp>

#include "api/graph_in_use.hpp"
#include "engine/native/array_run.hpp"
#include "engine/native/capture.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace kith {

struct captured_graph::content {
  native::capture tasks{"captured_graph"};
  native::node_arrays arrays;
  native::array_run::node_deques deques;
  graph_in_use in_use{"captured_graph"};

  void run_as_tasks(native::worker& w);
};

namespace {

native::worker& worker_for(const char* who) {
  return native::worker::current_for(std::string("captured_graph::") + who);
}

/// The closure of the task of a node.
struct captured_node {
  native::node_arrays* graph;
  std::uint32_t self;
};

detail::outcome captured_code(void* closure, detail::action what) {
  const captured_node self = *static_cast<captured_node*>(closure);
  if (what == detail::action::discard) return detail::outcome::ended;
  native::node_arrays::step& s = self.graph->steps[self.self];
  if (what != detail::action::run) return s.code(s.closure, what);
  s.code(s.closure, what);
  s.home = static_cast<std::uint16_t>(native::worker::current()->node.value);
  return detail::outcome::ended;
}

/// The scope of a body that is captured, instead of the running task's own. Joins are calls meanwhile, because a half
/// on another worker would create its tasks elsewhere.
class capturing {
 public:
  capturing(native::worker& w, detail::creation_sink& into) : w_(w), scope_(native::open_scope(w, w.task_scope)) {
    scope_.sink = &into;
    scope_.throttle_at = 0;
    outer_ = std::exchange(w.children_scope, &scope_);
    lane_ = w.swap_lane(nullptr);
  }
  ~capturing() {
    w_.swap_lane(lane_);
    w_.children_scope = outer_;
    scope_.sink = nullptr;
    give_scope(scope_);
  }
  capturing(const capturing&) = delete;
  capturing& operator=(const capturing&) = delete;

 private:
  native::worker& w_;
  detail::scope& scope_;
  detail::scope* outer_;
  native::lane* lane_;
};

}  // namespace

captured_graph::captured_graph() = default;
captured_graph::~captured_graph() = default;
captured_graph::captured_graph(captured_graph&&) noexcept = default;
captured_graph& captured_graph::operator=(captured_graph&&) noexcept = default;

captured_graph::content& captured_graph::present() {
  if (!content_) content_ = std::make_unique<content>();
  return *content_;
}

std::size_t captured_graph::nodes() const noexcept { return content_ ? content_->tasks.nodes().size() : 0; }
std::size_t captured_graph::edges() const noexcept { return content_ ? content_->tasks.edges() : 0; }

void captured_graph::place_again() noexcept {
  if (content_) content_->arrays.homes_in = 0;
}

bool captured_graph::execute(const void* body, void (*calls)(void*), bool again) {
  const char* const who = again ? "repeat()" : "capture()";
  native::worker& w = again ? native::worker::current_to_run("captured_graph::repeat()") : worker_for(who);
  content& c = present();
  const graph_in_use::hold now(c.in_use, who);
  c.tasks.start(again);
  try {
    const capturing tasks(w, c.tasks);
    calls(const_cast<void*>(body));
  } catch (...) {
    c.tasks.clear();
    c.arrays.steps.clear();
    c.arrays.unlink();
    throw;
  }
  return c.tasks.finish(c.arrays);
}

void captured_graph::run() {
  native::worker& w = native::worker::current_to_run("captured_graph::run()");
  content& c = present();
  const graph_in_use::hold now(c.in_use, "run()");
  if (nodes() == 0) return;
  if (native::may_run_arrays(w, c.arrays, c.tasks.has_levels())) return native::run_arrays(w, c.arrays, c.deques);
  c.run_as_tasks(w);
  native::learn_homes(w, c.arrays);
}

/// Creates all nodes as tasks, with their accesses, and waits for them.
void captured_graph::content::run_as_tasks(native::worker& w) {
  detail::scope* s = &native::open_scope(w, w.task_scope);
  std::exception_ptr failure;
  try {
    std::vector<task_ref> made, before;
    made.reserve(tasks.nodes().size());
    for (std::uint32_t i = 0; i < tasks.nodes().size(); ++i) {
      before.clear();
      for (std::uint32_t b : tasks.needs_of(i)) before.push_back(made[b]);
      const detail::declared what(tasks.accesses_of(i), before, tasks.nodes()[i].h);
      const detail::draft d = detail::begin(*s, {sizeof(captured_node), alignof(captured_node), what.accesses.size()});
      ::new (d.closure) captured_node{&arrays, i};
      made.push_back(detail::submit(d, &captured_code, what));
    }
  } catch (...) {
    failure = std::current_exception();
    s->cancel();
  }
  if (s->unfinished() != 0) w.tell_waiting(*s);
  w.wait_for(s, "captured_graph::run()");
  if (std::exception_ptr of_task = s->take_failure(); !failure) failure = std::move(of_task);
  give_scope(*s);
  if (failure) std::rethrow_exception(std::move(failure));
}

}  // namespace kith
