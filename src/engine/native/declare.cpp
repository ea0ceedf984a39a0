#include "engine/native/declare.hpp"

#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/order_plainly.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace kith::native {

namespace {

/// Makes internal tasks of a scope. Each ends after all tasks that `for_each` names.
class fence_maker {
 public:
  fence_maker(native_seat& self, detail::scope& s) noexcept : self_(self), scope_(s) {}

  template <class ForEach>
  [[gnu::noinline]] reference operator()(const ForEach& for_each) const {
    const slot_space& space = self_.slots.space();
    task& f = self_.slots.take();
    f.code = nullptr;
    f.flags = task::internal;
    f.accesses = 0;
    begin_in(scope_, f);
    scope_.count_created();
    edges::start_join(f);
    const reference me = edges::reference_to(space, f);
    edge_collector edges_of(f, me.packed(), self_.slots, scope_.blocks);
    std::exception_ptr failure;
    try {
      for_each([&](reference r) { edges_of.after(r); });
    } catch (...) {
      failure = std::current_exception();  // the fence then ends too early, but it does end
    }
    if (edges::open_join(f, edges_of.edges())) {  // no predecessor is left, so the fence ends at once
      edges::close(f);
      scope_.count_ended_here();
      edges::free_overflow(space, f, [&](task& b) { self_.slots.give_own(b); });
      self_.slots.give_own(f);
    }
    if (failure) std::rethrow_exception(std::move(failure));
    return me;
  }

