// Tests the checker itself: it must find known bugs, and pass programs that are known to be right.
#include "base/atomic.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace kith {
namespace {

namespace il = kith::interleave;

// ---- only interleavings

struct counter {
  atomic<int> value{0};
};

TEST(Checker, FindsALostUpdate) {
  const auto r = il::explore({.preemptions = 1}, [](il::program& p) {
    auto s = std::make_shared<counter>();
    const auto increment = [=] { s->value.store(s->value.load(relaxed) + 1, relaxed); };
    p.thread(increment);
    p.thread(increment);
    p.after([=] { il::check(s->value.load() == 2, "both increments count"); });
  });
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.failure.find("both increments count"), std::string::npos) << r.failure;
}

TEST(Checker, PassesAnAtomicIncrementExhaustively) {
  const auto r = il::explore({.preemptions = 10}, [](il::program& p) {
    auto s = std::make_shared<counter>();
    for (int i = 0; i < 3; ++i) p.thread([=] { s->value.fetch_add(1, relaxed); });
    p.after([=] { il::check(s->value.load() == 3, "all increments count"); });
  });
  EXPECT_TRUE(r.ok) << r.report;
  EXPECT_TRUE(r.exhaustive);
  EXPECT_GE(r.schedules, 6u);
}

TEST(Checker, NeedsTwoPreemptionsForABugOfDepthTwo) {
  // The second thread must run between the first's two stores, and the first between the second's two loads.
  const auto program = [](il::program& p) {
    auto s = std::make_shared<std::pair<atomic<int>, atomic<int>>>();
    p.thread([=] {
      s->first.store(1);
      s->second.store(1);
    });
    p.thread([=] {
      const int first = s->first.load();
      const int second = s->second.load();
      const int again = s->second.load();
      il::check(!(first == 1 && second == 0 && again == 1), "nobody was between");
    });
  };
  EXPECT_TRUE(il::explore({.preemptions = 1, .store_buffers = false}, program).ok);
  const auto r = il::explore({.preemptions = 2, .store_buffers = false}, program);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.preemptions, 2);
}

// ---- store buffers

enum class fences { none, full, on_one_side_and_process_on_the_other };

void dekker(il::program& p, fences kind) {
  struct state {
    atomic<int> flag[2];
    int inside = 0;
  };
  auto s = std::make_shared<state>();
  for (std::size_t i = 0; i < 2; ++i) {
    p.thread([=] {
      s->flag[i].store(1, relaxed);
      if (kind == fences::full) full_fence();
      if (kind == fences::on_one_side_and_process_on_the_other) i == 0 ? process_fence() : light_fence();
      if (s->flag[1 - i].load(relaxed) == 0) ++s->inside;
    });
  }
  p.after([=] { il::check(s->inside <= 1, "at most one is inside"); });
}

TEST(Checker, FindsDekkerWithoutFenceOnlyWithStoreBuffers) {
  EXPECT_TRUE(
      il::explore({.preemptions = 3, .store_buffers = false}, [](il::program& p) { dekker(p, fences::none); }).ok);
  const auto r = il::explore({.preemptions = 3}, [](il::program& p) { dekker(p, fences::none); });
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.report.find("store buffer"), std::string::npos) << r.report;
}

TEST(Checker, PassesDekkerWithFences) {
  for (const fences kind : {fences::full, fences::on_one_side_and_process_on_the_other}) {
    const auto r = il::explore({.preemptions = 8}, [=](il::program& p) { dekker(p, kind); });
    EXPECT_TRUE(r.ok) << r.report;
    EXPECT_TRUE(r.exhaustive);
  }
}

void peterson(il::program& p, bool fenced) {
  struct state {
    atomic<int> wants[2];
    atomic<std::size_t> turn{0};
    atomic<int> inside{0};
  };
  auto s = std::make_shared<state>();
  for (std::size_t i = 0; i < 2; ++i) {
    p.thread([=] {
      s->wants[i].store(1, relaxed);
      s->turn.store(1 - i, relaxed);
      if (fenced) full_fence();
      while (s->wants[1 - i].load(acquire) == 1 && s->turn.load(acquire) == 1 - i) pause();
      il::check(s->inside.fetch_add(1, relaxed) == 0, "alone in the critical section");
      s->inside.fetch_sub(1, relaxed);
      s->wants[i].store(0, release);
    });
  }
}

