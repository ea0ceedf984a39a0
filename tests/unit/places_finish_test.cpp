// The protocol of finish, without threads: random trees of activities, messages that arrive in any order.
#include "base/rng.hpp"
#include "places/finish_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using namespace kith::distributed;

/// Places that exchange messages through one bag, out of which any message may be taken next.
class network {
 public:
  network(std::uint64_t seed, int places, int most, bool survives = false)
      : random_(seed, purpose::pick, 0), left_(most) {
    for (int p = 0; p < places; ++p) tables_.emplace_back(p, survives);
    knows_.resize(tables_.size(), std::vector<bool>(tables_.size()));
    finish = tables_[0].open();
    running_.push_back(0);
  }

  /// Runs until nothing is left. `done` must arrive with the last step for which the finish has to wait.
  void run() {
    while (!running_.empty() || !bag_.empty() || !untold_.empty()) {
      ASSERT_TRUE(ended == 0 || (running_.empty() && bag_.empty()) || (!lost_.empty() && failed))
          << "the finish ended before " << running_.size() << " activities";
      ASSERT_LE(ended, 1);
      advance();
    }
  }

  /// After `steps` steps that place, which is not the first, is lost. Its messages under way may still arrive, and each
  /// place learns of the loss some time later.
  void lose(int victim, std::uint32_t steps) {
    for (; steps > 0 && (!running_.empty() || !bag_.empty()); --steps) advance();
    lost_.insert(victim);
    std::erase(running_, victim);
    std::erase_if(bag_, [&](const packet& p) { return p.to == victim || (p.from == victim && random_.below(2) == 0); });
    std::erase_if(untold_, [victim](const auto& u) { return u.first == victim; });
    for (int p = 0; p < static_cast<int>(tables_.size()); ++p) {
      if (!lost_.contains(p)) untold_.emplace_back(p, victim);
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
    for (int p = 0; p < static_cast<int>(tables_.size()); ++p) {
      if (!lost_.contains(p)) sum += tables_[static_cast<std::size_t>(p)].size();
    }
    return sum;
  }

 private:
  enum class kind { spawn, accepted, done };

  void advance() {
    const auto n = random_.below(static_cast<std::uint32_t>(running_.size() + bag_.size() + untold_.size()));
    if (n < running_.size()) {
      step(n);
    } else if (n < running_.size() + bag_.size()) {
      receive(n - running_.size());
    } else {
      learn(n - running_.size() - bag_.size());
    }
  }
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
      if (knows(here, to)) return;
      tables_[static_cast<std::size_t>(here)].add(finish);
      if (to == here) {
        running_.push_back(here);
      } else {
        ++sent;
        tables_[static_cast<std::size_t>(here)].sent(finish, static_cast<std::uint32_t>(to));
        put({kind::spawn, here, to, {}});
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
    if (knows(p.to, p.from)) return;
    if (p.what == kind::spawn) {
      const bool engaged = tables_[static_cast<std::size_t>(p.to)].arrive(finish, static_cast<std::uint32_t>(p.from));
      if (!engaged) put({kind::accepted, p.to, p.from, {}});  // else the answer changes no count
      running_.push_back(p.to);
    } else {
      tables_[static_cast<std::size_t>(p.to)].answered(finish, static_cast<std::uint32_t>(p.from));
      remove(p.to, p.why);
    }
  }
  /// A place learns of a loss.
  void learn(std::size_t i) {
    const auto [at, victim] = untold_[i];
    untold_.erase(untold_.begin() + static_cast<std::ptrdiff_t>(i));
    knows_[static_cast<std::size_t>(at)][static_cast<std::size_t>(victim)] = true;
    const failure why{static_cast<std::uint32_t>(victim), "was lost", false, true};
    for (const auto& [f, times] : tables_[static_cast<std::size_t>(at)].lose(static_cast<std::uint32_t>(victim))) {
      for (std::uint64_t n = 0; n < times; ++n) remove(at, why);
    }
  }
  bool knows(int at, int place) const { return knows_[static_cast<std::size_t>(at)][static_cast<std::size_t>(place)]; }
  void put(packet p) {
    if (!lost_.contains(p.to)) bag_.push_back(std::move(p));
  }
  void remove(int at, std::optional<failure> why) {
    auto over = tables_[static_cast<std::size_t>(at)].remove(finish, std::move(why));
    if (!over) return;
    if (over->root) {
      ++ended;
      failed = over->failed;
    } else {
      ++dones;
      put({kind::done, at, static_cast<int>(over->parent), std::move(over->failed)});
    }
  }

  rng random_;
  int left_;
  std::set<int> lost_;
  std::vector<std::vector<bool>> knows_;     // by place, and by lost place
  std::vector<std::pair<int, int>> untold_;  // places that do not know yet of that loss
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

TEST(PlacesFinish, EndsOnceAfterLosses) {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    const int places = static_cast<int>(2 + seed % 6);
    network n(seed, places, static_cast<int>(seed % 60), true);
    const int first = 1 + static_cast<int>(seed % (places - 1)), second = 1 + static_cast<int>(seed / 7 % (places - 1));
    n.lose(first, seed % 97);
    if (second != first && seed % 2 != 0) n.lose(second, seed % 23);
    ASSERT_NO_FATAL_FAILURE(n.run()) << "seed " << seed;
    ASSERT_EQ(n.ended, 1) << "seed " << seed;
    ASSERT_EQ(n.records(), 0u) << "seed " << seed;
    failed += n.failed && n.failed->lost ? 1 : 0;
  }
  EXPECT_GT(failed, 0u);
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
