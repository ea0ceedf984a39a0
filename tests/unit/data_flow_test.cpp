// Data-flow across places: tasks on random ranges against the same tasks one after the other, copies, places, failures.
#include "base/rng.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"

#include <kith/data_flow.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using kith::test::make_place_options;
using testing::HasSubstr;
using testing::ThrowsMessage;
using numbers = kith::distributed_array<std::int64_t>;

void run(const kith::place_options& o, const std::function<void()>& f) {
  kith::place_runtime places(o);
  places.run(f);
}

using words = std::span<std::int64_t>;
using const_words = std::span<const std::int64_t>;

constexpr std::int64_t modulus = 1000003;  // keeps values small

void mix(const_words a, const_words b, words to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = (a[i % a.size()] * 3 - b[(i * 7) % b.size()] + static_cast<std::int64_t>(i)) % modulus;
}
void step(words x, std::int64_t by) {
  for (std::int64_t& v : x) v = (v * 5 + by) % modulus;
}
void add_to(const std::int64_t& a, std::int64_t& b) { b = (b + a) % modulus; }
/// Its children write.
void fill(words x, std::int64_t with) {
  for (std::size_t i = 0; i < x.size(); i += 4) {
    kith::spawn([=] { std::ranges::fill(x.subspan(i, std::min<std::size_t>(4, x.size() - i)), with); });
  }
}

/// Random tasks, at random places or where their bytes are, and the same one after the other.
void compare(std::uint64_t seed, const kith::data_flow_options& options) {
  kith::rng random(seed, kith::purpose::test, 0);
  const auto below = [&](std::uint64_t n) -> std::uint64_t { return random.below(static_cast<std::uint32_t>(n)); };
  const std::uint64_t sizes[] = {40 + below(60), 1 + below(40)};
  const kith::array_layout layouts[] = {{}, {1}, {1 + below(9)}};
  numbers arrays[2];
  std::vector<std::int64_t> expected[2];
  for (std::size_t k = 0; k < 2; ++k) {
    arrays[k] = numbers::make(sizes[k], layouts[below(3)]);
    expected[k].resize(sizes[k]);
    std::iota(expected[k].begin(), expected[k].end(), static_cast<std::int64_t>(seed));
  }
  {
    kith::data_flow flow(options);
    for (int rounds = 0; rounds < 3; ++rounds) {
      // Between two waits the arrays may be changed by other means.
      for (std::size_t k = 0; k < 2; ++k) {
        expected[k][0] += rounds;
        arrays[k].put(0, expected[k]);
      }
      for (int n = 0; n < 60; ++n) {
        const auto range = [&](std::uint64_t k) {
          const std::uint64_t first = below(sizes[k]);
          return std::pair(first, below(6) == 0 ? 1 : 1 + below(sizes[k] - first));
        };
        const std::uint64_t k = below(2), other = 1 - k;
        const auto [first, count] = range(k);
        const auto [first2, count2] = range(k);
        const auto [to, size] = range(other);
        const auto part = [&](std::uint64_t which, std::uint64_t from, std::uint64_t many) {
          return words(expected[which]).subspan(from, many);
        };
        const std::int64_t value = static_cast<std::int64_t>(below(100));
        const int place = static_cast<int>(below(static_cast<std::uint64_t>(kith::places())));
        switch (below(5)) {
          case 0:
            flow.spawn<mix>(kith::in(arrays[k].range(first, count)), kith::in(arrays[k].range(first2, count2)),
                            kith::out(arrays[other].range(to, size)));
            mix(part(k, first, count), part(k, first2, count2), part(other, to, size));
            break;
          case 1:
            flow.at(place).spawn<mix>(kith::in(arrays[k].range(first, count)),
                                      kith::in(arrays[k].range(first2, count2)),
                                      kith::out(arrays[other].range(to, size)));
            mix(part(k, first, count), part(k, first2, count2), part(other, to, size));
            break;
          case 2:
            flow.at(place).spawn<step>(kith::inout(arrays[k].range(first, count)), value);
            step(part(k, first, count), value);
            break;
          case 3:
            flow.spawn<add_to>(kith::in(arrays[other].element(to)), kith::inout(arrays[k].element(first)));
            add_to(expected[other][to], expected[k][first]);
            break;
          default:
            flow.at(place).spawn<fill>(kith::out(arrays[k].range(first, count)), value);
            std::ranges::fill(part(k, first, count), value);
        }
      }
      flow.wait();
      for (std::size_t k = 0; k < 2; ++k) ASSERT_EQ(arrays[k].get(0, sizes[k]), expected[k]) << "seed " << seed;
    }
  }
  for (const numbers& a : arrays) a.destroy();
}

TEST(DataFlow, HasTheValuesOfASerialProgram) {
  for (const auto& [places, workers] : {std::pair(1, 2), {2, 1}, {3, 2}, {5, 1}}) {
    run(make_place_options(places, workers), [] {
      for (int seed = 1; seed <= kith::test::scaled(4); ++seed) {
        compare(static_cast<std::uint64_t>(seed), {});
        compare(static_cast<std::uint64_t>(seed), {.most_tasks = 3, .cache_bytes = 100});
      }
    });
  }
}

