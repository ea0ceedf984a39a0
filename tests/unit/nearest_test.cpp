// The name that was probably meant.
#include "base/nearest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kith {
namespace {

TEST(nearest, distance_counts_letters_added_left_out_changed_and_swapped) {
  EXPECT_EQ(spelling_distance("", ""), 0u);
  EXPECT_EQ(spelling_distance("", "abc"), 3u);
  EXPECT_EQ(spelling_distance("steal", "steal"), 0u);
  EXPECT_EQ(spelling_distance("stel", "steal"), 1u);
  EXPECT_EQ(spelling_distance("steaal", "steal"), 1u);
  EXPECT_EQ(spelling_distance("steel", "steal"), 1u);
  EXPECT_EQ(spelling_distance("setal", "steal"), 1u);
  EXPECT_EQ(spelling_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(spelling_distance("worker", "WORKERS"), 1u) << "capitals count as small letters";
  EXPECT_EQ(spelling_distance("Poliyc", "POLICY"), 1u);
}

TEST(nearest, a_name_is_near_if_most_of_its_letters_are_right) {
  const std::vector<std::string> names = {"auto", "fifo", "dfifo", "steal", "rip-dep"};
  EXPECT_EQ(nearest_name("stael", names), "steal");
  EXPECT_EQ(nearest_name("fifoo", names), "fifo");
  EXPECT_EQ(nearest_name("rip_dep", names), "rip-dep");
  EXPECT_EQ(nearest_name("FIFO", names), "fifo");
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("auto", {}), "");
}

TEST(nearest, the_error_asks_only_if_a_name_is_near) {
  const std::vector<std::string> names = {"auto", "steal"};
  EXPECT_EQ(no_such("policy", "stel", names), "no policy 'stel'; did you mean 'steal'? There are: auto, steal");
  EXPECT_EQ(no_such("policy", "x", names), "no policy 'x'; there are: auto, steal");
}

}  // namespace
}  // namespace kith
