// Tasks that wait for arguments (kith/pending_tasks.hpp): the pending store of Token and Reference scheduling,
// section 2.
//
// A task takes its slot when it is scheduled. It begins to count in its scope (C4 in scope.hpp) when its last argument
// is delivered. So a wait for the scope ends although tasks still miss arguments, and fails with an error that names
// them. The code that delivers belongs to the scope or owns it, so the scope is not seen empty meanwhile.
//  P1  A delivery writes the argument before it counts down `missing`. Exactly one delivery sees it become zero, and
//      makes the task ready.
//  P2  A record is reused when its task's closure is destroyed; its generation changes before that, so that a delivery
//      to a task that has run is refused. It changes under the record's lock, under which deliveries check it and claim
//      their argument: until then another delivery of the same argument may end the task.
#include "base/atomic.hpp"
#include "base/demangled.hpp"
#include "base/spin_mutex.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/group.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"
#include "machine/limits.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"
#include "task/type_names.hpp"

#include <kith/pending_tasks.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

struct pending_record {
  explicit pending_record(pending_store& in) noexcept : store(in) {}

  pending_store& store;
  task* made = nullptr;  // null until it is scheduled
  spin_mutex lock;       // P2
  atomic<std::uint32_t> generation{1};
  atomic<std::uint32_t> missing{0};
  std::uint32_t count = 0, room = 0;
  const argument_types* types = nullptr;
  std::unique_ptr<argument[]> content;
  std::unique_ptr<atomic<std::int16_t>[]> from;       // the worker that delivered it; nobody: not delivered
  pending_record *before = nullptr, *next = nullptr;  // in the store's list of those that miss arguments

  static constexpr std::int16_t nobody = -1;
};

/// Records, and which of their tasks still miss arguments. Thread-safe.
class pending_store {
 public:
  pending_record& take() {
    const std::lock_guard lock(guard_);
    if (spare_.empty()) {
      if (spare_.capacity() <= all_.size()) spare_.reserve(2 * all_.size() + 8);  // so that give() never throws
      return all_.emplace_back(*this);
    }
    pending_record& r = *spare_.back();
    spare_.pop_back();
    return r;
  }
  void give(pending_record& r) noexcept {
    {
      const std::lock_guard lock(r.lock);  // P2
      r.generation.store(r.generation.load(relaxed) + 1, relaxed);
      r.made = nullptr;
    }
    const std::lock_guard lock(guard_);
    spare_.push_back(&r);
  }
  void add_waiting(pending_record& r) noexcept {
    const std::lock_guard lock(guard_);
    r.before = nullptr;
    r.next = std::exchange(waiting_, &r);
    if (r.next != nullptr) r.next->before = &r;
  }
  void remove_waiting(pending_record& r) noexcept {
    const std::lock_guard lock(guard_);
    (r.before != nullptr ? r.before->next : waiting_) = r.next;
    if (r.next != nullptr) r.next->before = r.before;
  }
  /// Called by the owner when no task of the scope runs.
  pending_record* waiting() const noexcept { return waiting_; }

  atomic<bool> was_cancelled{false};  // a task of the scope saw it cancelled, since the last wait

 private:
  std::mutex guard_;
  std::deque<pending_record> all_;
  std::vector<pending_record*> spare_;
  pending_record* waiting_ = nullptr;
};

