// The guarantees of the default policy in native runs, on pretended nodes: no worker sleeps while there is work that it
// pays to steal.
#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace {

using block = std::array<int, 1024>;

/// Whether another thread than the host has arrived. The waiting threads give up after a limit, all at once.
class meeting {
 public:
  explicit meeting(std::thread::id host) : host_(host) {}
  /// Returns how many calls came before.
  int come() {
    if (std::this_thread::get_id() != host_) others_ = true;
    return come_++;
  }
  void wait_for_others() {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!others_ && !given_up_) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() > late) given_up_ = true;
    }
  }
  bool others() const { return others_; }

 private:
  std::thread::id host_;
  std::atomic<int> come_{0};
  std::atomic<bool> others_{false}, given_up_{false};
};

/// One task initialises all data, which is then on one node. When the tasks that work on the data are
/// queued, the cost of running them elsewhere is not known, and the other node's worker sleeps. It must be
/// woken when the cost is known.
TEST(auto_policy_natively, who_slept_while_nothing_was_known_is_woken_when_it_is) {
  constexpr std::size_t blocks = 1600;
  kith::runtime_options o;
  o.policy = "auto";
  o.machine = "node:2 core:1";
  o.workers = 2;
  o.oversubscribe = true;
  o.spin = 0;
  kith::runtime rt(o);
  std::vector<block> data(blocks);
  rt.run([&] {
    meeting all(std::this_thread::get_id());
    kith::access_list whole;
    for (block& b : data) whole.add(kith::out(b));
    kith::spawn(
        [&] {
          for (block& b : data) b.fill(1);
        },
        whole, kith::name("initialise"));
    kith::wait();
    for (std::size_t i = 0; i < blocks; ++i) {
      kith::spawn(
          [&all](std::span<int> b) {
            for (int round = 0; round < 20; ++round) std::partial_sum(b.begin(), b.end(), b.begin(), std::bit_xor<>());
            if (all.come() >= 100) all.wait_for_others();  // most tasks are still queued
          },
          kith::inout(data[i]), kith::name("work"));
    }
    kith::wait();
    EXPECT_TRUE(all.others()) << "all tasks ran on one node";
  });
}

}  // namespace
