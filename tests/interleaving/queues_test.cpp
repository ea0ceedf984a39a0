// Queues with their bell: a worker that finds every queue empty and sleeps is woken by a later push; each
// task leaves a queue once.
#include "interleave/expect.hpp"
#include "queue/native/world.hpp"
#include "queue/own_deque.hpp"
#include "queue/shared_queue.hpp"
#include "quiet_worker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;
using il::expect_passes;

constexpr int workers = 2;
constexpr int most_tasks = 3;

/// The native world with small deques.
struct small_world : native::world {
  using worker = il::quiet_worker;
  template <class T>
  struct deque : native::work_deque<T> {
    explicit deque(typename native::work_deque<T>::allocator_type memory) : native::work_deque<T>(4, memory) {}
  };
};
using worker_view = small_world::worker;

/// A central queue.
struct central {
  shared_queue<small_world> queue{worker_set::all(workers), queue_order::fifo};

  void push(std::span<task* const> tasks, worker_view& by) { queue.push(tasks, by); }
  task* take(worker_view& by) { return queue.pop(by); }
};

/// A deque for each worker, and stealing. Looks again if a steal was lost to a faster thief.
struct deques {
  own_deque<small_world> deque[workers]{{worker_id(0), worker_set::all(workers)},
                                        {worker_id(1), worker_set::all(workers)}};

  void push(std::span<task* const> tasks, worker_view& by) {
    for (task* t : tasks) deque[by.id.index()].push(*t, by);
  }
  task* take(worker_view& by) {
    if (task* own = deque[by.id.index()].pop(by)) return own;
    task* stolen = nullptr;
    steal_result outcome = steal_result::lost;
    while (outcome == steal_result::lost) outcome = deque[1 - by.id.index()].steal(stolen, by);
    return stolen;
  }
};

template <class Queues>
struct state {
  explicit state(int n) : tasks(n) {}

  const int tasks;
  sleepers parked{workers};
  worker_view views[workers] = {{worker_id(0), node_id(0), parked}, {worker_id(1), node_id(0), parked}};
  Queues queues;
  std::array<task, most_tasks> objects{};
  std::array<int, most_tasks> runs{};
  atomic<int> ended{0};

  void push(int first, int count, worker_view& by) {
    std::vector<task*> group;
    for (int i = first; i < first + count; ++i) group.push_back(&objects[static_cast<std::size_t>(i)]);
    queues.push(group, by);
  }
  bool all_ended() const { return ended.load(acquire) == tasks; }
  void run(task& t) {
    const auto i = static_cast<std::size_t>(&t - objects.data());
    il::check(++runs[i] == 1, "a task is run once");
    if (ended.fetch_add(1, acq_rel) + 1 == tasks) parked.wake_all();
  }
  void work(worker_view& self) {
    while (!all_ended()) {
      task* t = queues.take(self);
      if (t == nullptr) {
        parked.announce(self.id);
        if (all_ended() || (t = queues.take(self)) != nullptr) {
          if (!parked.retract(self.id)) parked.wake_one(worker_set::all(workers));
        } else {
          parked.sleep(self.id);
        }
      }
      if (t != nullptr) run(*t);
    }
  }
};

/// Worker 0 pushes the tasks in groups, then works or leaves; the other worker works.
template <class Queues>
std::function<void(il::program&)> push(std::vector<int> groups, bool then_works = true) {
  return [=](il::program& p) {
    int tasks = 0;
    for (const int g : groups) tasks += g;
    auto s = std::make_shared<state<Queues>>(tasks);
    p.thread(
        [=] {
          int first = 0;
          for (const int g : groups) {
            s->push(first, g, s->views[0]);
            first += g;
          }
          if (then_works) s->work(s->views[0]);
        },
        "producer");
    p.thread([=] { s->work(s->views[1]); }, "worker");
    p.after([=] { il::check(s->all_ended(), "no task is lost"); });
  };
}

TEST(QueuesInterleaved, Central) {
  expect_passes(3, push<central>({1, 1}));
  expect_passes(3, push<central>({2}));
  expect_passes(3, push<central>({1, 1}, false));
}
TEST(QueuesInterleaved, Deques) {
  expect_passes(3, push<deques>({1, 1}));
  expect_passes(2, push<deques>({1, 2}));
  expect_passes(3, push<deques>({1, 1}, false));
}

TEST(QueuesInterleaved, ASleeperNeedsItsFence) {
  const auto program = push<deques>({1, 1}, false);
  const auto right = il::explore({.preemptions = 1}, program);
  ASSERT_TRUE(right.ok) << right.report;
  int fences = 0;
  for (const il::ordering& o : right.orderings) {
    if (o.what != il::side::fence || !o.file.ends_with("base/sleepers.hpp")) continue;
    ++fences;
    const auto r = il::explore({.preemptions = 3, .weaken = o}, program);
    EXPECT_NE(r.failure.find("deadlock"), std::string::npos) << o.text() << '\n' << r.failure;
  }
  EXPECT_EQ(fences, 1);
}

}  // namespace
}  // namespace kith
