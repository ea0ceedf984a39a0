// Iterations that wait for others: who finds one posted sees what it has done.
#include "openmp/posted_iterations.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using openmp::posted_iterations;

struct nest_state {
  posted_iterations nest{{{0, 1, 1}, {3, 1, -1}}};  // two times three iterations
  std::array<il::shared<int>, 2> done;
};

/// Two members post an iteration each, whose bits are in one word, and look at the other's.
void two_members(il::program& p) {
  auto s = std::make_shared<nest_state>();
  for (std::size_t me = 0; me < 2; ++me) {
    p.thread(
        [s, me] {
          const std::int64_t at[] = {static_cast<std::int64_t>(me), 2}, others[] = {1 - at[0], 2};
          s->done[me].write(1);
          s->nest.post(*s->nest.find(at));
          if (s->nest.is_posted(*s->nest.find(others))) il::check(s->done[1 - me].read() == 1, "the iteration is done");
        },
        "member");
  }
  p.after([s] {
    for (const std::int64_t i : {0, 1}) {
      const std::int64_t at[] = {i, 2}, beside[] = {i, 3};
      il::check(s->nest.is_posted(*s->nest.find(at)), "an iteration that was posted stays so");
      il::check(!s->nest.is_posted(*s->nest.find(beside)), "no other iteration is posted");
    }
  });
}

TEST(PostedIterationsInterleaved, AreSeenWithWhatTheyHaveDone) { il::expect_passes(3, two_members); }

TEST(PostedIterationsInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {two_members}, "openmp/posted_iterations.cpp");
}

TEST(PostedIterationsInterleaved, HaveNumbersInsideOfTheNestOnly) {
  const posted_iterations nest({{0, 1, 1}, {3, 1, -1}});
  const std::int64_t first[] = {0, 3}, last[] = {1, 1}, before[] = {0, 4}, behind[] = {0, 0}, past[] = {2, 2};
  EXPECT_EQ(nest.find(first), 0u);
  EXPECT_EQ(nest.find(last), 5u);
  for (const std::int64_t* outside : {before, behind, past}) EXPECT_FALSE(nest.find(outside));
}

}  // namespace
}  // namespace kith
