// Tasks that one worker runs: each arrives at its worker, which looks into its own inbox after it has announced its
// sleep. So neither the worker sleeps for ever, nor does it need to be awake.
#include "base/sleepers.hpp"
#include "queue/native/inbox.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;

struct order {
  il::shared<order*> next{nullptr};
  il::shared<int> content{0};
};
void set_next(order& o, order* next) { o.next.write(next); }
order* get_next(const order& o) { return o.next.read(); }

struct pair_of_workers {
  sleepers parked{2};
  std::array<native::inbox<order>, 2> addressed;
  std::array<order, 2> orders;

  void send(int to, bool rings) {
    order& o = orders[static_cast<std::size_t>(to)];
    o.content.write(to + 1);
    addressed[static_cast<std::size_t>(to)].push(o);
    if (rings) parked.wake(worker_id(to));
  }
  bool take(int self) {
    const order* const o = addressed[static_cast<std::size_t>(self)].take_all();
    if (o == nullptr) return false;
    il::check(o->content.read() == self + 1, "a task arrives with its content, at its worker");
    return true;
  }
  void work(int self) {
    const worker_id me(self);
    while (!take(self)) {
      parked.announce(me);
      if (!addressed[static_cast<std::size_t>(self)].empty()) {
        parked.retract(me);
        continue;
      }
      parked.sleep(me);
    }
  }
};

std::function<void(il::program&)> two_tasks(bool rings) {
  return [=](il::program& p) {
    auto s = std::make_shared<pair_of_workers>();
    for (int w = 0; w < 2; ++w) p.thread([=] { s->work(w); }, "worker");
    p.thread(
        [=] {
          s->send(0, true);
          s->send(1, rings);
        },
        "creator");
  };
}

TEST(AddressedInterleaved, NoWorkerSleepsOverItsTask) {
  const auto r = il::explore({.preemptions = 3}, two_tasks(true));
  EXPECT_TRUE(r.ok) << r.report;
}

TEST(AddressedInterleaved, TheRingIsNeeded) { EXPECT_FALSE(il::explore({.preemptions = 2}, two_tasks(false)).ok); }

}  // namespace
}  // namespace kith