namespace {

using native::worker;

static_assert(most_workers < 1 << 13, "kept_access::passer holds the worker's number");
constexpr std::size_t most_arguments = 65535;

std::string text_of(const std::type_info& type) { return demangled(type.name()); }

bool fits(const argument& a, argument_types expected) noexcept {
  return *a.type == *expected.exact || (expected.writable != nullptr && *a.type == *expected.writable);
}

std::string argument_text(std::size_t number, const task& t) {
  return "argument " + std::to_string(number) + " of '" + task_type_name(t.type) + "'";
}

/// Keeps what policies and the engine read of the references that the task uses.
void keep_used(native::engine& engine, pending_record& r) {
  task& t = *r.made;
  std::vector<kept_access> kept;
  std::unordered_map<const void*, std::size_t> named;  // the first in `kept`, which stands for all
  for (std::uint32_t i = 0; i < r.count; ++i) {
    const argument& a = r.content[i];
    if (a.what != argument::kind::used || a.uses.bytes == 0) continue;
    const bool exclusive = a.uses.how == mode::commutative && !engine.policy.has_gate();
    if (!engine.keeps_accesses && !exclusive) continue;
    const std::uint32_t region =
        engine.track_homes || exclusive ? engine.regions.find(a.uses.address, a.uses.bytes) : 0;
    const auto [at, fresh] = named.try_emplace(a.uses.address, kept.size());
    if (!fresh) {
      kept_access& first = kept[at->second];
      first = kept_access(first.region, std::max(first.bytes(), a.uses.bytes), combined(first.how, a.uses.how),
                          first.passed_by());
    }
    if (exclusive) t.flags |= task::exclusive;
    kept.emplace_back(region, fresh ? a.uses.bytes : 0, a.uses.how, r.from[i].load(relaxed));
  }
  if ((t.flags & task::extended) != 0) {
    t.extension()->accesses = static_cast<std::uint32_t>(kept.size());
  } else {
    t.accesses = kept.size() & 15;
  }
  if (!kept.empty()) std::memcpy(t.access_bytes(), kept.data(), kept.size() * sizeof(kept_access));
}

/// Starts a task whose arguments have all been delivered.
void start(worker& w, pending_record& r) {
  native::engine& engine = w.engine;
  task& t = *r.made;
  scope& s = *t.scope;
  try {
    keep_used(engine, r);
  } catch (...) {  // no memory for a region: the task ends without having run
    t.flags |= task::skip;
    s.fail(std::current_exception());
  }
  if (engine.options.throttle_bytes != 0) {
    for (kept_access a : t.access_list()) s.bytes_ended.fetch_sub(a.bytes(), relaxed);
  }
  native::start_member(w, t);
}

[[noreturn]] void refuse(const std::string& what) { throw error("pending_task::deliver(): " + what); }

}  // namespace

const argument& checked_argument(std::span<const argument> all, std::size_t number, argument_types expected) {
  if (number >= all.size())
    throw error("arguments: there is no argument " + std::to_string(number) + "; the task has " +
                std::to_string(all.size()));
  const argument& a = all[number];
  if (!fits(a, expected))
    throw error("arguments: argument " + std::to_string(number) + " is " + text_of(*a.type) + ", asked for as " +
                text_of(*expected.exact));
  return a;
}

record_holder take_record(pending_store& store, const argument_types* types, std::size_t arguments) {
  if (arguments > most_arguments)
    throw error("pending_tasks::schedule(): " + std::to_string(arguments) + " arguments; expected up to " +
                std::to_string(most_arguments));
  record_holder held(&store.take());
  pending_record& r = *held.get();
  const auto count = static_cast<std::uint32_t>(arguments);
  if (r.room < count) {
    r.room = 0;
    r.content = std::make_unique<argument[]>(count);
    r.from = std::make_unique<atomic<std::int16_t>[]>(count);
    r.room = count;
  }
  for (std::uint32_t i = 0; i < count; ++i) r.from[i].store(pending_record::nobody, relaxed);
  r.count = count;
  r.types = types;
  r.missing.store(count, relaxed);
  return held;
}

void record_holder::give_record(pending_record* r) noexcept {
  if (r->made != nullptr && r->made->scope->is_cancelled()) r->store.was_cancelled.store(true, relaxed);
  r->store.give(*r);
}

std::span<const argument> arguments_of(const pending_record& r) noexcept { return {r.content.get(), r.count}; }

std::uint32_t hold(const filled_group& g, draft d, task_code code, const declared& what, pending_record& r) {
  worker& w = *worker::current();
  task& t = *static_cast<task*>(d.task);
  const std::uint32_t generation = r.generation.load(relaxed);
  // Not skipped in a dry run: other tasks wait for what its body delivers.
  const reference me = native::fill_member(w, t, code, what.h);
  if ((t.flags & task::extended) != 0) t.extension()->accesses = 0;
  native::note_created(w, g.tasks(), me, what, w.creating_since);
  r.made = &t;
  if (r.count == 0) {
    start(w, r);
  } else {
    r.store.add_waiting(r);
  }
  return generation;
}

