// Policies in the sequential world, with one thread, so that every decision can be checked.
#include "support/policy_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace {

using kith::node_id;
using kith::ready_reason;
using kith::worker_id;
using kith::sequential::world;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using bench = kith::test::policy_bench;

TEST(policy, every_listed_one_gives_back_what_it_was_given) {
  for (const kith::policy_entry& p : kith::policy_list()) {
    bench b("node:3 core:2", p.name);
    std::map<kith::task*, int> seen;
    for (int i = 0; i < 60; ++i) {
      kith::task& t = b.task({{b.region(), 8}}, i % 3, static_cast<std::uint16_t>(i % 6));
      seen[&t] = 0;
      if (kith::task* now = b.ready(t, i % 6, i % 2 == 0 ? ready_reason::creation : ready_reason::completion))
        ++seen[now];
    }
    for (bool some = true; some;) {
      some = false;
      for (int w = 0; w < 6; ++w) {
        if (kith::task* t = b.next(w)) {
          ++seen[t];
          some = true;
        }
      }
    }
    for (const auto& [t, count] : seen) EXPECT_EQ(count, 1) << p.name;
    EXPECT_NE(std::string(p.summary), "") << p.name;
  }
}

TEST(policy, steal_hands_over_one_successor_and_takes_the_nearest) {
  bench b("node:2 core:2", "steal");
  kith::task &a = b.task(), &c = b.task();
  kith::task* both[] = {&a, &c};
  EXPECT_EQ(b.chosen->ready(both, *b.by[0], ready_reason::completion), &c);
  kith::task& far = b.task();
  b.ready(far, 2);
  EXPECT_EQ(b.next(1), &a);  // worker 0 is on its node, and worker 2 is not
  EXPECT_EQ(b.next(1), &far);
  EXPECT_EQ(b.next(1), nullptr);
}

// Both continue with their own tasks, so both ends of a queue move. The thief takes a task from time to time.
TEST(policy, steal_leaves_short_tasks_of_several_but_not_for_ever) {
  for (const char* how : {"steal", "steal:victim=cyclic", "steal:victim=random"}) {
    bench b("node:1 core:4", how);
    for (int w = 0; w < 3; ++w) b.by[static_cast<std::size_t>(w)]->thefts = kith::theft_size(1, 2);
    const auto feed = [&] {
      for (int w = 0; w < 3; ++w) b.ready(b.task(), w);
    };
    feed();
    int failed_searches = 0;
    kith::task* got = nullptr;
    for (; got == nullptr && failed_searches < 20'000; ++failed_searches) {
      if (failed_searches % 16 == 0) feed();
      got = b.chosen->next(*b.by[3]).work;
    }
    EXPECT_NE(got, nullptr) << how;
    EXPECT_GT(failed_searches, 1000) << how;
  }
}

TEST(policy, steal_takes_one_task_where_both_use_the_same_cache_unless_tasks_are_short) {
  const auto stolen = [](const char* how, std::uint64_t cache, bool short_tasks) {
    bench b("node:1 core:2", how, {}, cache);
    b.by[0]->thefts = short_tasks ? kith::theft_size(1, 2) : kith::theft_size();
    for (int i = 0; i < 10; ++i) b.ready(b.task());
    EXPECT_NE(b.next(1), nullptr);
    return b.by[1]->sums[kith::event::steal];
  };
  for (const char* how : {"steal:near=one", "steal:near=one,patience=off", "auto"}) {
    EXPECT_EQ(stolen(how, 1 << 20, false), 1u) << how;
    EXPECT_EQ(stolen(how, 1 << 20, true), 5u) << how;
    EXPECT_EQ(stolen(how, 0, false), 5u) << how;  // its caches are not known
  }
  EXPECT_EQ(stolen("steal", 1 << 20, false), 5u);
}

TEST(policy, steal_takes_as_many_tasks_as_take_much_longer_than_the_theft) {
  for (const char* how : {"steal:near=one", "auto"}) {
    bench b("node:1 core:2", how, {}, 1 << 20);
    b.by[0]->thefts = kith::theft_size(1000, 100);
    for (int i = 0; i < 20; ++i) b.ready(b.task());
    EXPECT_NE(b.next(1), nullptr);
    EXPECT_EQ(b.by[1]->sums[kith::event::steal], 4u) << how;
  }
}

