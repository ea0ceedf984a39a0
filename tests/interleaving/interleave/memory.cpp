// Memory: what each operation does to store buffers, values and clocks.
#include "interleave/execution.hpp"

#include <cstring>

namespace kith::interleave {
namespace {

using what = event::what;

std::uint64_t read(place at) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at.address, at.size);
  return bits;
}

}  // namespace

std::uint64_t changed(change how, std::uint64_t old, std::uint64_t operand, unsigned size) {
  std::uint64_t now = operand;
  switch (how) {
    case change::exchange: break;
    case change::add: now = old + operand; break;
    case change::subtract: now = old - operand; break;
    case change::bit_and: now = old & operand; break;
    case change::bit_or: now = old | operand; break;
    case change::bit_xor: now = old ^ operand; break;
  }
  return size == 8 ? now : now & ((std::uint64_t{1} << (8 * size)) - 1);
}

void execution::write(int by, place at, std::uint64_t bits) {
  if (read(at) != bits) {
    ++changes_;
    ++of(by).own_changes;
  }
  std::memcpy(const_cast<void*>(at.address), &bits, at.size);
}

void execution::drain_one(int thread) {
  agent& a = of(thread);
  const pending p = a.buffer.front();
  a.buffer.pop_front();
  write(thread, p.at, p.bits);
  memory_[p.at.address].released = p.released;
  note({thread, what::drain, {}, p.at, 0, p.bits});
}

void execution::drain(int thread) {
  while (!of(thread).buffer.empty()) drain_one(thread);
}

/// Done first by a locked instruction or a fence.
void execution::own_fence() { drain(running_); }

const execution::pending* execution::forwarded(place at) noexcept {
  const auto& buffer = me().buffer;
  for (auto p = buffer.rbegin(); p != buffer.rend(); ++p) {
    if (p->at.address == at.address) return &*p;
  }
  return nullptr;
}

/// Fails if the atomic's creation does not happen before this use of it.
execution::memory& execution::memory_at(place p, const std::source_location& where) {
  memory& m = memory_[p.address];
  if (!me().clock.covers(m.creator, m.created)) {
    fail("data race: " + me().name + " uses an atomic at " + short_name(where) + " that " + of(m.creator).name +
         " created, and nothing orders the two: a release or an acquire is missing");
  }
  return m;
}

void execution::acquire_from(const vector_clock& released, std::memory_order order) {
  (acquires(order) ? me().clock : me().unfenced).join(released);
}

vector_clock execution::released_by(std::memory_order order) {
  if (!releases(order)) return me().fenced;
  const vector_clock now = me().clock;
  me().clock.tick(running_);
  return now;
}

std::uint64_t execution::load(place at, std::memory_order order, const std::source_location& where) {
  if (const pending* own = forwarded(at)) {  // others cannot tell when this happens: no point
    note({running_, what::forwarded_load, order, at, own->bits, 0, where});
    return own->bits;
  }
  point(where);
  order = orderings_.load(order, where);
  const std::uint64_t bits = read(at);
  acquire_from(memory_at(at, where).released, order);
  note({running_, what::load, order, at, bits, 0, where});
  return bits;
}

void execution::store(place at, std::uint64_t bits, std::memory_order order, const std::source_location& where) {
  order = orderings_.store(order, where);
  if (running_ != 0 && options_.store_buffers && order != std::memory_order_seq_cst) {
    memory_at(at, where);
    me().buffer.push_back({at, bits, released_by(order)});  // others cannot see it until it drains: no point
    note({running_, what::buffered_store, order, at, 0, bits, where});
    return;
  }
  if (!me().buffer.empty()) point(where);
  own_fence();
  point(where);
  write(running_, at, bits);
  memory_at(at, where).released = released_by(order);
  note({running_, what::store, order, at, 0, bits, where});
}

std::uint64_t execution::modify(place at, change how, std::uint64_t operand, std::memory_order order,
                                const std::source_location& where) {
  order = orderings_.modify(order, where);
  if (!me().buffer.empty()) point(where);
  own_fence();
  point(where);
  const std::uint64_t old = read(at);
  const std::uint64_t now = changed(how, old, operand, at.size);
  vector_clock& released = memory_at(at, where).released;
  acquire_from(released, order);
  released.join(released_by(order));  // a read-modify-write continues the release sequence
  write(running_, at, now);
  note({running_, what::modify, order, at, old, now, where});
  return old;
}

