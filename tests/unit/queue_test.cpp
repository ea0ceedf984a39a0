// The same series of tests for every queue, with real threads: smoke, empty, one thief, stampede, stress
// against a model, nothing lost or doubled, destruction.
#include "queue/native/deque.hpp"
#include "queue/native/inbox.hpp"
#include "queue/native/world.hpp"
#include "queue/sequential/world.hpp"
#include "queue/shared_queue.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace {

using kith::steal_result;
using kith::test::scaled;

/// Runs `body(i)` on `count` threads that start together.
template <class Body>
void together(int count, const Body& body) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      body(i);
    });
  }
  for (std::thread& t : threads) t.join();
}

// ---- the work-stealing deque

using deque = kith::native::work_deque<int>;

TEST(work_deque, owner_takes_the_newest_thieves_the_oldest) {
  deque d(2);
  std::vector<int> v(10);
  for (int& x : v) d.push(&x);  // grows
  int* got = nullptr;
  EXPECT_EQ(d.size(), 10);
  EXPECT_EQ(d.pop(), &v[9]);
  ASSERT_EQ(d.steal(got), steal_result::got);
  EXPECT_EQ(got, &v[0]);
  for (int i = 8; i >= 1; --i) EXPECT_EQ(d.pop(), &v[static_cast<std::size_t>(i)]);
  EXPECT_EQ(d.pop(), nullptr);
}

TEST(work_deque, empty) {
  deque d;
  int* got = nullptr;
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_EQ(d.steal(got), steal_result::empty);
  int x = 0;
  for (int i = 0; i < 1000; ++i) {
    d.push(&x);
    EXPECT_EQ(d.pop(), &x);
    EXPECT_EQ(d.pop(), nullptr);
  }
  EXPECT_EQ(d.size(), 0);
}

/// The owner pushes and pops at random while `thieves` threads steal. Each entry must be taken once.
void stampede(int thieves, int entries) {
  deque d(4);
  std::vector<std::atomic<int>> taken(static_cast<std::size_t>(entries));
  std::vector<int> values(static_cast<std::size_t>(entries));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  std::atomic<int> left{entries};
  auto take = [&](int* x) {
    ++taken[static_cast<std::size_t>(*x)];
    --left;
  };
  together(thieves + 1, [&](int who) {
    if (who == 0) {
      kith::rng random(static_cast<std::uint64_t>(thieves), kith::purpose::test, 0);
      std::size_t next = 0;
      while (next < values.size()) {
        for (std::uint32_t n = random.below(8); n > 0 && next < values.size(); --n) d.push(&values[next++]);
        for (std::uint32_t n = random.below(8); n > 0; --n) {
          if (int* x = d.pop()) take(x);
        }
      }
      while (int* x = d.pop()) take(x);
    } else {
      int* x = nullptr;
      while (left > 0) {
        if (d.steal(x) == steal_result::got)
          take(x);
        else
          std::this_thread::yield();
      }
    }
  });
  for (std::size_t i = 0; i < taken.size(); ++i) ASSERT_EQ(taken[i], 1) << "entry " << i;
}

TEST(work_deque, one_thief) { stampede(1, scaled(20000)); }
TEST(work_deque, many_thieves) { stampede(4, scaled(20000)); }

// ---- the inbox

struct letter {
  int from = 0, number = 0;
  letter* next = nullptr;
};
void set_next(letter& l, letter* next) { l.next = next; }
letter* get_next(const letter& l) { return l.next; }

TEST(inbox, oldest_first) {
  kith::native::inbox<letter> box;
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.take_all(), nullptr);
  std::vector<letter> letters(5);
  for (letter& l : letters) box.push(l);
  letter* at = box.take_all();
  for (letter& l : letters) {
    ASSERT_EQ(at, &l);
    at = at->next;
  }
  EXPECT_EQ(at, nullptr);
  EXPECT_TRUE(box.empty());
}

