// Workers that a policy keeps awake, because it watches for something, help with all that is not the policy's.
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

/// With watch=on, says `watch` instead of `empty`. Other tests run every policy with its defaults.
template <class World>
class watches final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{kith::one_of("watch", "off|on", "whether no worker sleeps")};
  static constexpr kith::policy_entry about{.name = "watches", .summary = "one queue", .options = options};

  watches(const kith::policy_context& context, const kith::policy_options& given)
      : queues_(context, kith::queue_order::fifo, true), watches_(given.is("watch", "on")) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason /*why*/) override {
    for (kith::task* t : tasks) queues_[0].push(*t, self);
    return nullptr;
  }
  kith::poll_result next(worker& self) override {
    const kith::poll_result found = queues_.next(self);
    return watches_ && found.kind == kith::poll_result::empty ? kith::poll_result{kith::poll_result::watch} : found;
  }

 private:
  kith::worker_queues<World> queues_;
  bool watches_;
};

TEST(watching_policy, its_watchers_help_with_joins) {
  static const bool registered = (kith::register_policy<watches>(), true);
  ASSERT_TRUE(registered);
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
