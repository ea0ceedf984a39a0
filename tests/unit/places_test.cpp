// Places in one process: activities, futures and finish, against what a serial program computes.
#include "support/places.hpp"
#include "base/rng.hpp"
#include "support/scale.hpp"

#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using kith::test::make_place_options;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::atomic<std::uint64_t> sum{0};  // of what activities add; tests run one after the other
std::atomic<int> misplaced{0};      // activities that ran elsewhere than they were spawned

// ---- random trees: what a node spawns follows from its number alone, so that a serial program can add them up

struct tree {
  std::uint64_t seed = 1;
  int places = 1;
  int depth = 0;
};
std::uint64_t value_of(const tree& t, std::uint64_t node) {
  kith::rng r(t.seed, kith::purpose::pick, static_cast<std::uint32_t>(node));
  return r.below(1000);
}
std::uint64_t children_of(const tree& t, std::uint64_t node) {
  kith::rng r(t.seed + 1, kith::purpose::pick, static_cast<std::uint32_t>(node));
  return t.depth == 0 ? 0 : r.below(5);
}
int place_of(const tree& t, std::uint64_t node) {
  kith::rng r(t.seed + 2, kith::purpose::pick, static_cast<std::uint32_t>(node));
  return static_cast<int>(r.below(static_cast<std::uint32_t>(t.places)));
}
std::uint64_t serial_sum(tree t, std::uint64_t node) {
  std::uint64_t all = value_of(t, node);
  const std::uint64_t n = children_of(t, node);
  --t.depth;
  for (std::uint64_t c = 0; c < n; ++c) all += serial_sum(t, node * 5 + c + 1);
  return all;
}
void grow(tree t, std::uint64_t node) {
  if (kith::here() != place_of(t, node)) misplaced.fetch_add(1);
  sum.fetch_add(value_of(t, node));
  const std::uint64_t n = children_of(t, node);
  --t.depth;
  for (std::uint64_t c = 0; c < n; ++c) {
    const std::uint64_t child = node * 5 + c + 1;
    const auto spawn = [t, child] { kith::at(place_of(t, child)).spawn<grow>(t, child); };
    if (child % 3 == 0) {
      kith::finish(spawn);
    } else if (child % 3 == 1) {
      kith::spawn(spawn);  // from a task of the activity
    } else {
      spawn();
    }
  }
}
std::uint64_t add_up(tree t, std::uint64_t node) {
  std::uint64_t all = value_of(t, node);
  const std::uint64_t n = children_of(t, node);
  --t.depth;
  std::vector<kith::place_future<std::uint64_t>> parts;
  for (std::uint64_t c = 0; c < n; ++c) {
    const std::uint64_t child = node * 5 + c + 1;
    parts.push_back(kith::at(place_of(t, child)).async<add_up>(t, child));
  }
  for (const auto& p : parts) all += p.get();
  return all;
}

void expect_sums(const kith::place_options& o, int trees) {
  kith::place_runtime rt(o);
  for (int i = 0; i < trees; ++i) {
    const tree t{static_cast<std::uint64_t>(i) + 7, rt.places(), 5};
    sum = misplaced = 0;
    rt.run([&] { kith::at(place_of(t, 0)).spawn<grow>(t, std::uint64_t{0}); });
    EXPECT_EQ(sum, serial_sum(t, 0)) << "tree " << i;
    EXPECT_EQ(misplaced, 0);
    std::uint64_t by_futures = 0;
    rt.run([&] { by_futures = kith::at(place_of(t, 0)).async<add_up>(t, std::uint64_t{0}).get(); });
    EXPECT_EQ(by_futures, serial_sum(t, 0)) << "tree " << i;
  }
  std::uint64_t sent = 0, accepted = 0, refused = 0, answers = 0, dones = 0, results = 0, credits = 0, messages = 0;
  for (const kith::place_statistics& s : rt.statistics()) {
    sent += s.spawns_sent;
    accepted += s.spawns_accepted;
    refused += s.spawns_refused;
    answers += s.answers_sent;
    dones += s.dones_sent;
    results += s.results_sent;
    credits += s.credits_sent;
    messages += s.messages;
  }
  EXPECT_EQ(sent, accepted + refused);
  EXPECT_LE(dones, accepted);  // the bound of docs/finish.md
  EXPECT_EQ(answers, sent);
  EXPECT_EQ(messages, sent + answers + dones + results + credits);
}

