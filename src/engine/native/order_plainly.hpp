// The straight path of a new task's accesses: those that need no more than a look at their region (create.cpp).
// add_remaining_edges() orders all others.
#pragma once

#include "base/atomic.hpp"
#include "engine/native/declare.hpp"
#include "engine/native/engine.hpp"
#include "task/dependences.hpp"

#include <kith/detail/access_maker.hpp>

#include <cstdint>
#include <span>

namespace kith::native {

/// The state of a handle that its scope has not used since the last wait. Called by that scope's owner.
inline detail::tracker& fresh_tracker(detail::handle_base& h, std::uint64_t serial) noexcept {
  detail::tracker& tracker = detail::internals::state(h);
  tracker.writer = tracker.member = tracker.second = 0;
  tracker.block = tracker.region = 0;
  std::atomic_ref(tracker.key).store(serial, relaxed);  // owners of other scopes compare it with their own
  return tracker;
}

/// Whether the handle belongs to this scope: the first that uses it keeps it, and from then on only that scope's owner
/// uses the state.
inline bool belongs_to(detail::scope& s, detail::handle_base& h) noexcept {
  const std::atomic_ref<const void*> handle_scope(detail::internals::scope(h));
  const void* scope = handle_scope.load(relaxed);
  return scope == &s || (scope == nullptr && handle_scope.compare_exchange_strong(scope, &s, relaxed));
}

/// The state of the access's region, if the scope (whose serial number is given) has used it since the last wait, and
/// finding it takes no more than a look; else null.
[[gnu::always_inline]] inline detail::tracker* used_before(detail::scope& s, std::uint64_t serial,
                                                           const detail::access_record& a) noexcept {
  if (a.handle == nullptr) return s.by_address.find_plain(a);
  detail::tracker& tracker = detail::internals::state(*a.handle);
  // Serial numbers are unique, so only this scope's owner can have written it there.
  return std::atomic_ref(tracker.key).load(relaxed) == serial ? &tracker : nullptr;
}

/// The same, also if the scope uses a handle for the first time.
[[gnu::always_inline]] inline detail::tracker* known_tracker(detail::scope& s, std::uint64_t serial,
                                                             const detail::access_record& a) noexcept {
  if (detail::tracker* const used = used_before(s, serial, a); used != nullptr) [[likely]]
    return used;
  if (a.handle == nullptr || a.bytes == 0 || !belongs_to(s, *a.handle)) return nullptr;
  return &fresh_tracker(*a.handle, serial);
}

/// Orders the accesses up to the first one that needs more than a look at its region. Throws nothing. REQUIRES:
/// accesses are not kept, and handles are not checked.
[[gnu::always_inline]] inline ordered order_plainly(native_seat& self, detail::scope& s, task& t, task_ref me,
                                                    ordered from, const detail::access_record* end) noexcept {
  const std::uint64_t serial = s.serial;
  edge_collector edges_of(t, me, self.slots, s.blocks, from.edges);
  const detail::access_record* a = from.rest;
  while (a != end) {
    detail::tracker* const k = known_tracker(s, serial, *a);
    if (k == nullptr) break;
    if (edges_of.access_plainly(*k, a->how)) {
      ++a;
    } else if (a->how != mode::in || !edges_of.can_retry_reading(*k)) {
      break;
    }
  }
  return {a, edges_of.edges()};
}

}  // namespace kith::native