TEST(Checker, PetersonNeedsItsFence) {
  EXPECT_FALSE(il::explore({.preemptions = 3}, [](il::program& p) { peterson(p, false); }).ok);
  const auto r = il::explore({.preemptions = 3}, [](il::program& p) { peterson(p, true); });
  EXPECT_TRUE(r.ok) << r.report;
}

TEST(Checker, StoresOfOneThreadReachMemoryInOrder) {
  const auto r = il::explore({.preemptions = 8}, [](il::program& p) {
    auto s = std::make_shared<std::pair<atomic<int>, atomic<int>>>();
    p.thread([=] {
      s->first.store(1, relaxed);
      s->second.store(1, relaxed);
    });
    p.thread([=] {
      const int second = s->second.load(relaxed);
      const int first = s->first.load(relaxed);
      il::check(!(second == 1 && first == 0), "the second store is never seen before the first");
    });
  });
  EXPECT_TRUE(r.ok) << r.report;
  EXPECT_TRUE(r.exhaustive);
}

// ---- happens-before

void message(il::program& p, std::memory_order sends, std::memory_order receives, bool fence) {
  struct state {
    il::shared<int> data;
    atomic<int> ready{0};
  };
  auto s = std::make_shared<state>();
  p.thread([=] {
    s->data.write(42);
    if (fence) full_fence();
    s->ready.store(1, sends);
  });
  p.thread([=] {
    while (s->ready.load(receives) == 0) pause();
    if (fence) full_fence();
    il::check(s->data.read() == 42, "the message is there");
  });
}

TEST(Checker, MessagePassingNeedsReleaseAndAcquireOrFences) {
  const auto passes = [](std::memory_order sends, std::memory_order receives, bool fence) {
    return il::explore({.preemptions = 3}, [=](il::program& p) { message(p, sends, receives, fence); });
  };
  EXPECT_TRUE(passes(release, acquire, false).ok);
  EXPECT_TRUE(passes(seq_cst, seq_cst, false).ok);
  EXPECT_TRUE(passes(relaxed, relaxed, true).ok);
  EXPECT_FALSE(passes(release, relaxed, false).ok);
  const auto r = passes(relaxed, acquire, false);
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.failure.find("data race"), std::string::npos) << r.failure;
}

TEST(Checker, AnAtomicIsPublishedBeforeItIsUsed) {
  const auto with = [](std::memory_order publishes) {
    return il::explore({.preemptions = 2}, [=](il::program& p) {
      struct state {
        std::unique_ptr<counter> owner;
        atomic<counter*> published{nullptr};
      };
      auto s = std::make_shared<state>();
      p.thread([=] {
        s->owner = std::make_unique<counter>();
        s->published.store(s->owner.get(), publishes);
      });
      p.thread([=] {
        if (counter* c = s->published.load(acquire)) c->value.load(relaxed);
      });
    });
  };
  EXPECT_TRUE(with(release).ok);
  const auto r = with(relaxed);
  EXPECT_NE(r.failure.find("created"), std::string::npos) << r.failure;
}

TEST(Checker, AReadModifyWriteContinuesAReleaseSequence) {
  const auto with = [](bool store_instead) {
    return il::explore({.preemptions = 3}, [=](il::program& p) {
      struct state {
        il::shared<int> data;
        atomic<int> stage{0};
      };
      auto s = std::make_shared<state>();
      p.thread([=] {
        s->data.write(1);
        s->stage.store(1, release);
      });
      p.thread([=] {
        while (s->stage.load(relaxed) == 0) pause();
        if (store_instead) {
          s->stage.store(2, relaxed);
        } else {
          s->stage.fetch_add(1, relaxed);
        }
      });
      p.thread([=] {
        while (s->stage.load(acquire) != 2) pause();
        s->data.read();
      });
    });
  };
  const auto r = with(false);
  EXPECT_TRUE(r.ok) << r.report;
  EXPECT_FALSE(with(true).ok);
}

// ---- sleeping

