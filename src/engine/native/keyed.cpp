// Nodes of keyed graphs: tasks that run twice, first to name what they wait for.
#include "engine/life/ready_again.hpp"
#include "engine/life/remote_count.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <kith/detail/node_scope.hpp>

namespace kith::native {

task* worker::end_phase(task& t, detail::outcome how) {
  detail::scope& s = *t.scope;
  std::vector<task*>& found = explored.found;
  count_begun(s, found.size());
  if (how == detail::outcome::generated) {
    task *next = nullptr, *one = nullptr;
    std::exception_ptr failure;  // of the policy: it gets all tasks, because the graph waits for them
    try {
      next = end(t);
    } catch (...) {
      failure = std::current_exception();
    }
    try {
      if (!found.empty())
        one = make_ready(found, life::reason_after_naming(next != nullptr, found.front()->exploring != 0));
    } catch (...) {
      failure = std::current_exception();
    }
    if (next == nullptr && !failure) return one;
    requeue(one);
    if (!failure) return next;
    requeue(next);
    std::rethrow_exception(failure);
  }
  t.exploring = 0;
  // After this, unless it is ready, the node may run and end on another worker.
  if (edges::open_join(t, explored.edges)) {
    edges::free_overflow(engine.space, t, [this](task& b) { give_slot(b); });
    found.push_back(&t);  // its second run replaces this one in the scope's count
  } else {
    ended_in(s, 0);
  }
  if (found.empty()) return nullptr;
  return make_ready(found, life::reason_after_exploration(found, t));
}

void worker::discard(task& t) {
  t.code(t.closure(), detail::action::discard);
  edges::close(t);
  edges::free_overflow(engine.space, t, [this](task& b) { give_slot(b); });
  free_room(t);
  give_slot(t);
}

}  // namespace kith::native

namespace kith::detail {

namespace {

native::worker& here() noexcept { return *native::worker::current(); }

native::worker& owner_of(scope& s) noexcept { return static_cast<native::worker&>(*s.seat); }

}  // namespace

node_scope::node_scope() {
  native::worker& w = native::worker::current_to_run("kith::explore()");
  scope_ = &native::open_scope(w, w.task_scope);
  scope_->listed = false;
  scope_->phased = true;
}

node_scope::~node_scope() { give_scope(*scope_); }

task_ref node_scope::reserve() {
  native::worker& w = here();
  task& t = w.slots.take();
  edges::start_join(t);
  return edges::reference_to(w.engine.space, t).packed();
}

void* node_scope::fill(const node_draft& d, std::size_t closure_bytes, std::size_t closure_align) {
  native::worker& w = here();
  native::engine& engine = w.engine;
  const std::uint64_t began = w.log != nullptr ? ticks() : 0;
  std::vector<kept_access> kept;
  for (const access_record& a : d.accesses) {
    if (a.how == mode::commutative)
      throw error("keyed graph: a commutative access; the order of nodes comes from their predecessors alone");
    kept.emplace_back(engine.regions.find(a.address, a.bytes), a.bytes, a.how);
  }
  task& t = engine.space[reference::from(d.task).index];
  native::fill(t, d.code, d.h, static_cast<std::uint32_t>(w.sums[event::task_created]));  // numbered by its creator
  void* const closure = make_room(t, {closure_bytes, closure_align, kept.size()});
  if (!kept.empty()) std::memcpy(t.access_bytes(), kept.data(), kept.size() * sizeof(kept_access));
  native::begin_in(*scope_, t);
  t.exploring = d.explores ? 1 : 0;
  t.colored = d.colored ? 1 : 0;
  t.flags |= task::phased;
  if (engine.policy.has_gate()) [[unlikely]] {
    // The worker that explores makes the first node before any other worker runs a node.
    if (scope_->identity == 0) scope_->identity = w.naming.next_graph();
    engine.identities.set(reference::from(d.task).index, identity::of_node(scope_->identity, d.key));
  }
  w.sums.add(event::task_created);
  if (w.log != nullptr) [[unlikely]] {
    const task* const finder = w.running;
    const bool by_node = finder != nullptr && finder->scope == scope_;
    const auto flags = static_cast<std::uint8_t>((d.explores ? log_keyed : log_generated) |
                                                 (!by_node                 ? 0
                                                  : finder->exploring != 0 ? log_discovered
                                                                           : log_generated));
    w.log->created({reference::from(d.task), w.running_ref(), scope_->serial, began, flags,
                    detail::declared(d.accesses, {}, d.h), d.key});
  }
  return closure;
}

void node_scope::run(std::span<const task_ref> wanted) {
  native::worker& w = owner_of(*scope_);
  w.tell_waiting(*scope_);
  std::vector<task*> first;
  for (task_ref r : wanted) first.push_back(&w.engine.space[reference::from(r).index]);
  w.count_begun(*scope_, first.size());
  task* now = nullptr;
  try {
    if (!first.empty()) now = w.make_ready(first, ready_reason::discovery);
  } catch (...) {
    fail(std::current_exception());  // the policy may have queued them
  }
  w.wait_for(scope_, "kith::explore()", now);
}

void node_scope::fail(std::exception_ptr why) noexcept { scope_->fail(std::move(why)); }
std::exception_ptr node_scope::take_failure() noexcept { return scope_->take_failure(); }

bool node_scope::lives(task_ref r) const noexcept {
  const task& t = owner_of(*scope_).engine.space[reference::from(r).index];
  return edges::generation_of(t.head.load(relaxed)) == reference::from(r).generation;
}

void node_scope::discard(task_ref r) noexcept {
  native::worker& w = owner_of(*scope_);
  w.discard(w.engine.space[reference::from(r).index]);
}

int node_scope::workers() const noexcept { return static_cast<int>(owner_of(*scope_).engine.workers.size()); }
bool node_scope::counts_remote() const noexcept { return owner_of(*scope_).engine.track_homes; }
bool node_scope::records() const noexcept { return owner_of(*scope_).log != nullptr; }
void node_scope::note_need(task_ref task, task_ref before) noexcept { here().log->needs(task.value, before.value); }
bool node_scope::dry() const noexcept { return owner_of(*scope_).engine.options.dry; }

node_phase::node_phase(std::size_t most) {
  native::worker::exploration& explored = here().explored;
  explored.found.clear();
  explored.found.reserve(most + 1);  // one more for the node itself
}

void node_phase::after(task_ref self, task_ref before) {
  native::worker& w = here();
  const reference me = reference::from(self);
  edges::add(w.engine.space[me.index], me.index, reference::from(before), edges_, w.slots);
  if (w.log != nullptr) [[unlikely]]
    w.log->needs(self.value, before.value);
}

void node_phase::found(task_ref made) noexcept {
  native::worker& w = here();
  w.explored.found.push_back(&w.engine.space[reference::from(made).index]);
}

void node_phase::end() noexcept { here().explored.edges = edges_; }

int worker_here() noexcept { return here().id.value; }

void count_colors(std::span<const std::int32_t> colors) noexcept {
  native::worker& w = here();
  const team& where = w.engine.workers_where;
  std::uint64_t remote = 0;
  for (std::int32_t c : colors) remote += life::node_of_color(where, c) != w.node;
  w.sums.add(event::remote_access, remote);
  w.sums.add(event::local_access, colors.size() - remote);
}

}  // namespace kith::detail
