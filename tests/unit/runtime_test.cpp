// The runtime as an object: starting, stopping, sleeping, options, statistics.
#include "support/scale.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <thread>
#include <tuple>

namespace {

using kith::test::make_options;
using kith::test::scaled;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(runtime, start_and_stop_in_a_loop) {
  for (int i = 0; i < scaled(100); ++i) {
    std::atomic<int> ran{0};
    kith::runtime rt(make_options(1 + i % 5));
    if (i % 3 == 0) continue;  // never used
    rt.run([&] {
      for (int k = 0; k < i % 7; ++k) kith::spawn([&] { ++ran; });
    });
    EXPECT_EQ(ran, i % 7);
    if (i % 4 == 0) std::ignore = rt.submit([&] { ++ran; });  // still running when the destructor begins
  }
}

/// Each task wakes worker 0's stand-in, which often finds that another worker has run it already.
TEST(runtime, tasks_from_outside_one_at_a_time_are_run_to_the_last) {
  kith::runtime_options o = make_options(2);
  o.policy = "dfifo:steal=off";  // no other worker runs worker 0's tasks
  kith::runtime rt(o);
  std::atomic<int> ran{0};
  for (int i = 0; i < scaled(3000); ++i) {
    std::ignore = rt.submit([&] { ++ran; });
    rt.wait();
  }
  EXPECT_EQ(ran, scaled(3000));
}

TEST(runtime, the_destructor_waits_for_what_was_submitted) {
  std::atomic<int> ran{0};
  {
    kith::runtime rt(make_options(2));
    for (int i = 0; i < 50; ++i) {
      std::ignore = rt.submit([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        ++ran;
      });
    }
  }
  EXPECT_EQ(ran, 50);
}

TEST(runtime, several_side_by_side_and_inside_each_other) {
  kith::runtime a(make_options(2)), b(make_options(3, "dfifo"));
  std::atomic<int> ran{0};
  a.run([&] {
    for (int i = 0; i < 20; ++i) {
      kith::spawn([&] {
        b.run([&] {
          EXPECT_GE(kith::this_worker(), 0);
          for (int k = 0; k < 5; ++k) kith::spawn([&] { ++ran; });
        });
        auto f = b.submit([&] { return ++ran > 0; });
        EXPECT_TRUE(f.get());
      });
    }
  });
  EXPECT_EQ(ran, 120);
  EXPECT_EQ(kith::this_worker(), -1);
}

double process_seconds() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(r.ru_utime) + seconds(r.ru_stime);
}

