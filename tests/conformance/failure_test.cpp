// Exceptions and cancellation at every point, under every policy. Nothing may leak (the address sanitizer
// checks that) or hang.
#include "support/matrix.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace {

class failure : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(failure);

struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A chain of 20 tasks, the k-th of which throws: the waiter gets the exception, later tasks are skipped,
/// closures are destroyed.
TEST_P(failure, each_task_of_a_chain) {
  for (int k = 0; k < 20; ++k) {
    auto witness = std::make_shared<int>(0);
    int data = 0;
    EXPECT_THROW(rt.run([&] {
      for (int i = 0; i < 20; ++i) {
        kith::spawn(
            [witness, i, k](int& d) {
              if (i == k) throw fault("planned");
              ++d;
            },
            kith::inout(data));
      }
    }),
                 fault);
    EXPECT_EQ(data, k);
    EXPECT_EQ(witness.use_count(), 1);
  }
}

TEST_P(failure, the_first_of_many_and_the_rest_is_cancelled) {
  std::atomic<int> thrown{0};
  EXPECT_THROW(rt.run([&] {
    for (int i = 0; i < 300; ++i) {
      kith::spawn([&] {
        ++thrown;
        throw fault("one of many");
      });
    }
  }),
               fault);
  EXPECT_GE(thrown, 1);
  int after = 0;
  rt.run([&] { kith::spawn([&] { after = 1; }); });  // the runtime works as before
  EXPECT_EQ(after, 1);
}

TEST_P(failure, from_a_deep_descendant_to_the_root) {
  EXPECT_THROW(rt.run([] { kith::spawn([] { kith::spawn([] { kith::spawn([] { throw fault("deep"); }); }); }); }),
               fault);
}

TEST_P(failure, caught_at_a_wait_inside) {
  bool caught = false, went_on = false;
  rt.run([&] {
    kith::spawn([&] {
      kith::spawn([] { throw fault("caught"); });
      try {
        kith::wait();
      } catch (const fault&) {
        caught = true;
      }
      kith::spawn([&] { went_on = true; });
    });
  });
  EXPECT_TRUE(caught);
  EXPECT_TRUE(went_on);
}

TEST_P(failure, the_creator_throws) {
  auto witness = std::make_shared<int>(0);
  EXPECT_THROW(rt.run([&] {
    for (int i = 0; i < 100; ++i) kith::spawn([witness] {});
    throw fault("creator");
  }),
               fault);
  EXPECT_EQ(witness.use_count(), 1);
}

TEST_P(failure, of_futures) {
  rt.run([] {
    kith::future<int> bad = kith::async([]() -> int { throw fault("in future"); });
    EXPECT_THROW(bad.get(), fault);
    EXPECT_THROW(bad.get(), fault);
  });
  EXPECT_THROW(rt.submit([] { throw fault("submitted"); }).get(), fault);
}

TEST_P(failure, in_a_loop) {
  EXPECT_THROW(rt.run([] {
    kith::parallel_for(0, 1000, [](std::int64_t i) {
      if (i == 500) throw fault("iteration");
    });
  }),
               fault);
}

TEST_P(failure, a_cancelled_group_skips_what_has_not_started) {
  std::atomic<int> ran{0};
  rt.run([&] {
    int gate = 0;
    kith::group g;
    g.spawn([&](int&) { g.cancel(); }, kith::out(gate));
    for (int i = 0; i < 100; ++i) g.spawn([&](const int&) { ++ran; }, kith::in(gate));
    g.wait();
    EXPECT_FALSE(g.cancelled());  // usable again
    g.spawn([&] { ran += 1000; });
    g.wait();
  });
  EXPECT_EQ(ran, 1000);
}

TEST_P(failure, the_function_of_a_run_cancels_children_that_it_creates_later) {
  std::atomic<int> ran{0};
  rt.run([&] {
    kith::cancel();
    for (int i = 0; i < 10; ++i) kith::spawn([&] { ++ran; });
    kith::wait();
    kith::spawn([&] { ran += 100; });
  });
  EXPECT_EQ(ran, 100);
}

