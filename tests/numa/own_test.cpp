// The runtime's own memory lies where it is used: stacks with what the starting thread wrote into them, tasks, and queues.
// Also where pages cannot be placed: then by first touch, from the worker's own core.
#include "real_nodes.hpp"
#include "sandbox.hpp"

#include "api/implementation.hpp"
#include "queue/native/deque.hpp"

#include <pthread.h>

#include <deque>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <vector>

namespace {

using namespace kith;

class OwnMemory : public kith::test::two_hosts {
 public:
  /// One task on each worker, all at the same time.
  static void on_all_workers(runtime& rt, const std::function<void(native::worker&)>& f) {
    std::latch met(rt.workers());  // nobody does a second task
    rt.run([&] {
      for (int w = 0; w < rt.workers(); ++w) {
        spawn([&] {
          met.arrive_and_wait();
          f(*native::worker::current());
        });
      }
    });
  }

  void check_stacks() const {
    runtime rt(kith::test::with_policy("steal"));
    const native::engine& e = runtime::implementation::engine_of(rt);
    std::mutex guard;
    std::set<int> seen;
    on_all_workers(rt, [&](native::worker& w) {
      if (w.id.value == 0) return;  // the guest's stack is the program's
      char here_on_stack = 0;
      pthread_attr_t a;
      void* lowest = nullptr;
      std::size_t bytes = 0;
      pthread_getattr_np(pthread_self(), &a);
      pthread_attr_getstack(&a, &lowest, &bytes);
      pthread_attr_destroy(&a);
      // Deep in the stack, where the task is; at its top, where the starting thread has written first.
      const int wanted = e.memory.nearest(w.node).value;
      const int at_task = node_of(&here_on_stack), at_top = node_of(static_cast<char*>(lowest) + bytes - 1);
      const std::lock_guard lock(guard);
      seen.insert(w.id.value);
      EXPECT_EQ(at_task, wanted) << "worker " << w.id.value;
      EXPECT_EQ(at_top, wanted) << "worker " << w.id.value;
    });
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(rt.workers()) - 1);
  }

  void check_tasks() const {
    runtime rt(kith::test::with_policy("steal"));
    native::engine& e = runtime::implementation::engine_of(rt);
    on_all_workers(rt, [](native::worker&) {
      for (int i = 0; i < 500; ++i) spawn([] {});
    });
    std::set<int> owners;
    // Slabs are handed out from the first on, whole: the first one that was never written ends them.
    for (slot_index i = slot_space::slab; node_of(&e.space[i]) >= 0; ++i) {
      const std::uint16_t owner = e.space[i].owner;
      if (owner >= e.workers.size()) continue;
      EXPECT_EQ(node_of(&e.space[i]), e.memory.nearest(e.workers[owner].node).value) << "slot " << i;
      owners.insert(owner);
    }
    EXPECT_EQ(owners.size(), e.workers.size());
  }

  /// Deques are made by the thread that makes the policy, as here.
  void check_queues() const {
    runtime rt(kith::test::with_policy("steal"));
    const native::engine& e = runtime::implementation::engine_of(rt);
    constexpr std::int64_t entries = 4096;
    std::deque<native::work_deque<const native::worker>> deques;
    for (int w = 0; w < rt.workers(); ++w) deques.emplace_back(entries);
    on_all_workers(rt, [&](native::worker& w) {
      for (std::int64_t i = 0; i < entries; ++i) deques[w.id.index()].push(&w);
    });
    for (const native::worker& w : e.workers) {
      const auto* const first = static_cast<const std::byte*>(deques[w.id.index()].storage());
      // The first page may hold something else of this thread's as well; the last one, too.
      for (std::size_t at = page; at + page <= entries * sizeof(void*); at += page)
        EXPECT_EQ(node_of(first + at), e.memory.nearest(w.node).value) << "worker " << w.id.value << ", byte " << at;
    }
  }

  /// Where Kith may not place pages; the test may ask where they are.
  void expect_in_sandbox(void (OwnMemory::*check)() const) {
    const kith::test::child c =
        kith::test::in_sandbox({SYS_mbind, SYS_set_mempolicy, SYS_migrate_pages}, [this, check] {
          EXPECT_FALSE(numa::process_rights().can_place());
          (this->*check)();
          return 0;
        });
    if (!c.possible()) GTEST_SKIP() << "this system lets no process filter its system calls";
    EXPECT_EQ(c.code, 0) << c.said;
  }
};

/// Asks for no rights before the sandbox has taken them.
class OwnMemoryRefused : public OwnMemory {
 public:
  void SetUp() override {
    several_nodes::SetUp();
    if (!IsSkipped() && hosts().size() < 2) GTEST_SKIP() << "one node alone has both cores and memory";
  }
};

TEST_F(OwnMemory, StacksAreOnTheirWorkersNode) { check_stacks(); }
TEST_F(OwnMemory, TasksAreOnTheirCreatorsNode) { check_tasks(); }
TEST_F(OwnMemory, DequesAreOnTheirOwnersNode) { check_queues(); }
TEST_F(OwnMemoryRefused, StacksAreOnTheirWorkersNode) { expect_in_sandbox(&OwnMemory::check_stacks); }
TEST_F(OwnMemoryRefused, TasksAreOnTheirCreatorsNode) { expect_in_sandbox(&OwnMemory::check_tasks); }
TEST_F(OwnMemoryRefused, DequesAreOnTheirOwnersNode) { expect_in_sandbox(&OwnMemory::check_queues); }

}  // namespace
