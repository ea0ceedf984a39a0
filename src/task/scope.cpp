#include "task/scope.hpp"

#include "base/fork.hpp"
#include "task/unreported_ends.hpp"

#include <utility>

namespace kith {

namespace {

/// Lists of scopes that nobody uses, linked by next_spare: giving one back cannot fail.
void put_into(detail::scope*& list, detail::scope& s) noexcept { s.next_spare = std::exchange(list, &s); }
/// REQUIRES: the list is not empty.
detail::scope& take_from(detail::scope*& list) noexcept {
  detail::scope& s = *list;
  list = s.next_spare;
  return s;
}

/// All scopes, for reuse. Never destroyed: late readers may hold pointers to them.
struct pool {
  std::mutex guard;
  std::vector<std::unique_ptr<detail::scope>> all;
  detail::scope* free = nullptr;
  std::uint64_t next_serial = 1;
};
pool& scopes() {
  static pool& p = []() -> pool& {
    pool& made = *new pool;
    keep_over_fork(made.guard);
    return made;
  }();
  return p;
}
[[maybe_unused]] const pool& scopes_before_main = scopes();  // base/fork.hpp says why

std::uint64_t fresh_serial(seat& at) {
  if (at.next_serial == at.last_serial) {
    constexpr std::uint64_t range = 1 << 16;
    pool& p = scopes();
    std::lock_guard lock(p.guard);
    at.next_serial = p.next_serial;
    at.last_serial = p.next_serial += range;
  }
  return at.next_serial++;
}

}  // namespace

seat::~seat() {
  pool& p = scopes();
  std::lock_guard lock(p.guard);
  while (spare_scopes != nullptr) {
    detail::scope& s = take_from(spare_scopes);
    s.by_address.forget_regions();  // they are numbers of this engine
    put_into(p.free, s);
  }
}

namespace detail {

void scope::fail(std::exception_ptr why) noexcept {
  {
    std::lock_guard lock(failing_);
    if (!failure_) failure_ = std::move(why);
  }
  failed.store(true, kith::release);  // pairs with the load in take_failure()
  if (!independent) cancel();
}

std::exception_ptr scope::take_failure() noexcept {
  if (!failed.load(acquire)) return nullptr;
  std::lock_guard lock(failing_);
  failed.store(false, relaxed);
  return std::exchange(failure_, nullptr);
}

void scope::emptied() {
  forget_names();
  cancelled_.clear();
  serial = fresh_serial(*seat);
}

void scope::forget_names() {
  by_address.next_epoch();
  children.clear();
  blocks.clear([&slots = seat->slots](slot_index b) { slots.give_own(slots.space()[b]); });
}

void scope::cancel() noexcept { cancelled_.set(cancellations); }

template <class Visit>
bool scope::any_around(const Visit& visit) const noexcept {
  const scope* s = this;
  for (const scope* next = s->parent.load(acquire); next != nullptr;) {
    const bool found = visit(*next);
    const scope* const further = next->parent.load(acquire);
    // C6. acquire: pairs with leave_in_place_of(). If `next` is no longer the parent, what was read may belong
    //     to another chain.
    if (s->parent.load(acquire) != next) {
      s = this;
      next = s->parent.load(acquire);
      continue;
    }
    if (found) return true;
    s = next;
    next = further;
  }
  return false;
}

bool scope::look_around() const noexcept {
  return cancelled_.look_around(
      cancellations, [this](const auto& visit) { any_around([&](const scope& s) { return visit(s.cancelled_); }); });
}

bool scope::is_within(const scope& around, int levels) const noexcept {
  if (this == &around) return true;
  bool found = false;
  any_around([&](const scope& s) {
    found = &s == &around;
    return found || --levels <= 0;
  });
  return found;
}

bool scope::is_below(reference task, int levels) const noexcept {
  const std::uint64_t wanted = task.packed().value;
  if (owner.load(relaxed) == wanted) return true;
  bool found = false;
  any_around([&](const scope& s) {
    found = s.owner.load(relaxed) == wanted;
    return found || --levels <= 0;
  });
  return found;
}

bool scope::any_owner(const std::function<bool(std::uint64_t)>& is) const {
  if (is(owner.load(relaxed))) return true;
  return any_around([&](const scope& s) { return is(s.owner.load(relaxed)); });
}

bool scope::leave_unfinished() noexcept {
  counts_here.store(nullptr, relaxed);  // only this thread counts there
  return unreported_ends::leave(not_ended_here(), ended_elsewhere);
}

bool scope::leave(task& t, bool closure_held) noexcept {
  held = closure_held;
  left_by.store(&t, relaxed);
  return leave_unfinished();
}

bool scope::abandon() noexcept { return leave_unfinished(); }

bool scope::leave_in_place_of(scope& before) noexcept {
  held = before.held;
  left_by.store(before.left_by.load(relaxed), relaxed);
  owner.store(before.owner.load(relaxed), relaxed);
  cancelled_.take_place_of(before.is_cancelled());
  parent.store(before.parent.load(relaxed), release);  // C6: before `before` is given back
  return leave_unfinished();
}

}  // namespace detail

detail::scope& take_scope(seat& from, detail::scope* parent) {
  if (from.spare_scopes == nullptr) {
    pool& p = scopes();
    std::lock_guard lock(p.guard);
    detail::scope& s = p.free != nullptr ? take_from(p.free) : *p.all.emplace_back(std::make_unique<detail::scope>());
    put_into(from.spare_scopes, s);
  }
  detail::scope& s = take_from(from.spare_scopes);
  s.seat = &from;
  s.counts_here.store(&from, relaxed);
  s.parent.store(parent, release);  // pairs with any_around(): a walker that reads it sees no older state
  s.serial = fresh_serial(from);
  return s;
}

void give_scope(detail::scope& s) {
  s.parent.store(nullptr, relaxed);
  s.take_failure();
  s.emptied();
  s.by_address.clear();
  s.created.store(0, relaxed);
  s.ended_here.store(0, relaxed);
  s.bytes_created = 0;
  s.ended_elsewhere.store(0, relaxed);
  s.bytes_ended.store(0, relaxed);
  s.waiting.store(0, relaxed);
  s.identity = 0;
  s.owner.store(0, relaxed);
  s.left_by.store(nullptr, relaxed);
  s.listed = s.leveled = s.of_parts = s.phased = s.independent = s.held = false;
  put_into(s.seat->spare_scopes, s);
}

void give_scope_to(seat& taker, detail::scope& s) {
  s.seat = &taker;
  give_scope(s);
}

}  // namespace kith
