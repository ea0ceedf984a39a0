// How far apart cores are, as estimated by listeners from what they hear. A test cannot know how long a
// line really takes here.
#include "engine/native/core_distance.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using kith::worker_id;
using kith::native::core_distance;

void hear(core_distance& d, int times, std::uint64_t ticks) {
  for (int i = 0; i < times; ++i)
    d.add_sample(worker_id(0), i % 10 == 9 ? 1'000'000 : ticks);  // an interrupt now and then
}

TEST(core_distance, cores_are_near_until_somebody_has_listened) {
  const core_distance d(2);
  EXPECT_EQ(d.trip(), 0u);
  EXPECT_EQ(d.short_task(), core_distance::least_short);
}

TEST(core_distance, tasks_are_short_by_the_trips_of_a_line) {
  core_distance d(2);
  hear(d, 64, 570);
  EXPECT_NEAR(d.trip(), 570, 150);
  EXPECT_EQ(d.short_task(), core_distance::trips * d.trip());
  EXPECT_GT(d.short_task(), 3 * core_distance::least_short);
}

TEST(core_distance, a_machine_that_has_changed_is_noticed) {
  core_distance d(2);
  hear(d, 64, 570);
  hear(d, 320, 80);
  EXPECT_NEAR(d.trip(), 80, 25);
  EXPECT_EQ(d.short_task(), core_distance::least_short);
}

TEST(core_distance, who_speaks_is_heard) {
  core_distance d(3);
  std::atomic<bool> heard{false};
  std::thread speaker([&] {
    while (!heard) d.publish(worker_id(2));
  });
  while (d.trip() == 0) d.sample(worker_id(0));
  heard = true;
  speaker.join();
  EXPECT_GE(d.short_task(), core_distance::least_short);
}

TEST(core_distance, nobody_is_heard_who_does_not_speak) {
  core_distance d(2);
  for (int i = 0; i < 100'000; ++i) d.sample(worker_id(1));
  EXPECT_EQ(d.trip(), 0u);
}

}  // namespace