TEST(inbox, each_producers_order_is_kept_and_nothing_is_lost) {
  constexpr int producers = 3;
  const int each = scaled(5000);
  kith::native::inbox<letter> box;
  std::vector<std::vector<letter>> letters(producers, std::vector<letter>(static_cast<std::size_t>(each)));
  std::vector<int> last(producers, -1);
  int received = 0;
  together(producers + 1, [&](int who) {
    if (who < producers) {
      for (int n = 0; n < each; ++n) {
        letter& l = letters[static_cast<std::size_t>(who)][static_cast<std::size_t>(n)];
        l.from = who;
        l.number = n;
        box.push(l);
      }
      return;
    }
    while (received < producers * each) {
      for (letter* l = box.take_all(); l != nullptr; l = l->next, ++received) {
        ASSERT_EQ(l->number, last[static_cast<std::size_t>(l->from)] + 1);
        last[static_cast<std::size_t>(l->from)] = l->number;
      }
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(received, producers * each);
}

// ---- the shared queue, in both worlds

std::vector<std::unique_ptr<kith::task>> make_tasks(std::size_t count) {
  std::vector<std::unique_ptr<kith::task>> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    tasks.push_back(std::make_unique<kith::task>());
    tasks.back()->flags = 0;
    tasks.back()->sequence = static_cast<std::uint32_t>(i);
  }
  return tasks;
}

template <class World, class Worker>
void check_orders(Worker& by) {
  using queue = kith::shared_queue<World>;
  const auto tasks = make_tasks(6);
  auto drain = [&](kith::queue_order order, const std::vector<std::size_t>& pushed) {
    queue q(kith::worker_set::all(1), order, {}, 7);
    for (std::size_t i : pushed) q.push(*tasks[i], by);
    EXPECT_EQ(q.size(), static_cast<std::int64_t>(pushed.size()));
    std::vector<std::size_t> out;
    while (kith::task* t = q.pop(by)) out.push_back(t->sequence);
    EXPECT_EQ(q.size(), 0);
    return out;
  };
  using order = std::vector<std::size_t>;
  EXPECT_EQ(drain(kith::queue_order::fifo, {3, 1, 2}), (order{3, 1, 2}));
  EXPECT_EQ(drain(kith::queue_order::lifo, {3, 1, 2}), (order{2, 1, 3}));
  EXPECT_EQ(drain(kith::queue_order::created, {3, 1, 2, 0}), (order{0, 1, 2, 3}));
  order any = drain(kith::queue_order::random, {3, 1, 2, 0, 4, 5});
  std::ranges::sort(any);
  EXPECT_EQ(any, (order{0, 1, 2, 3, 4, 5}));

  tasks[2]->priority = 1;
  tasks[0]->priority = 2;
  EXPECT_EQ(drain(kith::queue_order::fifo, {0, 1, 2, 3}), (order{2, 1, 3, 0}));
}

TEST(shared_queue, orders_and_levels) {
  kith::sleepers parked(1);
  kith::native::worker_view native(kith::worker_id(0), kith::node_id(0), parked);
  check_orders<kith::native::world>(native);
  kith::sequential::worker_view alone(kith::worker_id(0), kith::node_id(0));
  check_orders<kith::sequential::world>(alone);
  EXPECT_EQ(native.sums[kith::event::push], alone.sums[kith::event::push]);
  EXPECT_EQ(native.sums[kith::event::pop], alone.sums[kith::event::pop]);
}

TEST(shared_queue, sequence_numbers_wrap) {
  kith::sequential::worker_view by(kith::worker_id(0), kith::node_id(0));
  const auto tasks = make_tasks(2);
  tasks[0]->sequence = 0xfffffff0;
  tasks[1]->sequence = 5;
  kith::shared_queue<kith::sequential::world> q(kith::worker_set::all(1), kith::queue_order::created);
  q.push(*tasks[1], by);
  q.push(*tasks[0], by);
  EXPECT_EQ(q.pop(by), tasks[0].get());
}

TEST(shared_queue, a_thief_may_leave_the_next_one) {
  kith::sequential::worker_view by(kith::worker_id(0), kith::node_id(0));
  const auto tasks = make_tasks(3);
  using kith::queue_order;
  for (const auto& [order, next] :
       {std::pair{queue_order::fifo, 1U}, {queue_order::lifo, 2U}, {queue_order::created, 0U}}) {
    kith::shared_queue<kith::sequential::world> q(kith::worker_set::all(1), order);
    for (std::size_t i : {1, 0, 2}) q.push(*tasks[i], by);
    const auto is = [](std::uint32_t wanted) { return [=](const kith::task& t) { return t.sequence == wanted; }; };
    for (std::uint32_t other = 0; other < 3; ++other) {
      if (other == next) continue;
      EXPECT_EQ(q.steal(by, is(other)), nullptr);
    }
    EXPECT_EQ(q.size(), 3);
    EXPECT_EQ(q.steal(by, is(next)), tasks[next].get());
    EXPECT_EQ(q.size(), 2);
  }
  EXPECT_EQ(by.sums[kith::event::steal], 3U);
  EXPECT_EQ(by.sums[kith::event::steal_attempt], 9U);
}

TEST(shared_queue, stampede) {
  constexpr int workers = 4;
  const int each = scaled(3000);
  kith::sleepers parked(workers);
  kith::shared_queue<kith::native::world> q(kith::worker_set::all(workers), kith::queue_order::fifo);
  const auto tasks = make_tasks(static_cast<std::size_t>(workers * each));
  std::vector<std::atomic<int>> taken(tasks.size());
  std::atomic<int> left{workers * each};
  together(workers, [&](int who) {
    kith::native::worker_view by(kith::worker_id(who), kith::node_id(0), parked);
    for (int n = 0; n < each; ++n) {
      q.push(*tasks[static_cast<std::size_t>(who * each + n)], by);
      if (kith::task* t = q.pop(by)) {
        ++taken[t->sequence];
        --left;
      }
    }
    while (left > 0) {
      if (kith::task* t = q.steal(by)) {
        ++taken[t->sequence];
        --left;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (auto& t : taken) ASSERT_EQ(t, 1);
}

}  // namespace