 private:
  native_seat& self_;
  detail::scope& scope_;
};

/// Forgets ranges for which no later task has to wait. Called by the owner of the scope whose ranges they are.
void forget_ended(const slot_space& space, address_map& ranges) {
  ranges.forget_ended([&](const detail::tracker& k) {
    return edge_collector::are_all(k, [&](std::uint64_t t) {
      const reference r = reference::from({t});
      // acquire: pairs with close(); later tasks on the range must see what this one has written, without an edge.
      return t == 0 || edges::generation_of(space[r.index].head.load(acquire)) != r.generation;
    });
  });
}

/// The tracker of the access's region in the scope; makes it if there is none. Orders the task by the regions inside or
/// around that region.
[[gnu::noinline]] detail::tracker& find_tracker(const native_seat& self, detail::scope& s,
                                                const detail::access_record& a, std::uint16_t type,
                                                edge_collector& edges_of, const fence_maker& fence) {
  const bool checks = self.engine.options.check_handles;  // what a handle names, when it is first used
  if (detail::tracker* const known = checks ? used_before(s, s.serial, a) : known_tracker(s, s.serial, a))
    return *known;
  if (a.handle == nullptr || !belongs_to(s, *a.handle)) {
    detail::access_record raw = a;
    raw.handle = nullptr;
    // A recording has all ranges, and who reads it refuses those that cross others.
    if (s.by_address.is_about_to_grow() && self.engine.recording() == nullptr)
      forget_ended(self.engine.space, s.by_address);
    return s.by_address.find(raw, type, [&](nested_range& r) { edges_of.meet(s.by_address, r, a.how, fence); });
  }
  if (a.bytes == 0) return s.by_address.nowhere();
  if (checks) s.by_address.check_handle(a, type);
  return fresh_tracker(*a.handle, s.serial);
}

void write_access(std::byte* at, const detail::access_record& a, std::uint32_t region, std::uint64_t bytes) noexcept {
  const kept_access kept(region, bytes, a.how);
  std::memcpy(at, &kept, sizeof kept);
}

/// Blanks all accesses that are kept of the task.
void blank_accesses(task& t, std::size_t count) noexcept {
  std::byte* keep = t.access_bytes();
  for (std::size_t i = 0; i < count; ++i, keep += sizeof(kept_access)) {
    const kept_access none{};
    std::memcpy(keep, &none, sizeof none);
  }
}

/// If the task has named the region of `a` before, its first access there stands for this one as well.
[[gnu::cold]] bool count_as_first(task& t, std::span<const detail::access_record> records,
                                  const detail::access_record& a) noexcept {
  for (std::size_t i = 0; &records[i] != &a; ++i) {
    if (records[i].address != a.address) continue;
    std::byte* const at = t.access_bytes() + i * sizeof(kept_access);
    kept_access first;
    std::memcpy(&first, at, sizeof first);
    first = kept_access(first.region, std::max(first.bytes(), a.bytes), combined(first.how, a.how));
    std::memcpy(at, &first, sizeof first);
    return true;
  }
  return false;
}

/// Keeps of an access what the policy and the engine need, where they read all accesses.
void keep_access(native::engine& engine, task& t, std::byte* at, edge_collector& edges_of,
                 std::span<const detail::access_record> records, const detail::access_record& a, detail::tracker& k) {
  const bool exclusive = a.how == mode::commutative;
  const bool unknown = k.region == 0 || (engine.track_homes && a.bytes > engine.regions[k.region].bytes.load(relaxed));
  if ((engine.track_homes || exclusive) && unknown) k.region = engine.regions.find(a.address, a.bytes);
  if (exclusive && !engine.policy.has_gate()) t.flags |= task::exclusive;  // else the gate ensures the exclusion
  const bool again = edges_of.named_before(k) && count_as_first(t, records, a);
  write_access(at, a, k.region, again ? 0 : a.bytes);
}

/// Keeps an access only if the task must take a turn at its region, because nothing else reads the accesses.
void keep_turn(region_table& regions, task& t, std::size_t accesses, std::byte* at, const detail::access_record& a,
               detail::tracker& k) {
  if (k.region == 0) k.region = regions.find(a.address, a.bytes);
  if ((t.flags & task::exclusive) == 0) blank_accesses(t, accesses);
  t.flags |= task::exclusive;
  write_access(at, a, k.region, a.bytes);
}

/// Adds the edges of one access of any kind.
[[gnu::noinline]] void order_access(native_seat& self, detail::scope& s, task& t, edge_collector& edges_of,
                                    std::span<const detail::access_record> records, const detail::access_record& a) {
  native::engine& engine = self.engine;
  const fence_maker fence(self, s);
  detail::tracker& k = find_tracker(self, s, a, t.type, edges_of, fence);
  const auto kept_at = [&] {  // there may be no room for accesses that are not kept
    return t.access_bytes() + static_cast<std::size_t>(&a - records.data()) * sizeof(kept_access);
  };
  if (engine.keeps_accesses) {
    keep_access(engine, t, kept_at(), edges_of, records, a, k);
  } else if (a.how == mode::commutative) {
    keep_turn(engine.regions, t, records.size(), kept_at(), a, k);
  }
  edges_of.access(k, a.how, fence);
}

/// Counts the bytes that the task names, for the throttle on bytes. If too many are unfinished, the creator checks the
/// throttle before its next task.
void count_bytes(const native_seat& self, detail::scope& s, const task& t) {
  const std::uint64_t bound = self.engine.options.throttle_bytes;
  if (bound == 0) return;
  for (kept_access a : t.access_list()) s.bytes_created += a.bytes();
  if (s.unfinished_bytes() >= bound && self.worker_seat) s.throttle_at = 0;
}

/// The task is not to run.
void give_up(const native_seat& self, task& t, std::size_t accesses) noexcept {
  if (self.engine.keeps_accesses) blank_accesses(t, accesses);  // else nothing reads them, and there may be no room
  t.flags |= task::skip;
  t.flags &= static_cast<std::uint8_t>(~task::exclusive);
}

}  // namespace

std::size_t add_remaining_edges(native_seat& self, detail::scope& s, const new_task& n, std::exception_ptr& failure) {
  const detail::access_record* const end = n.end();
  ordered done = n.done;
  edge_collector edges_of(n.t, n.me, self.slots, s.blocks, done.edges);
  try {
    for (task_ref b : n.what.before) edges_of.after(reference::from(b));
    while (done.rest != end) {
      order_access(self, s, n.t, edges_of, n.what.accesses, *done.rest++);
      if (self.engine.keeps_accesses || self.engine.options.check_handles) continue;
      done = order_plainly(self, s, n.t, n.me, {done.rest, edges_of.edges()}, end);
      edges_of.count(done.edges);
    }
    count_bytes(self, s, n.t);
  } catch (...) {
    failure = std::current_exception();
    give_up(self, n.t, n.what.accesses.size());
  }
  return edges_of.edges();
}

}  // namespace kith::native