TEST(DataFlow, HasThemAsOneGroupToo) {
  kith::place_options o = make_place_options(3);
  o.scheduling = kith::place_scheduling::cws;
  run(o, [] { compare(9, {}); });
}

std::atomic<int> ran_at{-1};
void note(const_words) { ran_at = kith::here(); }
void note_written(const_words, words) { ran_at = kith::here(); }

TEST(DataFlow, RunsWhereMostBytesAre) {
  run(make_place_options(3), [] {
    const numbers a = numbers::make(30);
    kith::data_flow flow;
    const auto place_of = [&](const auto&... args) {
      if constexpr (sizeof...(args) == 1) {
        flow.spawn<note>(args...);
      } else {
        flow.spawn<note_written>(args...);
      }
      flow.wait();
      return ran_at.load();
    };
    EXPECT_EQ(place_of(kith::in(a.range(0, 10))), 0);
    EXPECT_EQ(place_of(kith::in(a.range(5, 11))), 1);
    EXPECT_EQ(place_of(kith::in(a.range(19, 11))), 2);
    EXPECT_EQ(place_of(kith::in(a.range(0, 8)), kith::inout(a.range(20, 5))), 2) << "those of inout count twice";
    EXPECT_EQ(place_of(kith::in(a.range(0, 8)), kith::out(a.range(20, 7))), 0);
    flow.at(1).spawn<note>(kith::in(a.range(0, 10)));
    flow.wait();
    EXPECT_EQ(ran_at, 1);
    flow.at(2).spawn([] { ran_at = kith::here(); });
    flow.wait();
    EXPECT_EQ(ran_at, 2) << "without accesses";
    a.destroy();
  });
}

/// Activities that have run since `before`, without those of the tasks themselves.
std::uint64_t activities(const kith::place_runtime& places) {
  std::uint64_t all = 0;
  for (const kith::place_statistics& s : places.statistics()) all += s.activities;
  return all;
}

/// How many more activities 20 tasks cost than one, if `write` says whether another task writes what they read.
std::uint64_t cost_of_reading(bool write) {
  std::uint64_t counts[2];
  for (const int tasks : {1, 21}) {
    kith::place_runtime places(make_place_options(2));
    places.run([&] {
      const numbers a = numbers::make(20);
      kith::data_flow flow;
      for (int i = 0; i < tasks; ++i) {
        flow.at(1).spawn<note>(kith::in(a.range(0, 10)));
        if (write) flow.at(0).spawn<step>(kith::inout(a.range(3, 2)), 1);
      }
      flow.wait();
      a.destroy();
    });
    counts[tasks == 1 ? 0 : 1] = activities(places);
  }
  return counts[1] - counts[0];
}

TEST(DataFlow, GetsElementsAgainOnlyIfTheyWereWritten) {
  EXPECT_EQ(cost_of_reading(false), 20U) << "the tasks";
  EXPECT_EQ(cost_of_reading(true), 60U) << "the tasks, those that write, and a reading for each";
}

TEST(DataFlow, UsesWhatATaskHasWrittenHere) {
  kith::place_runtime places(make_place_options(2));
  std::uint64_t first = 0;
  for (const int tasks : {1, 11}) {
    places.reset_statistics();
    places.run([&] {
      const numbers a = numbers::make(20);
      kith::data_flow flow;
      for (int i = 0; i < tasks; ++i) flow.at(1).spawn<step>(kith::inout(a.range(0, 10)), 1);
      flow.wait();
      std::int64_t expected = 0;
      for (int i = 0; i < tasks; ++i) step(words(&expected, 1), 1);
      EXPECT_EQ(a.get(0), expected);
      a.destroy();
    });
    if (tasks == 1) first = activities(places);
  }
  EXPECT_EQ(activities(places) - first, 20U) << "ten tasks, and ten writings";
}

std::atomic<int> ran{0};
void count_one(words) { ++ran; }
void fail(words) { throw std::runtime_error("no such thing"); }

TEST(DataFlow, ThrowsTheFirstFailureAndDropsWhatComesAfter) {
  run(make_place_options(2), [] {
    const numbers a = numbers::make(10);
    kith::data_flow flow;
    ran = 0;
    flow.at(1).spawn<fail>(kith::inout(a.range(0, 2)));
    for (int i = 0; i < 10; ++i) flow.spawn<count_one>(kith::inout(a.range(1, 2)));
    EXPECT_THAT([&] { flow.wait(); }, ThrowsMessage<kith::place_error>(HasSubstr("place 1: no such thing")));
    EXPECT_EQ(ran, 0);
    flow.spawn<count_one>(kith::inout(a.range(1, 2)));
    flow.wait();
    EXPECT_EQ(ran, 1) << "it can be used again";
    a.destroy();
  });
}

void fail_beside_children(words x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    kith::spawn([=] {
      for (int k = 0; k < 1000; ++k) x[i] = x[i] * 3 % modulus;
    });
  }
  throw std::runtime_error("with children");
}
void keep_nothing(words, const std::string&) {}

