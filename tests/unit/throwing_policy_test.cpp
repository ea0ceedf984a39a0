// A policy that throws, for example because it has no memory for its queue.
#include "policy/contract/register_policy.hpp"
#include "policy/worker_queues.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

using kith::test::make_options;
using testing::ThrowsMessage;

/// What the policy below does: it throws `left` times, `from` this call, where the worker's number is `on` or more.
struct failure {
  enum call { ready_queued, ready_lost, creation, next } from;
  int on;
  std::atomic<int> left;
};
std::atomic<failure*> plan = nullptr;

bool throws_now(failure::call from, int worker) {
  failure* const now = plan;
  return now != nullptr && now->from == from && worker >= now->on && now->left > 0 && now->left-- > 0;
}

/// Throws from ready() where the end of a task has made several ready, which it has queued, or not.
template <class World>
class throwing final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr kith::policy_entry about{.name = "throwing", .summary = "throws when it is told to", .options = {}};

  throwing(const kith::policy_context& context, const kith::policy_options&)
      : queues_(context, kith::queue_order::fifo, true) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason why) override {
    if (why == kith::ready_reason::creation && throws_now(failure::creation, self.id.value))
      throw std::runtime_error("no room in the queue");
    const bool several = tasks.size() > 1 && why == kith::ready_reason::completion;
    if (several && throws_now(failure::ready_lost, self.id.value)) throw std::runtime_error("no room in the queue");
    for (kith::task* t : tasks) queues_[0].push(*t, self);
    if (several && throws_now(failure::ready_queued, self.id.value)) throw std::runtime_error("no room in the queue");
    return nullptr;
  }
  kith::poll_result next(worker& self) override {
    if (throws_now(failure::next, self.id.value)) throw std::runtime_error("no room in the queue");
    return queues_.next(self);
  }

 private:
  kith::worker_queues<World> queues_;
};

class throwing_policy : public testing::Test {
 protected:
  throwing_policy() {
    if (!std::exchange(is_registered, true)) kith::register_policy<throwing>();
  }
  ~throwing_policy() override { plan = nullptr; }

 private:
  inline static bool is_registered = false;
};

/// A first task, which ends when it may or is cancelled, makes eight others ready.
struct fan {
  explicit fan(bool free = true) : may_end(free) {}
  void spawn() {
    kith::spawn(
        [this] {
          has_begun = true;
          while (!may_end && !kith::cancelled()) std::this_thread::yield();
        },
        kith::out(cell));
    for (int i = 0; i < 8; ++i) kith::spawn([this] { ++ran; }, kith::in(cell));
  }

  std::atomic<bool> has_begun = false, may_end;
  std::atomic<int> ran = 0;
  int cell = 0;
};

/// The same runtime works as before, when the exceptions that other workers had thrown have arrived.
void expect_works(kith::runtime& rt) {
  for (int late = 0;; ++late) {
    fan tasks;
    try {
      rt.run([&] { tasks.spawn(); });
      EXPECT_EQ(tasks.ran, 8);
      return;
    } catch (const std::runtime_error&) {
      ASSERT_LT(late, rt.workers());
    }
  }
}

TEST_F(throwing_policy, its_exception_arrives_at_the_wait_and_cancels_what_is_queued) {
  kith::runtime rt(make_options(1, "throwing"));
  failure once{failure::ready_queued, 0, 1};
  plan = &once;
  std::array<int, 5> ran{};
  int cell = 0;
  rt.run([&] {
    kith::spawn([&] { ++ran[0]; }, kith::out(cell));
    for (std::size_t i = 1; i < 4; ++i) kith::spawn([&ran, i] { ++ran[i]; }, kith::in(cell));
    EXPECT_THAT([] { kith::wait(); }, ThrowsMessage<std::runtime_error>("no room in the queue"));
    kith::spawn([&] { ++ran[4]; });
    kith::wait();
  });
  EXPECT_THAT(ran, testing::ElementsAre(1, 0, 0, 0, 1));
  expect_works(rt);
}

struct where {
  failure::call from;
  int on;     // the first worker that throws
  int times;  // that it throws
};

class throwing_on_workers : public throwing_policy, public testing::WithParamInterface<where> {};

/// Whichever worker throws: the run ends with the exception, and the next one works.
TEST_P(throwing_on_workers, ends_the_run_with_the_exception) {
  kith::runtime rt(make_options(3, "throwing"));
  for (int again = 0; again < 20; ++again) {
    const bool waits_later = GetParam().from == failure::next || again % 2 == 0;  // when another worker has begun
    failure told{GetParam().from, GetParam().on, GetParam().times};
    fan tasks(false);
    bool failed = false;
    try {
      rt.run([&] {
        tasks.spawn();
        while (waits_later && !tasks.has_begun) std::this_thread::yield();
        plan = &told;
        if (GetParam().from == failure::next) {  // the run ends by the failure alone
          kith::spawn([] {});
          while (told.left == GetParam().times) std::this_thread::yield();
        } else {
          tasks.may_end = true;
        }
      });
    } catch (const std::runtime_error& e) {
      failed = true;
      EXPECT_STREQ(e.what(), "no room in the queue");
    }
    plan = nullptr;
    EXPECT_EQ(failed, told.left < GetParam().times);
    EXPECT_TRUE(failed || !waits_later);
    EXPECT_TRUE(!failed || tasks.ran < 8 || GetParam().from != failure::ready_lost);
    expect_works(rt);
  }
}

constexpr int always = 1 << 30;
INSTANTIATE_TEST_SUITE_P(calls, throwing_on_workers,
                         testing::Values(where{failure::ready_queued, 0, 1}, where{failure::ready_queued, 1, 1},
                                         where{failure::ready_lost, 0, 1}, where{failure::ready_lost, 1, 1},
                                         where{failure::next, 0, 1}, where{failure::next, 1, 1},
                                         where{failure::next, 0, always}, where{failure::next, 1, always}));

TEST_F(throwing_policy, a_nested_wait_ends_too) {
  kith::runtime rt(make_options(3, "throwing"));
  failure lost{failure::ready_lost, 0, 1};
  plan = &lost;
  fan tasks;
  EXPECT_THAT(
      [&] {
        rt.run([&] {
          kith::spawn([&] {
            tasks.spawn();
            kith::wait();
          });
        });
      },
      ThrowsMessage<std::runtime_error>("no room in the queue"));
  EXPECT_EQ(tasks.ran, 0);
  expect_works(rt);
}

TEST_F(throwing_policy, a_task_that_it_loses_at_its_creation_is_not_waited_for) {
  kith::runtime rt(make_options(2, "throwing"));
  failure lost{failure::creation, 0, 1};
  plan = &lost;
  EXPECT_THAT([&] { rt.run([] { kith::spawn([] {}); }); }, ThrowsMessage<std::runtime_error>("no room in the queue"));
  expect_works(rt);
}

TEST_F(throwing_policy, a_failure_is_thrown_to_who_waits_for_submitted_tasks) {
  kith::runtime rt(make_options(2, "throwing"));
  failure once{failure::next, 0, 1};
  const kith::future<void> submitted = rt.submit([&] {
    plan = &once;
    kith::spawn([] {
      while (!kith::cancelled()) std::this_thread::yield();
    });
    while (once.left != 0) std::this_thread::yield();
    EXPECT_THAT([] { kith::wait(); }, ThrowsMessage<std::runtime_error>("no room in the queue"));
  });
  EXPECT_THAT([&] { rt.wait(); }, ThrowsMessage<std::runtime_error>("no room in the queue"));
  plan = nullptr;
  expect_works(rt);
}

}  // namespace