TEST(theft_size, takes_at_least_32_times_as_long_as_a_short_task) {
  constexpr std::uint32_t short_task = 100;
  for (const std::uint32_t mean : {0u, 1u, 99u, 100u, 101u, 500u, 799u, 1599u, 1600u, 3199u, 3200u, 1u << 20}) {
    const kith::theft_size size(mean, short_task);
    EXPECT_EQ(size.of_short_tasks(), mean < short_task) << mean;
    if (mean >= short_task) {
      EXPECT_GE(size.tasks() * mean, 32 * short_task) << mean;
      EXPECT_TRUE(size.tasks() == 1 || size.tasks() * mean <= 2 * 32 * short_task) << mean;
    }
  }
  EXPECT_EQ(kith::theft_size().tasks(), 1);
}

TEST(policy, steal_keeps_short_tasks_that_follow_its_own_and_leaves_the_others_to_thieves) {
  const auto run = [](const char* how, bool long_tasks) {
    bench b("node:1 core:2", how, {}, 1 << 20);
    b.by[0]->thefts = long_tasks ? kith::theft_size() : kith::theft_size(1000, 100);
    std::vector<kith::task*> together;  // the one created first is the last
    for (const auto& ended_by : {std::array{1, 1, 2}, std::array{2, 1, 2}, std::array{1, 1, 0}, std::array{2, 2, 2}}) {
      kith::task& t = b.task();
      std::ranges::copy(ended_by, t.links);
      together.push_back(&t);
    }
    std::map<const kith::task*, int> number;
    for (int i = 0; i < 4; ++i) number[together[static_cast<std::size_t>(i)]] = i;
    std::vector<int> order{number[b.chosen->ready(together, *b.by[0], ready_reason::completion)]};
    for (int i = 0; i < 3; ++i) order.push_back(number[b.next(0)]);
    return order;
  };
  for (const char* how : {"steal:near=one,follows=own", "auto", "steal:follows=own,keeps=feeder"}) {
    EXPECT_THAT(run(how, false), ElementsAre(2, 0, 3, 1)) << how;
    EXPECT_THAT(run(how, true), ElementsAre(3, 2, 1, 0)) << how;
  }
  EXPECT_THAT(run("steal", false), ElementsAre(3, 2, 1, 0));
}

TEST(policy, steal_keeps_the_order_of_creation_of_many_tasks_made_ready_together) {
  bench b("node:1 core:2", "steal:follows=own");
  b.by[0]->thefts = kith::theft_size(1000, 100);
  std::vector<kith::task*> together;  // the one created first is the last
  for (int i = 0; i < 40; ++i) {
    together.push_back(&b.task());
    together.back()->links[0] = kith::task::mark_of(worker_id(0));
  }
  EXPECT_EQ(b.chosen->ready(together, *b.by[0], ready_reason::completion), together.back());
  for (std::size_t i = together.size() - 1; i-- > 0;) EXPECT_EQ(b.next(0), together[i]) << i;
}

TEST(policy, steal_takes_half_of_a_group_where_both_use_the_same_cache) {
  for (const char* how : {"steal:near=one", "auto"}) {
    bench b("node:1 core:2", how, {}, 1 << 20);
    const auto release = [&](int tasks, ready_reason why) {
      std::vector<kith::task*> together;
      for (int i = 0; i < tasks; ++i) together.push_back(&b.task());
      const bool runs_one = b.chosen->ready(together, *b.by[0], why) != nullptr;
      return tasks - (runs_one ? 1 : 0);
    };
    const auto stolen = [&] {
      const std::uint64_t before = b.by[1]->sums[kith::event::steal];
      EXPECT_NE(b.next(1), nullptr) << how;
      return b.by[1]->sums[kith::event::steal] - before;
    };
    const auto empty = [&] {
      for (int w : {1, 0}) {
        while (b.next(w) != nullptr) {
        }
      }
    };
    EXPECT_EQ(release(11, ready_reason::completion), 10) << how;
    EXPECT_EQ(stolen(), 5u) << how;
    EXPECT_EQ(release(2, ready_reason::completion), 1) << how;
    empty();
    EXPECT_EQ(release(10, ready_reason::creation), 10) << how;
    EXPECT_EQ(stolen(), 1u) << how << ": its deque has been empty since, and no completion made these ready";
    empty();
    EXPECT_EQ(release(2, ready_reason::completion), 1) << how;
    for (int i = 0; i < 9; ++i) b.ready(b.task());
    EXPECT_EQ(stolen(), 1u) << how << ": there are as many workers";
  }
}