TEST_P(failure, descendants_of_a_cancelled_scope_are_skipped) {
  std::atomic<int> ran{0};
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      g.cancel();
      EXPECT_TRUE(kith::cancelled());
      for (int i = 0; i < 50; ++i) kith::spawn([&] { ++ran; });
    });
    g.wait();
  });
  EXPECT_EQ(ran, 0);
}

TEST_P(failure, a_future_of_a_cancelled_task_says_so) {
  rt.run([&] {
    kith::spawn([] {
      int gate = 0;
      kith::spawn([](int&) { kith::cancel(); }, kith::out(gate));
      auto never = kith::async([](const int&) { return 1; }, kith::in(gate));
      EXPECT_THROW(never.get(), kith::error);
    });
  });
}

TEST_P(failure, of_a_submitted_task_is_not_that_of_another) {
  std::atomic<int> ran{0};
  std::atomic<bool> busy{false}, go{false};
  std::thread guest([&] {
    rt.run([&] {
      busy = true;
      while (!go) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) kith::spawn([&] { ++ran; });
    });
  });
  while (!busy) std::this_thread::yield();
  // Both are handed over, or wait for a seat. The first one's child fails, which must not affect the other.
  auto failing = rt.submit([] {
    kith::spawn([] { throw std::runtime_error("child"); });
    kith::cancel();
  });
  std::thread second([&] {
    rt.run([&] {
      for (int i = 0; i < 20; ++i) kith::spawn([&] { ++ran; });
    });
  });
  go = true;
  guest.join();
  second.join();
  try {
    failing.get();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), "child");  // unless it was cancelled in time
  }
  rt.wait();
  EXPECT_EQ(ran, 40);
}

TEST_P(failure, a_longer_range_at_a_known_address_is_checked_anew) {
  std::vector<int> v(100);
  rt.run([&] {
    kith::spawn([&] { v[0] = 1; }, kith::out(v.data(), 50));
    kith::spawn([](std::span<const int> all) { EXPECT_EQ(all[0], 1); }, kith::in(v.data(), 70));
    kith::spawn([] {}, kith::out(v.data() + 70, 30));
    EXPECT_THROW(kith::spawn([] {}, kith::in(v.data(), 71)), kith::error);
    kith::wait();  // forgets the ranges
    kith::spawn([] {}, kith::in(v.data(), 100));
  });
}

TEST_P(failure, overlaps_of_handles_where_they_are_checked) {
  kith::runtime_options o = GetParam().options();
  o.check_handles = true;
  kith::runtime checked(o);
  std::vector<int> v(100);
  checked.run([&] {
    kith::handle<int[]> left(v.data(), 50), over(v.data() + 40, 20), same(v.data(), 50), right(v.data() + 50, 50);
    kith::spawn([] {}, kith::out(left));
    kith::spawn([] {}, kith::in(left), kith::inout(right));
    EXPECT_THROW(kith::spawn([] {}, kith::in(over)), kith::error);
    EXPECT_THROW(kith::spawn([] {}, kith::in(same)), kith::error);
    EXPECT_THROW(kith::spawn([] {}, kith::in(v.data(), 50)), kith::error);
    kith::wait();
    kith::spawn([] {}, kith::in(v.data(), 60));
    EXPECT_THROW(kith::spawn([] {}, kith::out(left)), kith::error);
  });
}

TEST_P(failure, a_partial_overlap_is_named_and_nothing_is_lost) {
  std::vector<double> v(100);
  std::atomic<int> ran{0};
  static const kith::task_type left{"left"};
  try {
    rt.run([&] {
      kith::spawn([&] { ++ran; }, left, kith::out(v.data(), 60));
      kith::spawn([&] { ran += 100; }, kith::name("right"), kith::in(v.data() + 40, 60));
    });
    FAIL() << "no error";
  } catch (const kith::error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'left'"), std::string::npos) << text;
    EXPECT_NE(text.find("'right'"), std::string::npos) << text;
    EXPECT_NE(text.find("480 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("neither contains the other"), std::string::npos) << text;
    EXPECT_NE(text.find("or wait() between the two"), std::string::npos) << text;
  }
  EXPECT_LE(ran, 1);
  // After a wait, the data may be divided differently.
  rt.run([&] {
    kith::spawn([] {}, kith::out(v.data(), 60));
    kith::wait();
    kith::spawn([] {}, kith::out(v.data() + 40, 60));
  });
}

}  // namespace