TEST(Checker, FindsALostWakeUp) {
  // The waiter looks, then sleeps unconditionally on a word that the waker never changes.
  const auto r = il::explore({.preemptions = 1}, [](il::program& p) {
    auto s = std::make_shared<std::pair<atomic<std::uint32_t>, atomic<int>>>();
    p.thread([=] {
      if (s->second.load(acquire) == 0) futex_wait(s->first, 0);
    });
    p.thread([=] {
      s->second.store(1, release);
      futex_wake(s->first, 1);
    });
  });
  EXPECT_FALSE(r.ok);
  EXPECT_NE(r.failure.find("deadlock"), std::string::npos) << r.failure;
  EXPECT_NE(r.failure.find("futex_wait"), std::string::npos) << r.failure;
}

void sleep_and_wake(il::program& p, bool in_a_loop) {
  struct state {
    atomic<std::uint32_t> word{0};
    il::shared<int> data;
  };
  auto s = std::make_shared<state>();
  for (int i = 0; i < 2; ++i) {
    p.thread([=] {
      do {
        if (s->word.load(acquire) == 0) futex_wait(s->word, 0);
      } while (in_a_loop && s->word.load(acquire) == 0);
      s->word.load(acquire);
      il::check(s->data.read() == 7, "the sleeper sees the data");
    });
  }
  p.thread([=] {
    s->data.write(7);
    s->word.store(1, release);
    futex_wake(s->word, 2);
  });
}

TEST(Checker, PassesARightWakeUp) {
  const auto r =
      il::explore({.preemptions = 3, .spurious_wakes = true}, [](il::program& p) { sleep_and_wake(p, true); });
  EXPECT_TRUE(r.ok) << r.report;
}

TEST(Checker, FindsASleeperThatTrustsItsWakeUp) {
  EXPECT_TRUE(il::explore({.preemptions = 2}, [](il::program& p) { sleep_and_wake(p, false); }).ok);
  EXPECT_FALSE(
      il::explore({.preemptions = 2, .spurious_wakes = true}, [](il::program& p) { sleep_and_wake(p, false); }).ok);
}

TEST(Checker, FindsADeadlockOfTwoLocks) {
  struct locks {
    atomic<int> held[2];
  };
  const auto program = [](il::program& p, bool same_order) {
    auto s = std::make_shared<locks>();
    for (std::size_t i = 0; i < 2; ++i) {
      p.thread([=] {
        const std::size_t first = same_order ? 0 : i;
        for (const std::size_t k : {first, 1 - first}) {
          while (s->held[k].exchange(1, acquire) == 1) pause();
        }
        s->held[0].store(0, release);
        s->held[1].store(0, release);
      });
    }
  };
  const auto bad = il::explore({.preemptions = 2}, [&](il::program& p) { program(p, false); });
  EXPECT_FALSE(bad.ok);
  EXPECT_NE(bad.failure.find("nothing changes"), std::string::npos) << bad.failure;
  const auto good = il::explore({.preemptions = 3}, [&](il::program& p) { program(p, true); });
  EXPECT_TRUE(good.ok) << good.report;
}

// ---- structures

/// Two threads on a Treiber stack of three nodes: one pops, the other pops two and pushes the first back.
void treiber(il::program& p, bool tagged) {
  struct state {
    atomic<std::uint64_t> top{0};  // tag and node number; 0: empty
    atomic<std::uint64_t> next[4];
    bool owned[4] = {};

    bool tagged;
    explicit state(bool t) : tagged(t) {
      for (std::uint64_t n : {3u, 2u, 1u}) push(n);
    }
    std::uint64_t with_tag(std::uint64_t old, std::uint64_t node) const {
      return tagged ? ((old >> 8) + 1) << 8 | node : node;
    }
    void push(std::uint64_t node) {
      owned[node] = false;
      std::uint64_t old = top.load();
      do {
        next[node].store(old & 0xff);
      } while (!top.compare_exchange_weak(old, with_tag(old, node)));
    }
    std::uint64_t pop() {
      std::uint64_t old = top.load();
      do {
        if ((old & 0xff) == 0) return 0;
      } while (!top.compare_exchange_weak(old, with_tag(old, next[old & 0xff].load())));
      il::check(!owned[old & 0xff], "a node has one owner");
      owned[old & 0xff] = true;
      return old & 0xff;
    }
  };
  auto s = std::make_shared<state>(tagged);
  p.thread([=] {
    s->pop();
    s->pop();
  });
  p.thread([=] {
    const auto first = s->pop();
    s->pop();
    if (first != 0) s->push(first);
  });
}

