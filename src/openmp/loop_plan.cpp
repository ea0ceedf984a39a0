#include "openmp/loop_plan.hpp"

#include <algorithm>
#include <limits>

namespace kith::openmp {

namespace {

/// `distance`: from the first value to the bound, in the loop's direction; not 0. `step`: its size, in that direction.
std::uint64_t iterations(std::uint64_t distance, std::uint64_t step) noexcept { return (distance - 1) / step + 1; }

iteration_range from_to_at_most(std::uint64_t begin, std::uint64_t length, std::uint64_t count) noexcept {
  return {begin, count - begin < length ? count : begin + length};
}

/// One block for each member; the first ones get one iteration more if it does not divide evenly.
iteration_range block_of(std::uint64_t count, std::uint64_t members, std::uint64_t member) noexcept {
  const std::uint64_t length = count / members, longer = count % members;
  const std::uint64_t begin = member * length + std::min(member, longer);
  return {begin, begin + length + (member < longer ? 1 : 0)};
}

}  // namespace

iteration_space signed_space(long first, long end, long step) noexcept {
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(end);
  const auto by = static_cast<std::uint64_t>(step);
  std::uint64_t count = 0;
  if (step > 0 && first < end) count = iterations(to - from, by);
  if (step < 0 && first > end) count = iterations(from - to, 0 - by);
  return {from, to, by, count};
}

iteration_space unsigned_space(bool up, std::uint64_t first, std::uint64_t end, std::uint64_t step) noexcept {
  std::uint64_t count = 0;
  if (up && first < end) count = iterations(end - first, step);
  if (!up && first > end) count = iterations(first - end, 0 - step);
  return {first, end, step, count};
}

loop_plan plan_loop(const iteration_space& space, schedule_kind schedule, std::uint64_t chunk, bool ordered) noexcept {
  loop_plan plan{space, schedule, ordered, chunk};
  if (schedule == schedule_kind::automatic) {
    plan.schedule = schedule_kind::static_;
    plan.chunk = 0;
  } else if (schedule != schedule_kind::static_) {
    plan.chunk = std::max<std::uint64_t>(chunk, 1);
  }
  // More than all is as good as all, and leaves room for sums.
  plan.chunk = std::min(plan.chunk, std::max<std::uint64_t>(space.count, 1));
  return plan;
}

iteration_range static_chunk(const loop_plan& plan, std::uint64_t members, std::uint64_t member,
                             std::uint64_t trip) noexcept {
  const std::uint64_t count = plan.space.count;
  if (count == 0) return {};
  if (plan.chunk == 0) return trip == 0 ? block_of(count, members, member) : iteration_range{};
  const std::uint64_t number = trip * members + member;
  if (number > (count - 1) / plan.chunk) return {};
  return from_to_at_most(number * plan.chunk, plan.chunk, count);
}

iteration_range take_chunk(const loop_plan& plan, std::uint64_t members, atomic<std::uint64_t>& taken) noexcept {
  const std::uint64_t count = plan.space.count;
  // Each member adds one chunk at most when none is left. A look before the addition would fetch the line twice.
  constexpr int most_members_bits = 16;
  if (plan.schedule == schedule_kind::dynamic &&
      plan.chunk <= (std::numeric_limits<std::uint64_t>::max() - count) >> most_members_bits) {
    const std::uint64_t begin = taken.fetch_add(plan.chunk, relaxed);
    return begin < count ? from_to_at_most(begin, plan.chunk, count) : iteration_range{};
  }
  std::uint64_t begin = taken.load(relaxed);
  while (begin < count) {
    std::uint64_t length = plan.chunk;
    if (plan.schedule == schedule_kind::guided) length = std::max(length, (count - begin - 1) / members + 1);
    const iteration_range mine = from_to_at_most(begin, length, count);
    if (taken.compare_exchange_weak(begin, mine.end, relaxed, relaxed)) return mine;
  }
  return {};
}

}  // namespace kith::openmp
