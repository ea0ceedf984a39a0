// What kith demo says of times, by times made by hand.
#include "demo/conclusion.hpp"

#include <gmock/gmock.h>

#include <utility>

namespace {

using kith::tools::time_lesson;
using testing::HasSubstr;
using testing::Not;

kith::tools::trial of(std::vector<std::pair<std::string, std::vector<double>>> policies) {
  kith::tools::trial t;
  t.program = "heat";
  for (auto& [name, seconds] : policies) t.policies.push_back({name, {std::move(seconds)}, {}, {}, {}});
  return t;
}

TEST(demo_conclusion, policies_are_compared_in_pairs) {
  // The fastest is scattered over the times of all; the two others were apart in each round.
  const std::string said =
      time_lesson(of({{"steal", {459, 480, 500}}, {"dfifo", {529, 600, 784}}, {"dep", {440, 450, 560}}}));
  EXPECT_THAT(said, HasSubstr("heat: dep and steal cannot be told apart by time: their medians differ by 7 %"));
  EXPECT_THAT(said, HasSubstr("; dfifo takes 25 % longer than steal (medians; they stayed apart in all 3 rounds)"));
}

TEST(demo_conclusion, one_is_fastest) {
  EXPECT_EQ(time_lesson(of({{"steal", {100, 110, 120}}, {"dfifo", {150, 165, 170}}})),
            "heat: steal is fastest; dfifo takes 50 % longer (medians; it stayed apart in all 3 rounds).");
}

TEST(demo_conclusion, ranges_that_overlap_are_not_told_apart) {
  const std::string said = time_lesson(of({{"steal", {100, 110, 120}}, {"dfifo", {105, 115, 130}}}));
  EXPECT_THAT(said, HasSubstr("steal and dfifo cannot be told apart by time"));
  EXPECT_THAT(said, Not(HasSubstr("longer")));
}

}  // namespace