TEST(runtime, idle_workers_sleep) {
  kith::runtime rt(make_options(4));
  rt.run([] { kith::spawn([] {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the spinning phase is over
  const double before = process_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(process_seconds() - before, 0.05);
}

TEST(runtime, a_task_wakes_a_sleeper_each_time) {
  kith::runtime_options o = make_options(2);
  o.spin = 0;
  kith::runtime rt(o);
  for (int i = 0; i < scaled(2000); ++i) {
    std::atomic<bool> ran{false};
    rt.run([&] {
      kith::spawn([&] { ran = true; });
      // Not a wait, so only the other worker can run it.
      while (!ran) std::this_thread::yield();
    });
  }
}

TEST(runtime, the_time_to_the_first_steal_is_that_of_one_run) {
  kith::runtime rt(make_options(2));
  double longest = 0;
  for (int run = 0; run < 20; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    rt.run([] {
      std::atomic<bool> stolen{false};
      kith::spawn([&] { stolen = true; });
      while (!stolen) std::this_thread::yield();  // only a thief can run it
    });
    longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const kith::statistics s = rt.statistics();
  EXPECT_EQ(s.total.steals, 20u);
  EXPECT_GT(s.workers[1].first_steal_seconds, 0);
  EXPECT_LE(s.workers[1].first_steal_seconds, longest);
}

TEST(runtime, options_that_are_wrong_are_named) {
  auto message_of = [](const kith::runtime_options& o) {
    try {
      kith::runtime rt(o);
    } catch (const kith::error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message_of(make_options(1, "nonsense")), HasSubstr("nonsense"));
  for (const char* wrong : {"node:x", ":", "0", "no such machine", "/no/such.xml"}) {
    EXPECT_THAT(message_of(make_options(1, "steal", wrong)),
                AllOf(StartsWith("machine: "), HasSubstr(wrong), HasSubstr("expected ")));
  }
  kith::runtime_options o = make_options(1);
  o.stack_bytes = 4096;
  EXPECT_THAT(message_of(o), HasSubstr("runtime_options::stack_bytes = 4096: expected 1048576"));
  const auto refused = [&](auto member, auto value) {
    kith::runtime_options wrong = make_options(1, "steal", "node:1 core:1");
    wrong.*member = value;
    return message_of(wrong);
  };
  EXPECT_THAT(refused(&kith::runtime_options::throttle, -3),
              HasSubstr("runtime_options::throttle = -3: expected 0 to"));
  EXPECT_THAT(refused(&kith::runtime_options::spin, -7), HasSubstr("runtime_options::spin = -7"));
  EXPECT_THAT(refused(&kith::runtime_options::awake, -8), HasSubstr("runtime_options::awake = -8"));
  EXPECT_THAT(refused(&kith::runtime_options::inline_limit, -9), HasSubstr("runtime_options::inline_limit = -9"));
  EXPECT_THAT(refused(&kith::runtime_options::workers, 0), HasSubstr("workers = 0: expected a number from 1"));
  EXPECT_THAT(refused(&kith::runtime_options::policy, ""), HasSubstr("no policy ''"));
  EXPECT_THAT(refused(&kith::runtime_options::bind, ":"),
              HasSubstr("bind = ':': expected cores, caches, nodes, off or auto"));
  for (const char* wrong : {"", ":", "node:", "node:-1", "huge", "fine,", "fine,huge,huge"})
    EXPECT_THAT(refused(&kith::runtime_options::memory, wrong),
                HasSubstr("memory '" + std::string(wrong) + "': expected system, fine, coarse"));
  EXPECT_THAT(refused(&kith::runtime_options::stack_bytes, ~std::size_t{4}), HasSubstr("runtime_options::stack_bytes"));
  setenv("KITH_SPIN", "q", 1);
  EXPECT_THAT(message_of(make_options(1, "steal", "node:1 core:1")), HasSubstr("KITH_SPIN=q"));
  unsetenv("KITH_SPIN");
  setenv("KITH_THROTTLE", "many", 1);
  EXPECT_THAT(message_of(make_options(1)), HasSubstr("KITH_THROTTLE=many: expected a number"));
  unsetenv("KITH_THROTTLE");
  setenv("KITH_POLICY", "lifo", 1);
  EXPECT_EQ(kith::runtime().policy(), "lifo");
  setenv("KITH_POLICY", "steal:victim=me", 1);
  EXPECT_THAT([] { kith::runtime wrong; },
              testing::ThrowsMessage<kith::error>(StartsWith("KITH_POLICY: policy 'steal': victim=me")));
  unsetenv("KITH_POLICY");
  setenv("KITH_MEMORY", "everywhere", 1);
  EXPECT_THAT([] { kith::runtime wrong; }, testing::ThrowsMessage<kith::error>(StartsWith("KITH_MEMORY: ")));
  unsetenv("KITH_MEMORY");
}

TEST(runtime, statistics_after_wait_have_the_time_of_what_was_submitted) {
  kith::runtime rt(make_options(1));
  for (int i = 0; i < 100; ++i) {
    std::ignore = rt.submit([] {});
    rt.wait();
    EXPECT_GT(rt.statistics().seconds, 0) << i;
    rt.reset_statistics();
  }
}

TEST(runtime, cancel_in_run_skips_its_own_tasks) {
  kith::runtime rt(make_options(1));
  int ran = 0;
  rt.run([&] {
    for (int i = 0; i < 10; ++i) kith::spawn([&] { ++ran; });
    kith::cancel();
  });
  EXPECT_EQ(ran, 0);
  rt.run([&] { kith::spawn([&] { ++ran; }); });
  EXPECT_EQ(ran, 1);
}

TEST(runtime, misuse_is_an_error) {
  EXPECT_THROW(kith::spawn([] {}), kith::error);
  EXPECT_THROW(kith::wait(), kith::error);
  EXPECT_THROW(kith::group(), kith::error);
  EXPECT_THROW(kith::future<int>().get(), kith::error);
  EXPECT_EQ(kith::this_worker(), -1);
  EXPECT_FALSE(kith::cancelled());
  kith::runtime rt(make_options(2));
  rt.run([&] { EXPECT_THROW(rt.wait(), kith::error); });
}

TEST(runtime, statistics_are_sums_over_the_run) {
  kith::runtime rt(make_options(3));
  rt.run([] {
    for (int i = 0; i < 500; ++i) kith::spawn([] {});
  });
  kith::statistics s = rt.statistics();
  EXPECT_EQ(s.total.tasks, 500u);
  EXPECT_EQ(s.total.created, 500u);
  EXPECT_EQ(s.workers.size(), 3u);
  EXPECT_GT(s.seconds, 0);
  EXPECT_GT(s.load_balance_percent, 0);
  EXPECT_LE(s.load_balance_percent, 100.0001);
  EXPECT_EQ(s.remote_access_percent, 0);
  rt.reset_statistics();
  EXPECT_EQ(rt.statistics().total.tasks, 0u);
  EXPECT_EQ(rt.statistics().seconds, 0);
}

TEST(runtime, remote_accesses_on_a_pretended_machine) {
  // The worker of node 0 places everything. Then tasks that are hinted to node 1 read it.
  kith::runtime rt(make_options(2, "socket", "node:2 core:1"));
  std::vector<double> block(1000);
  rt.run([&] {
    kith::spawn([](std::span<double>) {}, kith::out(block), kith::node{0});
    for (int i = 0; i < 10; ++i) kith::spawn([](std::span<const double>) {}, kith::in(block), kith::node{1});
  });
  const kith::statistics s = rt.statistics();
  EXPECT_TRUE(s.pretended);
  EXPECT_EQ(s.local_accesses, 1u);    // the first task
  EXPECT_EQ(s.remote_accesses, 20u);  // each reader: itself, and what it reads
  EXPECT_NEAR(s.remote_access_percent, 100.0 * 20 / 21, 1e-9);
}

TEST(runtime, colors_decide_what_is_remote) {
  kith::runtime rt(make_options(2, "socket", "node:2 core:1"));
  rt.run([&] {
    kith::spawn([] {}, kith::node{0}, kith::color{0});
    kith::spawn([] {}, kith::node{0}, kith::color{1});
    kith::spawn([] {}, kith::node{0}, kith::color{77});  // no worker has this color
  });
  EXPECT_EQ(rt.statistics().local_accesses, 1u);
  EXPECT_EQ(rt.statistics().remote_accesses, 2u);
}

TEST(runtime, priorities_have_three_levels) {
  kith::runtime rt(make_options(1, "steal"));
  rt.run([] {
    try {
      kith::spawn([] {}, static_cast<kith::priority>(3));
      ADD_FAILURE() << "it was created";
    } catch (const kith::error& e) {
      EXPECT_STREQ(e.what(), "kith::priority{3}: expected normal, high or low");
    }
  });
}

/// Tasks without predecessors leave a deque newest first, the papers' queues oldest first.
TEST(runtime, policies_for_nodes_have_deques_where_one_node_has_all_workers) {
  const auto order_under = [](const std::string& policy) {
    kith::runtime_options o = make_options(1, policy, "node:1 core:1");
    o.inline_limit = 0;
    kith::runtime rt(o);
    std::vector<int> order;
    rt.run([&] {
      for (int i = 0; i < 3; ++i) kith::spawn([&order, i] { order.push_back(i); });
    });
    return order;
  };
  for (const std::string policy : {"numa", "socket", "dep", "rip-dep", "rip-mw"}) {
    EXPECT_EQ(order_under(policy), (std::vector{2, 1, 0})) << policy;
    EXPECT_EQ(order_under(policy + ":queue=node"), (std::vector{0, 1, 2})) << policy;
    EXPECT_EQ(order_under(policy + ":order=created"), (std::vector{0, 1, 2})) << policy;
  }
}

TEST(runtime, a_region_that_is_named_twice_counts_once) {
  // 60 bytes have their home on node 0, and 2 x 40 bytes on node 1. `dep` must choose node 0.
  kith::runtime rt(make_options(2, "dep", "node:2 core:1"));
  std::vector<char> a(60), b(40);
  bool settled = false;
  for (int attempt = 0; attempt < 50 && !settled; ++attempt) {  // homes of new data are drawn
    a = std::vector<char>(60 + static_cast<std::size_t>(attempt) * 64);
    b = std::vector<char>(a.size() * 2 / 3);
    int home_a = -1, home_b = -1, ran_on = -1;
    rt.run([&] {
      kith::spawn([&] { home_a = kith::this_worker(); }, kith::out(a));
      kith::spawn([&] { home_b = kith::this_worker(); }, kith::out(b));
      kith::wait();
      kith::spawn([&] { ran_on = kith::this_worker(); }, kith::in(a), kith::in(b), kith::out(b));
    });
    if (home_a == home_b) continue;
    settled = true;
    EXPECT_EQ(ran_on, home_a);
  }
  EXPECT_TRUE(settled);
  EXPECT_THROW(rt.run([] { kith::spawn([] {}, kith::node{255}); }), kith::error);
}

TEST(runtime, large_closures_and_many_accesses) {
  kith::runtime rt(make_options(2));
  std::array<double, 100> big{};
  big[99] = 7;
  std::vector<int> cells(600);
  double seen = 0;
  rt.run([&] {
    kith::access_list all;
    for (int& c : cells) all.add(kith::inout(c));
    for (int round = 0; round < 3; ++round) {
      kith::spawn(
          [&seen, big, &cells] {
            seen = big[99];
            for (int& c : cells) ++c;
          },
          all);
    }
    struct alignas(64) wide {
      double x[8];
    };
    wide w{};
    kith::spawn([w] { EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 64, 0u); });
  });
  EXPECT_EQ(seen, 7);
  for (int c : cells) EXPECT_EQ(c, 3);
}

TEST(runtime, handles_in_other_scopes_and_runs) {
  kith::runtime rt(make_options(3));
  int x = 0;
  kith::handle<int> h(x);
  for (int round = 0; round < 5; ++round) {
    rt.run([&] {
      kith::spawn([](int& v) { ++v; }, kith::inout(h));
      kith::spawn(
          [&h] {  // another scope: found by address there
            for (int i = 0; i < 10; ++i) kith::spawn([](int& v) { ++v; }, kith::inout(h));
          },
          kith::inout(h));
      kith::spawn([](int& v) { v *= 2; }, kith::inout(h));
    });
  }
  int expected = 0;
  for (int round = 0; round < 5; ++round) expected = (expected + 11) * 2;
  EXPECT_EQ(x, expected);
}

/// Twelve chains of tasks on four megabytes each: `auto` learns that a node with room for one had better run one.
TEST(runtime, a_worker_that_waited_for_chains_keeps_nobody_from_the_next_ones) {
  constexpr std::size_t chains = 12, bytes = 4 << 20;
  const kith::task_type type("link");
  kith::runtime_options o = make_options(8, "auto", KITH_TEST_DATA "/machines/small-caches.toml");
  o.throttle = 0;
  kith::runtime rt(o);
  const std::unique_ptr<std::byte[]> room(new std::byte[chains * bytes]);  // never touched
  std::array<std::atomic<int>, 2> running{};                               // by node
  std::atomic<int> left{0};
  std::atomic<bool> created{false};
  const auto link = [&](std::size_t c, auto body) {
    kith::spawn(body, kith::inout(room.get() + c * bytes, bytes), type);
  };
  const auto go_on = [&](int links) {
    created = false;
    for (int i = 0; i < links; ++i) {
      for (std::size_t c = 0; c < chains; ++c) {
        link(c, [&] {
          while (!created) std::this_thread::yield();  // else workers are faster than the creator of their chains
          std::atomic<int>& here = running[static_cast<std::size_t>(kith::this_worker()) / 4];
          std::this_thread::sleep_for(std::chrono::microseconds(++here > 1 ? 1000 : 50));
          --here;
        });
      }
    }
    created = true;
    kith::wait();
  };
  rt.run([&] {
    go_on(300);
    for (int round = 0; round < 10; ++round) {
      go_on(4);
      left = chains;
      for (std::size_t c = 0; c < chains; ++c) link(c, [&] { --left; });
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (left != 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();  // not kith::wait
      ASSERT_EQ(left, 0);
    }
  });
}

}  // namespace
