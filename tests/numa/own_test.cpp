// The runtime's own memory lies where it is used: stacks with what the starting thread wrote into them, and tasks.
#include "real_nodes.hpp"

#include "api/implementation.hpp"

#include <pthread.h>

#include <set>

namespace {

using namespace kith;

class OwnMemory : public kith::test::two_hosts {};

TEST_F(OwnMemory, StacksAreOnTheirWorkersNode) {
  runtime rt(kith::test::with_policy("socket:steal=off"));
  native::engine& e = runtime::implementation::engine_of(rt);
  std::mutex guard;
  std::set<int> seen;
  rt.run([&] {
    for (int round = 0; round < 8; ++round) {
      for (int h : hosts()) {
        spawn(
            [&] {
              const native::worker& w = *native::worker::current();
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
              EXPECT_EQ(at_task, wanted) << w.id.value;
              EXPECT_EQ(at_top, wanted) << w.id.value;
            },
            node{h});
      }
    }
  });
  EXPECT_FALSE(seen.empty());
}

TEST_F(OwnMemory, TasksAreOnTheirCreatorsNode) {
  runtime rt(kith::test::with_policy("socket:steal=off"));
  native::engine& e = runtime::implementation::engine_of(rt);
  rt.run([&] {
    for (int h : hosts()) {
      spawn(
          [] {
            for (int i = 0; i < 500; ++i) spawn([] {});
          },
          node{h});
    }
  });
  std::size_t looked = 0;
  // Slabs are handed out from the first on, whole: the first one that was never written ends them.
  for (slot_index i = slot_space::slab; node_of(&e.space[i]) >= 0; ++i) {
    const std::uint16_t owner = e.space[i].owner;
    if (owner >= e.workers.size()) continue;
    EXPECT_EQ(node_of(&e.space[i]), e.memory.nearest(e.workers[owner].node).value) << "slot " << i;
    ++looked;
  }
  EXPECT_GT(looked, hosts().size());
}

}  // namespace
