#include "openmp/construct.hpp"

#include "openmp/ordered.hpp"
#include "openmp/reduction.hpp"
#include "openmp/wait.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace kith::openmp {

namespace {

/// A static loop of which members share nothing is no construct of the team: each computes its chunks by itself.
bool is_shared(const construct& c) noexcept {
  return c.loop.schedule != schedule_kind::static_ || c.loop.ordered || c.by_setting || c.counts != nullptr ||
         c.reductions != nullptr || c.memory != nullptr;
}

void complete(work_share& share, const construct& c, const team& in) {
  share.loop = c.loop;
  if (c.counts != nullptr) {
    share.crossing = std::make_unique<doacross>(c.loop, static_cast<std::uint64_t>(in.size), c.counts, c.loops);
  }
  if (c.memory != nullptr) {
    const auto bytes = reinterpret_cast<std::uintptr_t>(*c.memory);  // a number in place of a pointer
    share.memory.reset(std::calloc(bytes, 1));
    if (share.memory == nullptr && bytes != 0) throw std::bad_alloc();
  }
}

bool is_copied(const void* share) {
  return static_cast<const work_share*>(share)->copied.load(acquire);  // pairs with publish_copy()
}

bool has_reductions(const void* share) {
  return static_cast<const work_share*>(share)->reductions.load(acquire) != nullptr;  // pairs with the store
}

}  // namespace

void enter(const construct& c) {
  context& now = here();
  team& in = *now.team;
  share_position& p = member_of(now).shares;
  if (!is_shared(c)) return p.begin_loop(c.loop);
  const work_shares::entered at = in.shares.enter(p, [&](work_share& made) { complete(made, c, in); });
  p.begin_loop(at.share.loop);
  if (c.memory != nullptr) *c.memory = at.share.memory.get();
  if (c.reductions != nullptr) enter_reductions(in, at, c.reductions);
}

void enter_all(team& in, const construct& c) {
  for (member& m : in.members) {
    if (is_shared(c)) in.shares.enter(m.shares, [&](work_share& made) { complete(made, c, in); });
    m.shares.begin_loop(c.loop);
  }
}

const std::uintptr_t* enter_reductions(team& in, work_shares::entered at, std::uintptr_t* descriptor) {
  if (at.first) {
    begin_share_reductions(descriptor, nullptr);
    at.share.reductions.store(descriptor, release);  // pairs with has_reductions()
    in.blocked.wake();
    return descriptor;
  }
  if (!has_reductions(&at.share)) block_until(in, has_reductions, &at.share);
  const std::uintptr_t* const first = at.share.reductions.load(acquire);
  begin_share_reductions(descriptor, first);
  return first;
}

bool enter_single() {
  context& now = here();
  return now.team->size == 1 || now.team->shares.enter(member_of(now).shares).first;
}

void publish_copy(void* data) {
  context& now = here();
  work_share& share = *member_of(now).shares.at;
  share.copy = data;
  share.copied.store(true, release);  // pairs with is_copied()
  now.team->blocked.wake();
}

void* await_copy() {
  const work_share& share = *member_of(here()).shares.at;
  if (!is_copied(&share)) block_until(*here().team, is_copied, &share);
  return share.copy;
}

iteration_range next_chunk() {
  context& now = here();
  team& in = *now.team;
  member& m = member_of(now);
  share_position& p = m.shares;
  if (p.loop.ordered) pass_turn(in, p);
  const auto size = static_cast<std::uint64_t>(in.size);
  if (p.loop.schedule == schedule_kind::static_) {
    p.chunk = static_chunk(p.loop, size, static_cast<std::uint64_t>(m.number), p.trips);
    ++p.trips;
  } else {
    p.chunk = take_chunk(p.loop, size, p.at->taken);
  }
  return p.chunk;
}

}  // namespace kith::openmp