TEST(Checker, FindsTheAbaProblemOfATreiberStack) {
  const auto bad = il::explore({.preemptions = 3}, [](il::program& p) { treiber(p, false); });
  EXPECT_FALSE(bad.ok);
  EXPECT_NE(bad.failure.find("one owner"), std::string::npos) << bad.failure;
  const auto good = il::explore({.preemptions = 3}, [](il::program& p) { treiber(p, true); });
  EXPECT_TRUE(good.ok) << good.report;
}

// ---- reports

TEST(Checker, WeakensOneOrderingOfAProgram) {
  const auto program = [](il::program& p) { message(p, release, acquire, false); };
  const auto right = il::explore({.preemptions = 2}, program);
  ASSERT_TRUE(right.ok) << right.report;
  ASSERT_EQ(right.orderings.size(), 2u);
  for (const il::ordering& weak : right.orderings) {
    EXPECT_FALSE(il::explore({.preemptions = 2, .weaken = weak}, program).ok) << weak.text();
  }
}

TEST(Checker, RepeatsAFailureFromItsSchedule) {
  const auto program = [](il::program& p) { dekker(p, fences::none); };
  const auto found = il::explore({.preemptions = 3}, program);
  ASSERT_FALSE(found.ok);
  const auto again = il::explore({.preemptions = found.preemptions, .replay = found.schedule}, program);
  EXPECT_EQ(again.schedules, 1u);
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_THROW(il::explore({.replay = "1.x"}, program), std::invalid_argument);
}

TEST(Checker, ReportsNamesValuesAndSource) {
  const auto r = il::explore({.preemptions = 1}, [](il::program& p) {
    auto s = std::make_shared<counter>();
    il::name(&s->value, "the counter");
    p.thread([=] { s->value.store(-5, release); }, "writer");
    p.thread([=] { il::check(s->value.load(acquire) == 0, "still zero"); }, "reader");
  });
  ASSERT_FALSE(r.ok);
  for (const char* expected : {"still zero", "writer", "reader", "the counter = -5", "checker_test.cpp:", "acquire"}) {
    EXPECT_NE(r.report.find(expected), std::string::npos) << expected << " is missing in\n" << r.report;
  }
}

TEST(Checker, ReportsALoopWithoutEndAnExceptionAndAProgramThatDoesNotRepeat) {
  const auto endless = il::explore({.preemptions = 0, .max_steps = 50}, [](il::program& p) {
    auto s = std::make_shared<counter>();
    p.thread([=] {
      while (s->value.load() == 0) {
      }
    });
  });
  EXPECT_NE(endless.failure.find("pause()"), std::string::npos) << endless.failure;

  const auto thrown = il::explore({}, [](il::program& p) { p.thread([] { throw std::runtime_error("gone"); }); });
  EXPECT_NE(thrown.failure.find("gone"), std::string::npos) << thrown.failure;

  int run = 0;
  const auto other = il::explore({.preemptions = 2}, [&](il::program& p) {
    auto s = std::make_shared<counter>();
    const int loads = ++run % 3 + 1;
    for (int i = 0; i < 2; ++i) {
      p.thread([=] {
        for (int k = 0; k < loads; ++k) s->value.load();
      });
    }
  });
  EXPECT_NE(other.failure.find("does not repeat"), std::string::npos) << other.failure;

  const auto many = il::explore({.preemptions = 9, .max_schedules = 10}, [](il::program& p) {
    auto s = std::make_shared<counter>();
    for (int i = 0; i < 3; ++i)
      p.thread([=] {
        ++s->value;
        ++s->value;
      });
  });
  EXPECT_NE(many.failure.find("more than 10 schedules"), std::string::npos) << many.failure;
}

TEST(Checker, FindsAnAtomicThatDiesTooEarly) {
  const auto r = il::explore({.preemptions = 2}, [](il::program& p) {
    auto s = std::make_shared<std::unique_ptr<atomic<int>>>(std::make_unique<atomic<int>>(0));
    p.thread([=] { (*s)->store(1, relaxed); });
    p.thread([=] { s->reset(); });
  });
  EXPECT_FALSE(r.ok);
}

}  // namespace
}  // namespace kith
