// Tasks that follow others, and waits with a limit, under every policy.
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using kith::test::scaled;
using std::chrono::milliseconds;

class futures : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(futures);

struct async_fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_P(futures, a_follower_gets_the_value) {
  rt.run([] {
    const kith::future<int> six = kith::async([] { return 6; });
    const kith::future<std::string> text =
        six.then([](int n) { return n * 7; }).then([](const int& n) { return std::to_string(n); });
    EXPECT_EQ(text.get(), "42");
    EXPECT_EQ(six.get(), 6);  // the value stays in the future
    int effect = 0;
    const kith::future<void> nothing = six.then([&] { effect = 1; });
    nothing.then([&] { effect += 1; }).wait();
    EXPECT_EQ(effect, 2);
    // A value that cannot be copied is taken out of the future.
    const auto own = kith::async([] { return std::make_unique<int>(5); });
    EXPECT_EQ(own.then([](kith::future<std::unique_ptr<int>> f) { return *f.take(); }).get(), 5);
  });
}

/// A wait here would need as many stacks as the chain has links.
TEST_P(futures, nothing_waits_between_followers) {
  const int length = scaled(2000);
  rt.run([&] {
    kith::future<int> last = kith::async([] { return 0; });
    for (int i = 0; i < length; ++i) last = last.then([](int n) { return n + 1; });
    EXPECT_EQ(last.get(), length);
  });
  EXPECT_EQ(rt.submit([] { return 1; }).then([](int n) { return n + 1; }).get(), 2);
}

TEST_P(futures, exceptions_pass_to_whoever_asks_last) {
  rt.run([] {
    bool called = false;
    const kith::future<int> bad = kith::async([]() -> int { throw async_fault("first"); });
    const kith::future<void> next = bad.then([&](int) { called = true; }).then([&] { called = true; });
    EXPECT_THROW(next.get(), async_fault);
    EXPECT_FALSE(called);
    const kith::future<int> mended = bad.then([](const kith::future<int>& f) {
      try {
        return f.get();
      } catch (const async_fault&) {
        return -1;
      }
    });
    EXPECT_EQ(mended.get(), -1);
    EXPECT_THROW(mended.then([](int) { throw async_fault("second"); }).get(), async_fault);
  });
}

TEST_P(futures, cancellation_passes_on) {
  rt.run([&] {
    kith::spawn([] {
      int gate = 0;
      kith::spawn([](int&) { kith::cancel(); }, kith::out(gate));
      const auto never = kith::async([](const int&) { return 1; }, kith::in(gate));
      const auto after_it = never.then([](int n) { return n; });
      EXPECT_THROW(after_it.get(), kith::error);
      EXPECT_THROW(kith::when_all(never, after_it).get(), kith::error);
    });
  });
}

TEST_P(futures, all_of_several) {
  rt.run([] {
    const auto one = kith::async([] { return 1; });
    const auto nothing = kith::async([] {});
    const auto text = kith::async([] { return std::string("two"); });
    const auto all = kith::when_all(one, nothing, text);
    EXPECT_EQ(std::get<2>(all.get()).get(), "two");
    EXPECT_EQ(all.then([](int n, const std::string& s) { return s + std::to_string(n); }).get(), "two1");
    EXPECT_TRUE(one.ready() && nothing.ready() && text.ready());

    std::vector<kith::future<int>> many;
    for (int i = 0; i < 100; ++i) many.push_back(kith::async([i] { return i; }));
    const auto sum = kith::when_all(many).then([](const std::vector<kith::future<int>>& ready) {
      int s = 0;
      for (const auto& f : ready) s += f.get();
      return s;
    });
    EXPECT_EQ(sum.get(), 4950);
    EXPECT_TRUE(kith::when_all(std::vector<kith::future<int>>()).get().empty());
  });
}

