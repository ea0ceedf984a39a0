// The transport between threads: nothing is lost, the order of each sender is kept, and no sleeper is forgotten.
#include "places/transport.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace {

using namespace kith::distributed;
using message = kith::detail::byte_buffer;

message of(int from, int number) {
  message m(2 * sizeof(int));
  std::memcpy(m.data(), &from, sizeof from);
  std::memcpy(m.data() + sizeof from, &number, sizeof number);
  return m;
}

/// Places 1 to 3 send to place 0, which sleeps whenever it has nothing: a lost wake would last for an hour.
TEST(PlacesTransport, KeepsTheOrderOfEachSender) {
  constexpr int senders = 3;
  const int each = kith::test::scaled(5000);
  const auto net = make_thread_transport(senders + 1);
  std::vector<std::thread> threads;
  for (int s = 1; s <= senders; ++s) {
    threads.emplace_back([&, s] {
      for (int n = 0; n < each; ++n) net->endpoint_of(s).send(0, of(s, n));
    });
  }
  std::vector<int> next(senders + 1);
  message m;
  for (int got = 0; got < senders * each;) {
    if (!net->endpoint_of(0).poll(m)) {
      net->endpoint_of(0).sleep(std::chrono::steady_clock::now() + std::chrono::hours(1));
      continue;
    }
    ASSERT_EQ(m.size(), 2 * sizeof(int));
    int from = 0, number = 0;
    std::memcpy(&from, m.data(), sizeof from);
    std::memcpy(&number, m.data() + sizeof from, sizeof number);
    ASSERT_EQ(number, next[static_cast<std::size_t>(from)]++);
    ++got;
  }
  for (std::thread& t : threads) t.join();
  EXPECT_FALSE(net->endpoint_of(0).poll(m));
}

TEST(PlacesTransport, RingsEndASleep) {
  const auto net = make_thread_transport(1);
  message m;
  for (int i = 0; i < kith::test::scaled(1000); ++i) {
    ASSERT_FALSE(net->endpoint_of(0).poll(m));
    std::thread other([&] { net->endpoint_of(0).ring(); });
    net->endpoint_of(0).sleep(std::chrono::steady_clock::now() + std::chrono::hours(1));
    other.join();
  }
}

TEST(PlacesTransport, DropsWhatNobodyTook) {
  const auto net = make_thread_transport(2);
  message m;
  for (int i = 0; i < 3; ++i) net->endpoint_of(0).send(1, of(0, i));
  ASSERT_TRUE(net->endpoint_of(1).poll(m));
  net->endpoint_of(0).send(1, of(0, 3));  // a leak checker sees whether all are freed
}

}  // namespace
