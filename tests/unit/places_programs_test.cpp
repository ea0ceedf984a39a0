// Every program on places: verified for many numbers of places and workers, and its verifier detects damage.
#include "apps/list.hpp"
#include "base/sanitizers.hpp"
#include "support/places.hpp"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

namespace {

using namespace kith::apps;

/// Sanitizers make the places' many threads wait for each other; there each program runs in fewer ways.
constexpr bool is_slow = KITH_ASAN != 0 || KITH_TSAN != 0;

class places_programs : public testing::TestWithParam<const places_entry*> {
 protected:
  std::unique_ptr<places_app> small(arguments::given values = {}) const {
    const entry& about = GetParam()->about;
    if (is_slow && values.empty()) values = {{"leaf", "1000"}};  // few tasks
    return GetParam()->make(arguments(about.name, about.parameters, values, preset::small));
  }
};

using kith::test::make_place_options;

TEST_P(places_programs, are_verified_on_few_and_many_places_again_and_again) {
  const std::unique_ptr<places_app> program = small();
  std::vector<std::pair<int, int>> shapes{{3, 2}};
  if (!is_slow) shapes.insert(shapes.end(), {{1, 1}, {1, 3}, {2, 1}, {8, 1}});
  for (const auto& [places, workers] : shapes) {
    kith::place_runtime on(make_place_options(places, workers));
    for (int again = 0; again < (is_slow ? 1 : 2); ++again) {
      const places_result r = run(*program, on);
      EXPECT_TRUE(r.check.verified) << places << " x " << workers << ": " << r.check.what;
      EXPECT_EQ(r.places.size(), static_cast<std::size_t>(places));
      for (const kith::place_statistics& p : r.places) EXPECT_GT(p.activities, 0u);
    }
    EXPECT_FALSE(program->figures().empty());
    EXPECT_GT(program->depth(), 2);
  }
}

TEST_P(places_programs, are_verified_as_one_group_and_with_blocked_spawners_or_credits) {
  const std::unique_ptr<places_app> program = small();
  kith::place_options one_group = make_place_options(4, 1), blocks = make_place_options(3, 2), credits = blocks;
  one_group.scheduling = kith::place_scheduling::cws;
  blocks.waiting = kith::place_waiting::blocks;
  blocks.fab_slots = 1;
  credits.admission = kith::place_admission::credits;
  for (const kith::place_options& o : {one_group, blocks, credits}) {
    kith::place_runtime on(o);
    const places_result r = run(*program, on);
    EXPECT_TRUE(r.check.verified) << r.check.what;
  }
}

TEST_P(places_programs, have_a_verifier_that_notices_damage) {
  const std::unique_ptr<places_app> program = small();
  kith::place_runtime on(make_place_options(3, 1));
  ASSERT_TRUE(run(*program, on).check.verified);
  program->damage(on);
  EXPECT_FALSE(program->verify(on).verified) << program->verify(on).what;
}

TEST_P(places_programs, have_few_tasks_or_many) {
  for (const char* leaf : {is_slow ? "256" : "1", "100000"}) {
    const std::unique_ptr<places_app> program = small({{"leaf", leaf}});
    kith::place_runtime on(make_place_options(2, 2));
    const places_result r = run(*program, on);
    EXPECT_TRUE(r.check.verified) << "leaf " << leaf << ": " << r.check.what;
  }
}

TEST_P(places_programs, run_dry_without_their_data) {
  kith::place_options o = make_place_options(3, 1);
  o.each.dry = true;
  const std::unique_ptr<places_app> program = small();
  {
    kith::place_runtime on(o);
    const places_result dry = run(*program, on);
    EXPECT_FALSE(dry.check.checked);
    for (const kith::place_statistics& p : dry.places) EXPECT_GT(p.tasks.total.tasks, 0u);
  }
  kith::place_runtime on(make_place_options(3, 1));
  EXPECT_TRUE(run(*program, on).check.verified) << "what a dry run has left behind is not used";
}

INSTANTIATE_TEST_SUITE_P(all, places_programs, testing::ValuesIn(places_app_list().begin(), places_app_list().end()),
                         [](const auto& p) { return std::string(p.param->about.name); });

}  // namespace