/// The children use the task's copy; tasks that never run are given back (both by the address sanitizer).
TEST(DataFlow, EndsTheChildrenOfAFailedTaskAndFreesTheRest) {
  run(make_place_options(2, 2), [] {
    const numbers a = numbers::make(40);
    for (int round = 0; round < 5; ++round) {
      kith::data_flow flow;
      flow.at(1).spawn<fail_beside_children>(kith::inout(a.range(0, 10)));
      for (int i = 0; i < 50; ++i)
        flow.at(i % 2).spawn<keep_nothing>(kith::inout(a.range(1, 2)), std::string(1000, 'x'));
      EXPECT_THAT([&] { flow.wait(); }, ThrowsMessage<kith::place_error>(HasSubstr("with children")));
    }
    a.destroy();
  });
}

void copy_small(const_words from, std::span<std::int32_t> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::int32_t>(from[i] + 1);
}

TEST(DataFlow, KnowsArraysOfSeveralTypesApart) {
  run(make_place_options(2), [] {
    const numbers a = numbers::make(10);
    const auto b = kith::distributed_array<std::int32_t>::make(10);
    a.put(0, std::vector<std::int64_t>(10, 41));
    {
      kith::data_flow flow;
      flow.at(1).spawn<copy_small>(kith::in(a.range(0, 5)), kith::out(b.range(0, 5)));
      flow.at(1).spawn([](const_words x, std::span<const std::int32_t> y, std::int64_t& to) { to = x[0] + y[0]; },
                       kith::in(a.range(0, 5)), kith::in(b.range(0, 5)), kith::out(a.element(9)));
      flow.wait();
    }
    EXPECT_EQ(a.get(9), 41 + 42);
    a.destroy();
    b.destroy();
  });
}

/// As many are under way as the buffer has room for.
TEST(DataFlow, DoesNotFloodBuffers) {
  kith::place_options o = make_place_options(2);
  o.fab_slots = 8;
  kith::place_runtime places(o);
  places.run([] {
    const numbers a = numbers::make(600);
    kith::data_flow flow;
    for (std::uint64_t i = 0; i < 300; ++i) flow.at(1).spawn<step>(kith::inout(a.range(300 + i, 1)), 1);
    flow.wait();
    a.destroy();
  });
  const kith::place_statistics s = places.statistics()[1];
  EXPECT_EQ(s.spawns_refused + s.spawns_forced, 0U);
  EXPECT_LE(s.fab_peak, 4U);
}

TEST(DataFlow, GivesAFailureThatNobodyWaitedForToTheFinish) {
  run(make_place_options(2), [] {
    const numbers a = numbers::make(10);
    EXPECT_THAT(
        [&] {
          kith::finish([&] {
            kith::data_flow flow;
            flow.at(1).spawn<fail>(kith::inout(a.range(0, 2)));
          });
        },
        ThrowsMessage<kith::place_error>(HasSubstr("no such thing")));
    a.destroy();
  });
}

TEST(DataFlow, IsWaitedForByTheFinish) {
  run(make_place_options(3), [] {
    const numbers a = numbers::make(30);
    kith::finish([&] {
      kith::data_flow flow;
      for (int i = 0; i < 50; ++i) flow.at(i % 3).spawn<step>(kith::inout(a.range(0, 30)), 1 - i % 2);
    });
    std::int64_t expected = 0;
    for (int i = 0; i < 50; ++i) step(words(&expected, 1), 1 - i % 2);
    EXPECT_EQ(a.get(29), expected);
    a.destroy();
  });
}

TEST(DataFlow, RefusesWhatHasNoOrder) {
  run(make_place_options(2), [] {
    const numbers a = numbers::make(10), none;
    kith::data_flow flow;
    EXPECT_THAT([&] { flow.spawn<note_written>(kith::in(a.range(0, 5)), kith::inout(a.range(4, 2))); },
                ThrowsMessage<kith::error>(HasSubstr("access 2, to elements from 4, 2 of them, overlaps")));
    EXPECT_THAT([&] { flow.spawn<note>(kith::in(none.range(0, 0))); },
                ThrowsMessage<kith::error>(HasSubstr("an access to no array")));
    EXPECT_THAT([&] { a.range(5, 6); },
                ThrowsMessage<kith::error>(HasSubstr("elements from 5, 6 of them; the array has 10")));
    EXPECT_THAT([&] { a.element(10); }, ThrowsMessage<kith::error>(HasSubstr("the array has 10")));
    EXPECT_THAT([&] { flow.at(2); }, ThrowsMessage<kith::error>(HasSubstr("2")));
    EXPECT_THAT([] { const kith::data_flow wrong({.most_tasks = 0}); },
                ThrowsMessage<kith::error>(HasSubstr("most_tasks")));
    flow.spawn<note>(kith::in(a.range(3, 0)));  // no elements: no access
    flow.wait();
    a.destroy();
  });
  EXPECT_THAT([] { const kith::data_flow outside; }, ThrowsMessage<kith::error>(HasSubstr("data_flow: ")));
}

}  // namespace
