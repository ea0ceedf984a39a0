// What workers do that a policy does not give a task: those that it keeps awake, because it watches for something, help
// with all that is not the policy's; and it is told when they find something else to do.
#include "policy/contract/register_policy.hpp"
#include "policy/worker_queues.hpp"
#include "support/with_variable.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>

namespace {

std::array<std::atomic<bool>, 2> looks{};  // by worker: it was given no task, and has not done anything else since
std::atomic<bool> released{false};

/// With watch=on, says `watch` instead of `empty`. With keeps=on, gives out tasks of high priority only when
/// `released`. Other tests run every policy with its defaults.
template <class World>
class watches final : public kith::policy<World>, public kith::observer<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{kith::one_of("watch", "off|on", "whether no worker sleeps"),
                                      kith::one_of("keeps", "off|on", "whether urgent tasks wait")};
  static constexpr kith::policy_entry about{.name = "watches", .summary = "one queue", .options = options};

  watches(const kith::policy_context& context, const kith::policy_options& given)
      : queues_(context, kith::queue_order::fifo, true),
        kept_(context, kith::queue_order::fifo, true),
        watches_(given.is("watch", "on")),
        keeps_(given.is("keeps", "on")) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason /*why*/) override {
    for (kith::task* t : tasks) (keeps_ && t->has_level() ? kept_ : queues_)[0].push(*t, self);
    return nullptr;
  }
  kith::poll_result next(worker& self) override {
    kith::poll_result found = queues_.next(self);
    if (found.kind == kith::poll_result::empty && released) found = kept_.next(self);
    if (keeps_) looks[self.id.index()] = found.kind != kith::poll_result::found;
    return watches_ && found.kind == kith::poll_result::empty ? kith::poll_result{kith::poll_result::watch} : found;
  }

  kith::observer<World>* observer() noexcept override { return this; }
  typename kith::observer<World>::subscriptions subscribes_to() const override { return {.idle = true}; }
  void idle(worker& self) override {
    if (keeps_) looks[self.id.index()] = false;
  }

 private:
  kith::worker_queues<World> queues_, kept_;
  bool watches_, keeps_;
};

void register_it() {
  static const bool registered = (kith::register_policy<watches>(), true);
  ASSERT_TRUE(registered);
}

/// A task claims its children past the policy. Because they have priorities, the policy is asked first.
TEST(watching_policy, is_told_of_a_task_that_is_claimed_after_it_gave_none) {
  register_it();
  kith::runtime_options o = kith::test::make_options(1, "watches:keeps=on");
  o.inline_limit = 0;
  kith::runtime rt(o);
  released = false;
  int claimed = 0;
  rt.run([&] {
    kith::spawn([&] {
      for (int i = 0; i < 2; ++i) {
        kith::spawn(
            [&] {
              claimed += !released;
              EXPECT_FALSE(looks[0]);
            },
            kith::priority::high);
      }
      kith::wait();
      released = true;  // its entries in the queue are dropped
    });
  });
  EXPECT_EQ(claimed, 2);
}

TEST(watching_policy, its_watchers_help_with_joins) {
  register_it();
  const kith::test::with_variable all_may_be_awake("KITH_AWAKE", "0");
  kith::runtime rt(kith::test::make_options(2, "watches:watch=on"));
  rt.run([&] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other worker watches
      std::atomic<bool> runs{false};
      bool in_time = true;
      kith::join(
          [&] {
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            while (!runs && in_time) in_time = std::chrono::steady_clock::now() < end;
          },
          [&] { runs = true; });
      EXPECT_TRUE(in_time);
    }
  });
}

}  // namespace
