// The protocol of finish, without threads: random trees of activities, messages that arrive in any order.
#include "base/rng.hpp"
#include "places/finish_table.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using namespace kith;
using namespace kith::distributed;

/// Places that exchange messages through one bag, out of which any message may be taken next.
class network {
 public:
  network(std::uint64_t seed, int places, int most) : random_(seed, purpose::pick, 0), left_(most) {
    for (int p = 0; p < places; ++p) tables_.emplace_back(p);
    finish = tables_[0].open();
    running_.push_back(0);
  }

  /// Runs until nothing is left to do. `done` must come with the last step that had to be waited for.
  void run() {
    while (!running_.empty() || !bag_.empty()) {
      ASSERT_EQ(ended, 0) << "the finish ended before " << running_.size() << " activities";
      const auto n = random_.below(static_cast<std::uint32_t>(running_.size() + bag_.size()));
      if (n < running_.size()) {
        step(n);
      } else {
        receive(n - running_.size());
      }
    }
  }

  finish_id finish;
  int ended = 0;           // how often the finish ended at its home
  std::uint64_t sent = 0;  // activities sent to other places
  std::uint64_t dones = 0;
  std::uint64_t failures = 0;
  std::optional<failure> failed;
  std::size_t records() const {
    std::size_t sum = 0;
    for (const finish_table& t : tables_) sum += t.size();
    return sum;
  }

 private:
  enum class kind { spawn, accepted, done };
  struct packet {
    kind what;
    int from, to;
    std::optional<failure> why;
  };

  /// An activity spawns another one, or ends.
  void step(std::size_t i) {
    const int here = running_[i];
    if (left_ > 0 && random_.below(3) != 0) {
      --left_;
      const int to = static_cast<int>(random_.below(static_cast<std::uint32_t>(tables_.size())));
      tables_[static_cast<std::size_t>(here)].add(finish);
      if (to == here) {
        running_.push_back(here);
      } else {
        ++sent;
        bag_.push_back({kind::spawn, here, to, {}});
      }
      return;
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    std::optional<failure> why;
    if (random_.below(8) == 0) {
      ++failures;
      why = failure{static_cast<std::uint32_t>(here), "fails"};
    }
    remove(here, std::move(why));
  }
  void receive(std::size_t i) {
    const packet p = bag_[i];
    bag_.erase(bag_.begin() + static_cast<std::ptrdiff_t>(i));
    if (p.what == kind::spawn) {
      const bool engaged = tables_[static_cast<std::size_t>(p.to)].arrive(finish, static_cast<std::uint32_t>(p.from));
      if (!engaged) bag_.push_back({kind::accepted, p.to, p.from, {}});  // else the answer changes no count
      running_.push_back(p.to);
    } else {
      remove(p.to, p.why);
    }
  }
  void remove(int at, std::optional<failure> why) {
    auto over = tables_[static_cast<std::size_t>(at)].remove(finish, std::move(why));
    if (!over) return;
    if (over->at_home) {
      ++ended;
      failed = over->failed;
    } else {
      ++dones;
      bag_.push_back({kind::done, at, static_cast<int>(over->parent), std::move(over->failed)});
    }
  }

  rng random_;
  int left_;
  std::vector<finish_table> tables_;
  std::vector<int> running_;  // the place of each activity
  std::vector<packet> bag_;
};

TEST(PlacesFinish, EndsOnceAndLast) {
  std::uint64_t sent = 0, dones = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    network n(seed, static_cast<int>(1 + seed % 7), static_cast<int>(seed % 60));
    ASSERT_NO_FATAL_FAILURE(n.run()) << "seed " << seed;
    ASSERT_EQ(n.ended, 1) << "seed " << seed;
    ASSERT_EQ(n.records(), 0u) << "seed " << seed;
    ASSERT_LE(n.dones, n.sent) << "seed " << seed;  // the bound of docs/finish.md
    ASSERT_EQ(n.failed.has_value(), n.failures != 0) << "seed " << seed;
    sent += n.sent;
    dones += n.dones;
  }
  EXPECT_GT(sent, 0u);
  EXPECT_GT(dones, 0u);
}

TEST(PlacesFinish, NumbersAreNotReused) {
  finish_table t(3);
  const finish_id first = t.open();
  EXPECT_EQ(first.home, 3u);
  ASSERT_TRUE(t.remove(first).has_value());
  EXPECT_NE(t.open().number, first.number);
}

TEST(PlacesFinish, KnowsTheMostEdgesOfARecord) {
  finish_table t(0);
  const finish_id few = t.open(), many = t.open();
  t.add(few);
  EXPECT_EQ(t.most_edges(), 0u);  // what is here takes no message
  t.add_edge(few);
  for (int i = 0; i < 3; ++i) t.add_edge(many);
  EXPECT_FALSE(t.remove(many).has_value());
  t.add_edge(many);  // what has ended counts, too
  EXPECT_EQ(t.most_edges(), 4u);
  t.reset_most_edges();
  t.add_edge(few);
  EXPECT_EQ(t.most_edges(), 2u);
}

TEST(PlacesFinishDeathTest, WhatIsNotOpenCannotEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  finish_table t(0);
  EXPECT_DEATH(t.remove({0, 7}), "F1");
  EXPECT_DEATH(t.arrive({0, 7}, 1), "F2");
}

}  // namespace