TEST(policy, steal_takes_one_task_of_each_victim_in_turn_where_all_use_the_same_cache) {
  const auto victims = [](const char* how) {
    bench b("node:1 core:4", how, {}, 1 << 20);
    std::map<const kith::task*, int> at;
    for (int i = 0; i < 24; ++i) {
      kith::task& t = b.task();
      at[&t] = 1 + i % 3;
      b.ready(t, 1 + i % 3);
    }
    std::vector<int> from;
    for (int i = 0; i < 6; ++i) from.push_back(at[b.next(0)]);
    return from;
  };
  EXPECT_THAT(victims("steal:near=one"), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(victims("steal"), ElementsAre(1, 1, 1, 1, 1, 1));  // half of what is left, each time
}

// Worker 1 robs worker 0, which shares its cache, before 2 and 3. It takes one task at a time there, the oldest first;
// of worker 2's four it takes two, the second of which is the last one in its own deque.
TEST(policy, steal_robs_workers_of_its_own_cache_first_and_takes_half_of_others) {
  const auto stolen = [](const char* how) {
    bench b("l3:2 core:2", how);
    std::map<const kith::task*, std::pair<int, int>> made;  // by whom, and as the how-manieth
    for (int i = 0; i < 12; ++i) {
      kith::task& t = b.task();
      const int by = std::array{0, 2, 3}[static_cast<std::size_t>(i % 3)];
      made[&t] = {by, i / 3};
      b.ready(t, by);
    }
    std::vector<std::pair<int, int>> found;
    for (int i = 0; i < 6; ++i) found.push_back(made[b.next(1)]);
    return found;
  };
  EXPECT_THAT(stolen("steal:near=one"),
              ElementsAre(Pair(0, 0), Pair(0, 1), Pair(0, 2), Pair(0, 3), Pair(2, 0), Pair(2, 1)));
  EXPECT_THAT(stolen("steal"), ElementsAre(Pair(2, 0), Pair(2, 1), Pair(2, 2), Pair(2, 3), Pair(3, 0), Pair(3, 1)));
}

TEST(policy, steal_follows_a_chain_to_its_end) {
  bench b("node:1 core:2", "steal");
  b.ready(b.task(), 0);
  for (int i = 0; i < 100; ++i) {
    kith::task& t = b.task();
    EXPECT_EQ(b.ready(t, 0, ready_reason::completion), &t);
  }
}

TEST(policy, steal_takes_half_in_one_visit) {
  bench b("node:1 core:2", "steal");
  for (int i = 0; i < 10; ++i) b.ready(b.task(), 0);
  EXPECT_NE(b.next(1), nullptr);
  EXPECT_EQ(b.by[1]->sums[kith::event::steal], 5u);
}

TEST(policy, dfifo_deals_round_robin) {
  bench b("node:1 core:3", "dfifo:steal=off");
  std::vector<kith::task*> t;
  for (int i = 0; i < 6; ++i) {
    t.push_back(&b.task());
    b.ready(*t.back(), 0);
  }
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(b.next(static_cast<int>(w)), t[w]);
    EXPECT_EQ(b.next(static_cast<int>(w)), t[w + 3]);
    EXPECT_EQ(b.next(static_cast<int>(w)), nullptr);
  }
}

TEST(policy, source_prefers_what_was_created_here) {
  bench b("node:1 core:2", "source");
  kith::task &of_0 = b.task({}, -1, 0), &of_1 = b.task({}, -1, 1);
  b.ready(of_0, 1, ready_reason::completion);
  b.ready(of_1, 0, ready_reason::completion);
  EXPECT_EQ(b.next(0), &of_0);
  EXPECT_EQ(b.next(0), &of_1);  // nothing else is left
}

TEST(policy, socket_obeys_the_programmer) {
  bench b("node:3 core:2", "socket");
  kith::task& t = b.task({}, 2);
  b.ready(t, 0);
  EXPECT_EQ(b.next(0), nullptr);  // no stealing between nodes
  EXPECT_EQ(b.next(4), &t);
  kith::task& unhinted = b.task({}, -1, 3);  // created on node 1
  b.ready(unhinted, 0);
  EXPECT_EQ(b.next(2), &unhinted);
}

TEST(policy, dep_follows_the_bytes) {
  bench b("node:3 core:1", "dep");
  const auto at_0 = b.region(0), at_2 = b.region(2), nowhere = b.region();
  kith::task& t = b.task({{at_0, 100}, {at_2, 150}, {nowhere, 10}});
  b.ready(t);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(2), &t);
  EXPECT_EQ(b.regions[nowhere].home_node(), node_id(2));  // its first task decides the home
}