class Places : public testing::TestWithParam<std::tuple<int, int, const char*>> {
 protected:
  kith::place_options options() const {
    const auto [places, workers, policy] = GetParam();
    return make_place_options(places, workers, policy);
  }
};

TEST_P(Places, RandomTreesGiveTheSerialSum) { expect_sums(options(), kith::test::scaled(4)); }

TEST_P(Places, TinyBuffersDoNotBlock) {
  kith::place_options o = options();
  o.fab_slots = 1;
  for (const kith::place_waiting w : {kith::place_waiting::works, kith::place_waiting::blocks}) {
    o.waiting = w;
    o.most_refusals = 3;
    expect_sums(o, kith::test::scaled(2));
  }
}

TEST_P(Places, CreditsGiveTheSerialSum) {
  kith::place_options o = options();
  o.admission = kith::place_admission::credits;
  o.credit_seconds = 0.003;
  for (const int slots : {64, 2}) {
    o.fab_slots = slots;
    for (const kith::place_waiting w : {kith::place_waiting::works, kith::place_waiting::blocks}) {
      o.waiting = w;
      expect_sums(o, kith::test::scaled(2));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Places,
                         testing::Values(std::tuple(1, 2, "ads"), std::tuple(2, 1, "ads"), std::tuple(2, 3, "ads"),
                                         std::tuple(4, 1, "steal"), std::tuple(4, 2, "ads"), std::tuple(16, 1, "ads"),
                                         std::tuple(3, 2, "fifo"), std::tuple(3, 2, "dfifo")));

TEST(Place, OneGroupIgnoresWhereActivitiesRun) {
  kith::place_options o = make_place_options(4, 1);
  o.scheduling = kith::place_scheduling::cws;
  expect_sums(o, 4);
  kith::place_runtime rt(o);
  EXPECT_EQ(rt.places(), 4);
  EXPECT_EQ(rt.workers(), 4);
  rt.run([] {
    for (int p = 0; p < 4; ++p) kith::at(p).spawn([](int expected) { misplaced += kith::here() != expected; }, p);
  });
  EXPECT_EQ(misplaced, 0);
  ASSERT_EQ(rt.statistics().size(), 1u);
  EXPECT_EQ(rt.statistics()[0].messages, 0u);
}

/// All places spawn at all others at once, each into buffers of one slot.
TEST(Place, EverybodySpawnsAtEverybody) {
  for (const kith::place_waiting w : {kith::place_waiting::works, kith::place_waiting::blocks}) {
    kith::place_options o = make_place_options(4, 1);
    o.fab_slots = 1;
    o.most_refusals = 2;
    o.waiting = w;
    kith::place_runtime rt(o);
    sum = 0;
    rt.run([] {
      for (int p = 0; p < kith::places(); ++p) {
        kith::at(p).spawn([] {
          for (int i = 0; i < 200; ++i) {
            const int to = (kith::here() + 1 + i % 3) % kith::places();
            kith::at(to).spawn([](int n) { sum += static_cast<std::uint64_t>(n); }, i);
          }
        });
      }
    });
    EXPECT_EQ(sum, 4u * 199u * 200u / 2);
  }
}

/// While there are credits no spawner waits for the other place. The last two wait until they are sent without
/// a credit.
TEST(Place, SpendsItsCreditsAndThenWaits) {
  static std::atomic<bool> go, started;
  go = started = false;
  kith::place_options o = make_place_options(2, 1);
  o.fab_slots = 10;
  o.admission = kith::place_admission::credits;
  o.credit_seconds = 0.02;
  kith::place_runtime rt(o);
  sum = 0;
  rt.run([] {
    kith::at(1).spawn([] {
      started = true;
      started.notify_all();
      go.wait(false);
    });
    started.wait(false);  // its credit comes back with the next answer
    const auto began = std::chrono::steady_clock::now();
    const std::vector<std::byte> large(1 << 20);
    kith::at(1).spawn([](std::span<const std::byte> all) { sum += all.size() >> 20; }, large);  // waits, with a credit
    for (int i = 0; i < 6; ++i) kith::at(1).spawn([] { sum += 1; });
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(40)) << "each has waited";
    go = true;
    go.notify_all();
  });
  EXPECT_EQ(sum, 7u);
  const std::vector<kith::place_statistics> s = rt.statistics();
  EXPECT_EQ(s[1].spawns_refused, 0u);
  EXPECT_EQ(s[0].spawns_sent, 8u);
  EXPECT_GE(s[0].spawns_waited, 2u);
}

/// One task sends many activities; the credits come back as they start.
TEST(Place, CreditsComeBack) {
  kith::place_options o = make_place_options(3, 1);
  o.fab_slots = 16;
  o.admission = kith::place_admission::credits;
  o.credit_seconds = 3600;
  kith::place_runtime rt(o);
  sum = 0;
  rt.run([] {
    for (int i = 0; i < 3000; ++i) kith::at(1 + i % 2).spawn([] { sum += 1; });
  });
  EXPECT_EQ(sum, 3000u);
  for (const kith::place_statistics& s : rt.statistics()) {
    EXPECT_EQ(s.spawns_refused + s.spawns_forced, 0u);
    EXPECT_LE(s.fab_peak, 8u) << "the threshold, though two places spawn";
  }
}

/// A worker that is blocked runs nothing, so that the buffer of the other place stays full until it is forced.
TEST(Place, RefusesAtTheThresholdAndIsForced) {
  kith::place_options o = make_place_options(2, 1);
  o.fab_slots = 4;
  o.fab_threshold = 0.5;
  o.most_refusals = 2;
  o.retry_seconds = o.retry_most_seconds = 0;
  static std::atomic<bool> go;
  go = false;
  kith::place_runtime rt(o);
  sum = 0;
  rt.run([] {
    // The first one keeps the only worker of place 1; the others fill its buffer: two fit, the rest is forced.
    static std::atomic<bool> started;
    started = false;
    kith::at(1).spawn([] {
      started = true;
      started.notify_all();
      go.wait(false);
    });
    started.wait(false);
    for (int i = 0; i < 5; ++i) kith::at(1).spawn([] { sum += 1; });
    go = true;
    go.notify_all();
  });
  EXPECT_EQ(sum, 5u);
  const kith::place_statistics s = rt.statistics()[1];
  EXPECT_EQ(s.spawns_accepted, 6u);
  EXPECT_EQ(s.spawns_forced, 3u);
  EXPECT_EQ(s.spawns_refused, 3u * 2);
  EXPECT_EQ(s.fab_peak, 5u);
  EXPECT_EQ(rt.statistics()[0].spawns_sent, 6u + 3 * 2);
}

TEST(Place, ArgumentsAndResultsOfAllKinds) {
  kith::place_runtime rt(make_place_options(3));
  rt.run([] {
    const std::vector<double> values{1, 2, 3.5};
    EXPECT_EQ(kith::at(1)
                  .async([](std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); }, values)
                  .get(),
              6.5);
    EXPECT_EQ(kith::at(2)
                  .async([](const std::string& a, std::string_view b) { return a + std::string(b); }, "ab", "cd")
                  .get(),
              "abcd");
    const auto sorted = kith::at(1).async(
        [](std::vector<std::string> v) {
          std::ranges::sort(v);
          return v;
        },
        std::vector<std::string>{"b", "a"});
    EXPECT_EQ(sorted.get(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(sorted.get().size(), 2u);  // a copy each time
    EXPECT_EQ(sorted.place(), 1);
    kith::at(2).async([] {}).get();
    EXPECT_EQ(kith::at(0).async([] { return kith::here(); }).get(), 0);  // without a message
  });
}

TEST(Place, ObjectsOfAPlaceStayThere) {
  static kith::place_local<std::vector<int>> mine;
  kith::place_runtime rt(make_place_options(4));
  rt.run([] {
    kith::finish([] {  // the objects of an earlier run are still there
      for (int p = 0; p < 4; ++p) kith::at(p).spawn([] { mine->clear(); });
    });
    kith::finish([] {
      for (int i = 0; i < 40; ++i) kith::at(i % 4).spawn([](int n) { mine->push_back(n); }, i);
    });
    for (int p = 0; p < 4; ++p) {
      EXPECT_EQ(kith::at(p).async([] { return std::accumulate(mine->begin(), mine->end(), 0); }).get(), 180 + 10 * p);
    }
  });
}

struct waits_when_made {
  int value = kith::at(1).async([] { return 5; }).get();
};
static kith::place_local<waits_when_made> waiting;
TEST(Places, AnObjectOfAPlaceMayWaitWhenItIsMade) {
  kith::place_runtime rt(make_place_options(2, 2));
  sum = 0;
  rt.run([] {
    for (int i = 0; i < 20; ++i) kith::at(0).spawn([] { sum += static_cast<std::uint64_t>(waiting->value); });
  });
  EXPECT_EQ(sum, 100u);
}

// ---- finish

TEST(Finish, WaitsForWhatActivitiesSpawnElsewhere) {
  kith::place_runtime rt(make_place_options(4, 2));
  rt.run([] {
    for (int round = 0; round < 20; ++round) {
      sum = 0;
      kith::finish([] {
        kith::at(1).spawn([] {
          kith::at(2).spawn([] {
            for (int p = 0; p < 4; ++p) kith::at(p).spawn([] { kith::at(3).spawn([] { sum += 1; }); });
          });
        });
      });
      EXPECT_EQ(sum, 4u);
    }
  });
}

TEST(Finish, InnerOnesDoNotWaitForOuterActivities) {
  static std::atomic<bool> inner_over;
  inner_over = false;
  kith::place_runtime rt(make_place_options(2, 2));
  rt.run([] {
    kith::at(1).spawn([] { inner_over.wait(false); });  // would never end if the inner finish waited for it
    kith::finish([] { kith::at(1).spawn([] {}); });
    inner_over = true;
    inner_over.notify_all();
  });
}

// ---- wrong calls

TEST(PlaceErrors, AreSaid) {
  EXPECT_THAT([] { kith::places(); }, ThrowsMessage<kith::error>(HasSubstr("there are no places")));
  const auto refused = [](auto&& change, const char* what) {
    kith::place_options o = make_place_options(2);
    change(o);
    EXPECT_THAT([&] { kith::place_runtime rt(o); }, ThrowsMessage<kith::error>(HasSubstr(what)));
  };
  refused([](auto& o) { o.places = 0; }, "places = 0: expected 1 to 1024");
  refused([](auto& o) { o.fab_slots = 0; }, "fab_slots = 0");
  refused([](auto& o) { o.fab_threshold = 0; }, "fab_threshold");
  refused([](auto& o) { o.retry_seconds = 1; }, "retry_seconds");
  refused([](auto& o) { o.most_refusals = -1; }, "most_refusals");
  refused([](auto& o) { o.credit_seconds = -1; }, "credit_seconds");
  refused([](auto& o) { o.each.policy = "nonsense"; }, "nonsense");
  kith::place_runtime rt(make_place_options(2));
  EXPECT_THAT([] { kith::place_runtime second(make_place_options(1)); },
              ThrowsMessage<kith::error>(HasSubstr("one already")));
  EXPECT_THAT([] { kith::here(); }, ThrowsMessage<kith::error>(HasSubstr("no activity runs")));
  EXPECT_THAT([] { kith::at(0).spawn([] {}); }, ThrowsMessage<kith::error>(HasSubstr("no activity runs")));
  EXPECT_THAT([] { kith::finish([] {}); }, ThrowsMessage<kith::error>(HasSubstr("no activity runs")));
  rt.run([&] {
    EXPECT_THAT([] { std::ignore = kith::at(2); },
                ThrowsMessage<kith::error>(AllOf(HasSubstr("at(2)"), HasSubstr("from 0 to 1"))));
    EXPECT_THAT([] { std::ignore = kith::at(-1); }, ThrowsMessage<kith::error>(HasSubstr("at(-1)")));
    EXPECT_THAT([&] { rt.run([] {}); }, ThrowsMessage<kith::error>(HasSubstr("inside a task")));
    EXPECT_THAT([] { kith::place_future<int>().get(); }, ThrowsMessage<kith::error>(HasSubstr("no activity behind")));
  });
}

}  // namespace