TEST_P(futures, the_first_failure_of_several_when_all_have_ended) {
  rt.run([] {
    std::atomic<int> ended{0};
    std::vector<kith::future<void>> many;
    for (int i = 0; i < 40; ++i) {
      many.push_back(kith::async([i, &ended] {
        ++ended;
        if (i % 2 == 1) throw async_fault(std::to_string(i));
      }));
    }
    int ended_then = 0;
    const auto all = kith::when_all(many);
    const auto looked = all.then([&](const kith::future<std::vector<kith::future<void>>>&) { ended_then = ended; });
    looked.wait();
    EXPECT_EQ(ended_then, 40);
    try {
      all.get();
      ADD_FAILURE() << "no exception";
    } catch (const async_fault& e) {
      EXPECT_STREQ(e.what(), "1");
    }
  });
}

TEST_P(futures, followers_have_options_and_accesses) {
  int data = 0;
  rt.run([&] {
    kith::spawn([](int& d) { d = 5; }, kith::out(data));
    const auto two = kith::async([] { return 2; });
    const auto seven = two.then([&](int n) { return data += n; }, kith::inout(data), kith::name("seven"));
    int seen = 0;
    kith::spawn([&](const int& d) { seen = d; }, kith::in(data));
    EXPECT_EQ(seven.get(), 7);
    kith::wait();
    EXPECT_EQ(seen, 7);
  });
}

TEST_P(futures, follow_each_other_from_outside_and_between_runtimes) {
  kith::runtime other(GetParam().options());
  const kith::future<int> here = rt.submit([] { return 20; });
  EXPECT_EQ(here.then([](int n) { return n + 1; }).get(), 21);
  EXPECT_EQ(kith::when_all(here, rt.submit([] { return 2; })).then([](int a, int b) { return a + b; }).get(), 22);
  other.run([&] {  // not inside a task of `rt`: as if submitted
    const kith::future<bool> there = here.then([](int n) { return n == 20; });
    EXPECT_TRUE(there.get());
  });
  const kith::future<int> elsewhere = other.submit([] { return 1; });
  EXPECT_THROW(static_cast<void>(kith::when_all(here, elsewhere)), kith::error);
  rt.wait();
  other.wait();
}

/// The task waits for something that happens only after it has returned from waiting.
TEST_P(futures, a_wait_ends_in_time) {
  kith::runtime other;
  std::atomic<bool> open{false};
  const kith::future<int> late = other.submit([&] {
    while (!open) std::this_thread::yield();
    return 1;
  });
  rt.run([&] {
    EXPECT_FALSE(late.wait_for(milliseconds(2)));
    EXPECT_FALSE(late.wait_for(milliseconds(0)));
    EXPECT_FALSE(late.wait_for(milliseconds(-5)));
    EXPECT_FALSE(late.wait_until(std::chrono::steady_clock::now() + milliseconds(1)));
    EXPECT_FALSE(late.wait_until(std::chrono::system_clock::now() + milliseconds(1)));
    // Several at once, on one worker or on several.
    for (int i = 0; i < 5; ++i) kith::spawn([&] { EXPECT_FALSE(late.wait_for(milliseconds(1))); });
    kith::wait();
  });
  EXPECT_FALSE(late.wait_for(milliseconds(1)));  // a thread that runs no task
  open = true;
  EXPECT_TRUE(late.wait_for(std::chrono::hours::max()));
  EXPECT_TRUE(late.wait_until(std::chrono::steady_clock::time_point::max()));
  rt.run([&] { EXPECT_TRUE(late.wait_for(std::chrono::hours(1))); });
}

/// The future becomes ready only if the waiting worker runs other tasks.
TEST_P(futures, a_wait_with_a_bound_runs_tasks_meanwhile) {
  kith::runtime other;
  std::atomic<int> ran{0};
  const kith::future<void> late = other.submit([&] {
    while (ran < 5) std::this_thread::yield();
  });
  rt.run([&] {
    for (int i = 0; i < 5; ++i) kith::spawn([&] { ++ran; });
    EXPECT_TRUE(late.wait_for(std::chrono::hours(1)));
  });
}

TEST_P(futures, a_wait_with_a_bound_ends_when_the_task_does) {
  rt.run([] {
    for (int i = 0; i < scaled(20); ++i) {
      const kith::future<int> f = kith::async([i] { return i; });
      EXPECT_TRUE(f.wait_for(std::chrono::hours(1)));
      EXPECT_EQ(f.get(), i);
    }
  });
  EXPECT_TRUE(rt.submit([] {}).wait_for(std::chrono::hours(1)));
}

}  // namespace