bool execution::compare_exchange(place at, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                                 std::memory_order failure, const std::source_location& where) {
  success = orderings_.modify(success, where);
  failure = orderings_.modify(failure, where);
  if (!me().buffer.empty()) point(where);
  own_fence();
  point(where);
  const std::uint64_t old = read(at);
  vector_clock& released = memory_at(at, where).released;
  if (old != expected) {
    acquire_from(released, failure);
    note({running_, what::compare_failed, failure, at, old, expected, where});
    expected = old;
    return false;
  }
  acquire_from(released, success);
  released.join(released_by(success));
  write(running_, at, desired);
  note({running_, what::modify, success, at, old, desired, where});
  return true;
}

void execution::full_fence(const std::source_location& where) {
  if (!orderings_.fence(where)) return;
  if (!me().buffer.empty()) point(where);
  own_fence();
  me().clock.join(me().unfenced);
  me().fenced = me().clock;
  me().clock.tick(running_);
  note({running_, what::full_fence, {}, {nullptr, 0, {}}, 0, 0, where});
}

/// Like membarrier: every thread's stores reach memory. It orders values, but gives happens-before only to
/// the caller, because the compiler fence on the other side has no meaning in the C++ model.
void execution::process_fence(const std::source_location& where) {
  if (!orderings_.fence(where)) return;
  point(where);
  for (int t = 0; t < static_cast<int>(threads_.size()); ++t) drain(t);
  me().clock.join(me().unfenced);
  me().fenced = me().clock;
  me().clock.tick(running_);
  note({running_, what::process_fence, {}, {nullptr, 0, {}}, 0, 0, where});
}

void execution::yield(const std::source_location& where) {
  if (running_ == 0) return;
  note({running_, what::yield, {}, {nullptr, 0, {}}, 0, 0, where});
  me().is = agent::state::yielded;
  rest(true, where);
  me().seen_changes = changes_by_others(me());
}

/// The kernel compares under the lock that wakers take, and both sides run a full fence (see futex(2), and
/// futex_hb_waiters_pending in the kernel's sources).
void execution::futex_wait(place at, std::uint64_t expected, const std::source_location& where) {
  if (!me().buffer.empty()) point(where);
  own_fence();
  point(where);
  const std::uint64_t bits = read(at);
  if (bits != expected) {
    note({running_, what::futex_returned, {}, at, bits, expected, where});
    return;
  }
  note({running_, what::futex_sleep, {}, at, bits, 0, where});
  if (running_ == 0) return fail("futex_wait outside a thread would never return");
  me().is = agent::state::asleep;
  me().sleeps_on = at.address;
  rest(false, where);
}

void execution::futex_wake(place at, int count, const std::source_location& where) {
  if (!me().buffer.empty()) point(where);
  own_fence();
  point(where);
  note({running_, what::futex_wake, {}, at, 0, 0, where});
  std::vector<int> waiters;
  for (int t = 1; t < static_cast<int>(threads_.size()); ++t) {
    if (of(t).is == agent::state::asleep && of(t).sleeps_on == at.address) waiters.push_back(t);
  }
  for (; count > 0 && !waiters.empty(); --count) {
    const auto chosen = waiters.begin() + static_cast<std::ptrdiff_t>(choices_.pick(waiters.size()));
    of(*chosen).is = agent::state::ready;
    note({*chosen, what::woken});
    waiters.erase(chosen);
  }
}

void execution::born(place at) {
  if (running_ == 0) {  // all threads know it
    memory_.erase(at.address);
  } else {
    memory_[at.address] = {{}, running_, me().clock[running_]};
  }
}

void execution::dies(place at) {
  for (int t = 0; t < static_cast<int>(threads_.size()); ++t) {
    std::deque<pending>& buffer = of(t).buffer;
    for (auto p = buffer.begin(); p != buffer.end();) {
      if (p->at.address != at.address) {
        ++p;
      } else if (t == running_) {
        p = buffer.erase(p);
      } else {
        return fail("an atomic is destroyed while a store of " + of(t).name + " to it is on its way");
      }
    }
  }
  memory_.erase(at.address);
}

}  // namespace kith::interleave