namespace {

/// Claims the delivery of an argument that was not delivered before. REQUIRES: the record's lock is held.
task& claim_argument(pending_record& r, std::uint32_t generation, std::size_t number, const argument& what) {
  if (r.generation.load(relaxed) != generation) refuse("the task has ended, or was dropped by a wait");
  task& t = *r.made;
  filled_group in(*t.scope, "pending_task::deliver()");
  in.admit(0, 0);
  if (number >= r.count)
    refuse("'" + task_type_name(t.type) + "' has no argument " + std::to_string(number) + "; expected one below " +
           std::to_string(r.count));
  if (r.types != nullptr && !fits(what, r.types[number]))
    refuse(argument_text(number, t) + " is " + text_of(*what.type) + ", and its function takes " +
           text_of(*r.types[number].exact));
  if (r.from[number].load(relaxed) != pending_record::nobody)
    refuse(argument_text(number, t) + " was delivered before");
  r.from[number].store(static_cast<std::int16_t>(worker::current()->id.value), relaxed);
  return t;
}

}  // namespace

void deliver(pending_record* record, std::uint32_t generation, std::size_t number, const argument& what) {
  if (record == nullptr)
    refuse("this pending_task names no task; expected one that pending_tasks::schedule() returned");
  pending_record& r = *record;
  const task* claimed = nullptr;
  {
    const std::lock_guard lock(r.lock);  // P2
    claimed = &claim_argument(r, generation, number, what);
  }
  const task& t = *claimed;  // it misses this argument, so it does not start
  worker& w = *worker::current();
  r.content[number] = what;
  if (w.log != nullptr) [[unlikely]]
    w.log->delivered(edges::reference_to(w.engine.space, t).packed().value, number, what, w.running_ref(),
                     native::runs_owner_of(*t.scope));
  if (r.missing.fetch_sub(1, acq_rel) != 1) return;  // P1
  r.store.remove_waiting(r);
  start(w, r);
}

}  // namespace kith::detail

namespace kith {

namespace {

/// The tasks that miss arguments, for an error.
std::string missing_text(const detail::pending_record* first) {
  constexpr int most_named = 3;
  std::string text;
  std::uint64_t tasks = 0;
  for (const detail::pending_record* r = first; r != nullptr; r = r->next, ++tasks) {
    if (tasks >= most_named) continue;
    std::uint32_t number = 0;
    while (r->from[number].load(relaxed) != detail::pending_record::nobody) ++number;
    text += (tasks == 0 ? " " : ", ") + detail::argument_text(number, *r->made);
  }
  return "pending_tasks::wait(): " + std::to_string(tasks) + (tasks == 1 ? " task misses" : " tasks miss") +
         " arguments that no task is left to deliver:" + text + (tasks > most_named ? ", ..." : "") +
         "; expected a pending_task::deliver() for each";
}

/// Destroys the tasks that miss arguments. Called by the owner when no task of the scope runs.
void drop_waiting(native::worker& w, detail::pending_store& store) {
  while (detail::pending_record* const r = store.waiting()) {
    store.remove_waiting(*r);
    task& t = *r->made;
    if (w.log != nullptr) [[unlikely]] {
      const std::uint64_t now = ticks();
      w.log->executed(edges::reference_to(w.engine.space, t).packed().value, now, now, log_cancelled);
    }
    w.sums.add(event::task_cancelled);
    w.discard(t);
  }
}

}  // namespace

pending_tasks::pending_tasks() : store_(std::make_unique<detail::pending_store>()) {}

pending_tasks::~pending_tasks() {
  if (native::engine_of(*tasks_.scope_).inherited()) return;
  const bool left_by_exception = std::uncaught_exceptions() > tasks_.unwinding_;
  if (left_by_exception) cancel();
  if (!native::runs_owner_of(*tasks_.scope_)) return;  // the group says what is wrong, and ends the program
  try {
    wait();
  } catch (...) {
    if (!left_by_exception) native::worker::current()->children().fail(std::current_exception());
  }
}

void pending_tasks::wait() {
  std::exception_ptr failure;
  try {
    tasks_.wait();
  } catch (...) {
    failure = std::current_exception();
  }
  if (!native::runs_owner_of(*tasks_.scope_)) std::rethrow_exception(failure);  // it did not wait
  const bool cancelled = store_->was_cancelled.exchange(false, relaxed);
  native::worker& w = *native::worker::current();
  if (!failure && !cancelled && !kith::cancelled() && store_->waiting() != nullptr)
    failure = std::make_exception_ptr(error(missing_text(store_->waiting())));
  drop_waiting(w, *store_);
  if (failure) std::rethrow_exception(failure);
}

void pending_tasks::cancel() noexcept {
  store_->was_cancelled.store(true, relaxed);
  tasks_.cancel();
}

}  // namespace kith
