// The order of events, compared with a linear search; and what counts as an event.
#include "engine/sim/events.hpp"
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"

#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace kith;
using sim::event_queue;
using sim::picoseconds;

struct waiting {
  picoseconds at = event_queue::never;
  std::uint64_t order = 0;
};

/// The first of all except `one`.
std::size_t first_of(const std::vector<waiting>& all, std::size_t one) {
  std::size_t found = all.size();
  for (std::size_t w = 0; w < all.size(); ++w) {
    if (w == one || all[w].at == event_queue::never) continue;
    const bool earlier = found == all.size() || all[w].at < all[found].at ||
                         (all[w].at == all[found].at && all[w].order < all[found].order);
    if (earlier) found = w;
  }
  return found;
}

TEST(EventQueue, EarliestFirstAndEqualsInTheirOrder) {
  for (const std::size_t workers : {1u, 2u, 3u, 64u, 80u, 129u}) {
    event_queue queue(workers);
    EXPECT_EQ(queue.first(), event_queue::never);
    std::vector<waiting> all(workers);
    rng draw(workers, purpose::test, 0);
    std::uint64_t order = 0;
    picoseconds now = 0;
    for (int i = 0; i < 5000; ++i) {
      const auto w = draw.below(static_cast<std::uint32_t>(workers));
      const bool stops = draw.below(8) == 0;
      const picoseconds at = stops ? event_queue::never : now + draw.below(4);  // equals are frequent
      queue.set(w, at);
      all[w] = {at, ++order};
      const std::size_t first = first_of(all, workers);
      if (first == workers) {
        EXPECT_EQ(queue.first(), event_queue::never);
        continue;
      }
      ASSERT_EQ(queue.first_worker(), first) << workers << " workers, step " << i;
      now = all[first].at;
      ASSERT_EQ(queue.first(), now);
      const std::size_t second = first_of(all, first);
      ASSERT_EQ(queue.first_but(static_cast<std::uint32_t>(first)),
                second == workers ? event_queue::never : all[second].at);
    }
  }
}

// One worker, and only tasks take time: an event is the end of a task.
TEST(EventQueue, AnEventIsAStepThatTakesTime) {
  test::script s;
  for (int t = 0; t < 10; ++t) s.task(1000, {});
  const sim::program p = sim::program_of(s.finish());
  sim::run_options set;
  set.workers = 1;
  set.fidelity = sim::fidelity::abstract;
  set.parts.scheduling = set.parts.contention = set.noise = false;
  const sim::result r = sim::simulate(p, model_by_name("bullion-s16-8"), set);
  EXPECT_GT(r.makespan, 0u);
  EXPECT_EQ(r.events, 10u);
  EXPECT_GT(r.steps, 3 * r.events);
}

}  // namespace
