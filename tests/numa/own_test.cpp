// The runtime's own memory is where it is used: stacks, including what the starting thread wrote into them,
// tasks, and queues. This holds also if pages cannot be placed: then by first touch, from the worker's own core.
#include "real_nodes.hpp"
#include "sandbox.hpp"
#include "support/watched_memory.hpp"

#include "api/implementation.hpp"
#include "policy/list.hpp"
#include "queue/native/world.hpp"
#include "task/closure_room.hpp"

#include <pthread.h>

#include <deque>
#include <functional>
#include <latch>
#include <memory_resource>
#include <mutex>
#include <set>
#include <vector>

namespace {

using namespace kith;

class OwnMemory : public kith::test::two_hosts {
 public:
  /// Runs one task on each worker, all at the same time.
  static void on_all_workers(runtime& rt, const std::function<void(native::worker&)>& f) {
    std::latch met(rt.workers());  // so that no worker runs a second task
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
      // Deep in the stack, where the task is, and at its top, where the starting thread has written first.
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
    // Slabs are handed out whole, in order. The first slab that was never written is the end.
    for (slot_index i = slot_space::slab; node_of(&e.space[i]) >= 0; ++i) {
      const std::uint16_t owner = e.space[i].owner;
      if (owner >= e.workers.size()) continue;
      EXPECT_EQ(node_of(&e.space[i]), e.memory.nearest(e.workers[owner].node).value) << "slot " << i;
      owners.insert(owner);
    }
    EXPECT_EQ(owners.size(), e.workers.size());
  }

  /// Checks the queues of a policy that one thread makes, as here, in the memory that the engine gives its
  /// own policy. Each worker queues tasks whose creator is on another node.
  void check_queues(const char* policy) const {
    runtime rt(kith::test::with_policy("steal"));
    native::engine& e = runtime::implementation::engine_of(rt);
    policy_context s = e.context_of_policy();
    ASSERT_EQ(s.own_memory.size(), here.nodes.size());
    std::deque<kith::test::watched_memory> watched;
    std::vector<std::pmr::memory_resource*> by_node;
    for (std::pmr::memory_resource* m : s.own_memory) by_node.push_back(&watched.emplace_back(m));
    s.own_memory = by_node;
    constexpr std::size_t entries = 4096;
    const auto workers = static_cast<std::size_t>(rt.workers());
    std::vector<std::vector<task>> tasks(workers);
    for (std::vector<task>& of_worker : tasks) of_worker = std::vector<task>(entries);
    const auto chosen = make_policy<native::world>(policy, s);
    on_all_workers(rt, [&](native::worker& w) {
      for (task& t : tasks[w.id.index()]) {
        kith::make_room(t, {0, 1, 0});
        t.node = task::no_node;
        t.owner = static_cast<std::uint16_t>((w.id.index() + workers / 2) % workers);
        task* const one = &t;
        chosen->ready({&one, 1}, w, ready_reason::creation);
      }
    });
    for (node_id n : s.workers.inhabited()) {
      const auto in_queues = entries * s.workers.workers_at(n).size() * sizeof(task*);
      EXPECT_GT(expect_at(e.memory.nearest(n), watched[n.index()], policy), in_queues / page) << policy;
    }
  }

  /// Expects that the pages of the memory are on the node. Returns how many were ever touched.
  std::size_t expect_at(node_id n, const kith::test::watched_memory& m, const char* policy) const {
    const bool placed = numa::process_rights().can_place();
    std::size_t touched = 0;
    for (const auto& [at, bytes] : m.pieces()) {
      // Smaller pieces share a page. If pages cannot be placed, the page is on its first user's node.
      if (!placed && bytes <= page) continue;
      const auto before = reinterpret_cast<std::uintptr_t>(at) % page;
      for (std::size_t offset = 0; offset < before + bytes; offset += page) {
        const int found = node_of(at - before + offset);
        if (found < 0) continue;
        ++touched;
        EXPECT_EQ(found, n.value) << policy << ", byte " << offset << " of " << bytes;
      }
    }
    return touched;
  }

  /// Where Kith may not place pages, but the test may ask where they are.
  template <class... Arguments>
  void expect_in_sandbox(void (OwnMemory::*check)(Arguments...) const, Arguments... arguments) {
    const kith::test::child c = kith::test::in_sandbox({SYS_mbind, SYS_set_mempolicy, SYS_migrate_pages}, [=, this] {
      EXPECT_FALSE(numa::process_rights().can_place());
      (this->*check)(arguments...);
      return 0;
    });
    if (!c.possible()) GTEST_SKIP() << "this system lets no process filter its system calls";
    EXPECT_EQ(c.code, 0) << c.said;
  }
};

/// Does not ask for rights before the sandbox has removed them.
class OwnMemoryRefused : public OwnMemory {
 public:
  void SetUp() override {
    several_nodes::SetUp();
    if (!IsSkipped() && hosts().size() < 2) GTEST_SKIP() << "one node alone has both cores and memory";
  }
};

TEST_F(OwnMemory, StacksAreOnTheirWorkersNode) { check_stacks(); }
TEST_F(OwnMemory, TasksAreOnTheirCreatorsNode) { check_tasks(); }
TEST_F(OwnMemory, QueuesAreOnTheirNode) {
  for (const char* policy : {"steal", "dep", "dep:order=created", "numa", "home-cache", "source", "nabbit"})
    check_queues(policy);
}
TEST_F(OwnMemoryRefused, StacksAreOnTheirWorkersNode) { expect_in_sandbox(&OwnMemory::check_stacks); }
TEST_F(OwnMemoryRefused, TasksAreOnTheirCreatorsNode) { expect_in_sandbox(&OwnMemory::check_tasks); }
TEST_F(OwnMemoryRefused, DequesAreOnTheirOwnersNode) { expect_in_sandbox(&OwnMemory::check_queues, "steal"); }

}  // namespace
