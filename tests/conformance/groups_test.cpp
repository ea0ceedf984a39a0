// Groups that are filled by their own tasks, and the rights of tasks to use a group, under every policy.
#include "support/matrix.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

namespace {

using kith::test::scaled;
using testing::HasSubstr;
using testing::ThrowsMessage;

class groups : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(groups);

/// A tree of tasks that all belong to the group.
void grow(kith::group& g, int depth, std::atomic<int>& ran) {
  ++ran;
  for (int c = 0; c < 2 && depth > 0; ++c) g.spawn([&g, depth, &ran] { grow(g, depth - 1, ran); });
}

TEST_P(groups, are_filled_by_their_own_tasks) {
  const int depth = kith::test::sanitized ? 6 : 10;
  std::atomic<int> ran{0};
  rt.run([&] {
    kith::group g;
    for (int round = 1; round <= 5; ++round) {
      g.spawn([&] { grow(g, depth, ran); });
      g.wait();
      EXPECT_EQ(ran, round * ((2 << depth) - 1));
    }
  });
}

TEST_P(groups, are_filled_by_tasks_below_their_own) {
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int round = 1; round <= scaled(20); ++round) {
      kith::group g;
      for (int t = 0; t < 5; ++t) {
        g.spawn([&] {
          for (int c = 0; c < 3; ++c) kith::spawn([&] { kith::spawn([&] { g.spawn([&] { ++ran; }); }); });
        });
      }
      g.wait();
      EXPECT_EQ(ran, round * 15);
    }
  });
}

TEST_P(groups, do_not_end_while_a_task_of_theirs_may_still_fill_them) {
  // Under these policies every link closes a window, and is partitioned.
  const bool windows = GetParam().policy.starts_with("rip-mw") && !GetParam().machine.empty();
  const int rounds = scaled(windows ? 10 : 50);
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int round = 0; round < rounds; ++round) {
      kith::group g;
      std::atomic<int> inside{0};
      // A chain: while a link makes the next one, it is the only task of the group.
      struct link {
        kith::group& g;
        std::atomic<int>& inside;
        void operator()(int left) const {
          ++inside;
          if (left > 0) g.spawn([*this, left] { (*this)(left - 1); });
        }
      };
      g.spawn([&] { link{g, inside}(20); });
      g.wait();
      ran += inside;
    }
  });
  EXPECT_EQ(ran, rounds * 21);
}

TEST_P(groups, a_task_of_one_may_wait_for_what_it_put_there) {
  std::atomic<int> sum{0};
  rt.run([&] {
    kith::group g;
    for (int t = 0; t < 10; ++t) {
      g.spawn([&] {
        kith::future<int> f = kith::async([&] {
          g.spawn([&] { ++sum; });
          return 1;
        });
        sum += f.get();
      });
    }
    g.wait();
    EXPECT_EQ(sum, 20);
  });
}

TEST_P(groups, get_what_a_task_that_was_made_inside_throws) {
  rt.run([&] {
    kith::group g;
    g.spawn([&] { g.spawn([] { throw std::runtime_error("from within"); }); });
    EXPECT_THAT([&] { g.wait(); }, ThrowsMessage<std::runtime_error>("from within"));
    std::atomic<int> ran{0};
    g.spawn([&] { g.spawn([&] { ++ran; }); });
    g.wait();
    EXPECT_EQ(ran, 1);
  });
}

TEST_P(groups, that_were_cancelled_skip_what_their_tasks_make) {
  std::atomic<int> ran{0};
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      g.cancel();
      for (int i = 0; i < 10; ++i) g.spawn([&] { ++ran; });
    });
    g.wait();
  });
  EXPECT_EQ(ran, 0);
}

TEST_P(groups, are_throttled_where_their_tasks_fill_them) {
  kith::runtime_options o = GetParam().options();
  o.throttle = 8;
  kith::runtime few(o);
  std::atomic<int> ran{0};
  const int count = scaled(500);  // the bound is far below it
  few.run([&] {
    kith::group g;
    for (int t = 0; t < 2; ++t) {
      g.spawn([&] {
        for (int i = 0; i < count; ++i) g.spawn([&] { ++ran; });
      });
    }
    g.wait();
  });
  EXPECT_EQ(ran, 2 * count);
}

TEST_P(groups, take_no_accesses_and_predecessors_from_their_tasks) {
  int data = 0;
  rt.run([&] {
    kith::group g;
    const kith::task_ref before = g.spawn([] {});
    g.spawn([&] {
      EXPECT_THAT([&] { g.spawn([] {}, kith::inout(data)); },
                  ThrowsMessage<kith::error>(testing::AllOf(HasSubstr("a task of the group"), HasSubstr("accesses"))));
      EXPECT_THAT(
          [&] { g.spawn([] {}, kith::after(before)); },
          ThrowsMessage<kith::error>(testing::AllOf(HasSubstr("a task of the group"), HasSubstr("predecessors"))));
      EXPECT_THAT([&] { g.wait(); }, ThrowsMessage<kith::error>(HasSubstr("did not make the group")));
    });
    g.wait();
  });
}

TEST_P(groups, are_closed_to_all_others) {
  rt.run([&] {
    kith::group g, other;
    const auto refused = [&] {
      EXPECT_THAT([&] { g.spawn([] {}); }, ThrowsMessage<kith::error>(HasSubstr("neither made the group")));
      EXPECT_THAT([&] { g.wait(); }, ThrowsMessage<kith::error>(HasSubstr("did not make the group")));
    };
    kith::spawn(refused);
    kith::wait();
    other.spawn(refused);
    other.wait();
    std::thread outside([&] {
      EXPECT_THAT([&] { g.spawn([] {}); }, ThrowsMessage<kith::error>(HasSubstr("no task runs on this thread")));
      EXPECT_THAT([&] { g.wait(); }, ThrowsMessage<kith::error>(HasSubstr("did not make the group")));
    });
    outside.join();
    kith::runtime_options one;
    one.workers = 1;
    one.oversubscribe = true;
    kith::runtime another(one);
    another.run(
        [&] { EXPECT_THAT([&] { g.spawn([] {}); }, ThrowsMessage<kith::error>(HasSubstr("neither made the group"))); });
    int ran = 0;  // the group still works
    g.spawn([&] { ++ran; });
    g.wait();
    EXPECT_EQ(ran, 1);
  });
}

}  // namespace