TEST(policy, dep_draws_the_node_of_new_data_and_of_ties) {
  bench b("node:4 core:1", "dep");
  std::vector<int> drawn(4), tied(4);
  for (int i = 0; i < 400; ++i) {
    const auto fresh = b.region();
    b.ready(b.task({{fresh, 8}}));
    ++drawn[b.regions[fresh].home_node().index()];
    const auto follower = b.region();
    b.ready(b.task({{b.region(1), 8}, {b.region(3), 8}, {follower, 1}}));
    ++tied[b.regions[follower].home_node().index()];
  }
  for (int n : drawn) EXPECT_GT(n, 60);  // 100 expected, deviation 8.7
  EXPECT_EQ(tied[0] + tied[2], 0);
  EXPECT_GT(tied[1], 140);
  EXPECT_GT(tied[3], 140);
}

TEST(policy, dep_is_the_same_for_the_same_seed) {
  std::vector<int> first;
  for (int round = 0; round < 2; ++round) {
    bench b("node:4 core:1", "dep");
    std::vector<int> homes;
    for (int i = 0; i < 50; ++i) {
      const auto r = b.region();
      b.ready(b.task({{r, 8}}));
      homes.push_back(b.regions[r].home_node().value);
    }
    if (round == 0) first = homes;
    EXPECT_EQ(homes, first);
  }
}

TEST(policy, dep_steals_only_when_told_and_only_beyond_the_backlog) {
  bench b("node:2 core:1", "dep:steal=nearest,backlog=1");
  const auto at_0 = b.region(0);
  kith::task &first = b.task({{at_0, 8}}), &second = b.task({{at_0, 8}});
  b.ready(first);
  EXPECT_EQ(b.next(1), nullptr);
  b.ready(second);
  EXPECT_EQ(b.next(1), &first);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(policy, tasks_of_a_node_without_workers_go_to_the_nearest) {
  kith::machine on = kith::synthetic_machine("node:3 core:1 distance:10,30,15/30,10,20/15,20,10");
  kith::team two(on, {node_id(0), node_id(1)});  // no worker on node 2, which is nearer to 0
  EXPECT_EQ(two.served_by(node_id(2)), node_id(0));
  EXPECT_TRUE(two.serving(node_id(2)).contains(worker_id(0)));
  EXPECT_FALSE(two.serving(node_id(2)).contains(worker_id(1)));
  EXPECT_THAT(two.nodes_by_distance(node_id(2)), ElementsAre(node_id(0), node_id(1)));
  for (int n = 0; n < 3; ++n) EXPECT_EQ(two.served_by(node_id(n)), two.nodes_by_distance(node_id(n)).front());
}

TEST(policy, dep_makes_no_home_where_nobody_works) {
  bench b("pack:2 [numa] [numa] core:2", "dep");  // nodes 1 and 3 have no cores
  EXPECT_THAT(b.workers.inhabited(), ElementsAre(node_id(0), node_id(2)));
  std::vector<int> drawn(4);
  for (int i = 0; i < 200; ++i) {
    const auto fresh = b.region();
    b.ready(b.task({{fresh, 8}}));
    ++drawn[b.regions[fresh].home_node().index()];
  }
  EXPECT_GT(drawn[0], 60);  // 100 expected, deviation 7
  EXPECT_GT(drawn[2], 60);
  EXPECT_EQ(drawn[1] + drawn[3], 0);
  // Data on such a node draws the task to the nearest node with workers. What the task touches first has
  // its home there.
  const auto allocated = b.region(1), fresh = b.region();
  b.ready(b.task({{allocated, 100}, {fresh, 8}}));
  EXPECT_EQ(b.regions[fresh].home_node(), b.workers.served_by(node_id(1)));
}

std::string message_of(const std::string& policy) {
  try {
    bench b("node:1 core:1", policy);
  } catch (const kith::error& e) {
    return e.what();
  }
  return "no error";
}

TEST(policy, wrong_choices_are_named) {
  EXPECT_THAT(message_of("stael"), HasSubstr("no policy 'stael'; did you mean 'steal'? There are: auto, fifo, lifo"));
  EXPECT_THAT(message_of("steal:victim=near"),
              HasSubstr("victim=near: expected one of nearest, cyclic, random, nodes"));
  EXPECT_THAT(message_of("steal:batch=0"), HasSubstr("batch=0: expected a whole number from 1 to 1024"));
  EXPECT_THAT(message_of("steal:pace=1"), HasSubstr("has no option 'pace'; it has: victim, end"));
  EXPECT_THAT(message_of("lifo:x=1"), HasSubstr("it has none"));
  EXPECT_THAT(message_of("dep:order"), HasSubstr("expected key=value, found 'order'"));
  EXPECT_THAT(message_of("dep:order=ready,order=ready"), HasSubstr("given twice"));
  EXPECT_EQ(message_of("steal:victim=random,end=fifo"), "no error");
}

}  // namespace
