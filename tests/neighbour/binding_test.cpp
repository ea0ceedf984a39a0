// Where workers may run, and the effect on other threads, programs and runtimes that start beside them.
#include "fresh_process.hpp"

#include "machine/cpu_claims.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"

#include <kith/kith.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

namespace {

using namespace kith;
using kith::test::in_child_of_this;
using kith::test::in_fresh_process;
using kith::test::my_cpus;

runtime_options bound(const char* how, int workers = 1) {
  runtime_options o;
  if (*how != '\0') o.bind = how;
  o.workers = workers;
  return o;
}

/// The CPUs that a task of the runtime may run on, on the thread that calls run and on the others.
std::vector<int> cpus_in_run(runtime& rt) {
  std::vector<int> found;
  rt.run([&] { found = my_cpus(); });
  return found;
}
std::vector<int> cpus_of_a_worker(runtime& rt) {
  return rt.submit([] { return my_cpus(); }).get();
}
std::vector<int> cpus_of_a_new_thread() {
  std::vector<int> found;
  std::thread([&] { found = my_cpus(); }).join();
  return found;
}
/// The number of CPUs according to a program that prints it.
int nproc_by_popen() {
  std::FILE* const said = popen("nproc", "r");
  int n = -1;
  if (said == nullptr || std::fscanf(said, "%d", &n) != 1) n = -1;
  if (said != nullptr) pclose(said);
  return n;
}
int nproc_by_exec() {
  return in_child_of_this([] {
    // Its output as its exit code.
    execlp("sh", "sh", "-c", "exit $(nproc)", static_cast<char*>(nullptr));
    return 255;
  });
}

class Binding : public testing::Test {
 protected:
  void SetUp() override {
    if (mine.size() < 2) GTEST_SKIP() << "this process may use one CPU";
    if (current_machine().pretended) GTEST_SKIP() << "the machine is pretended";
    unsetenv("OMP_NUM_THREADS");  // nproc obeys it
  }
  const std::vector<int> mine = my_cpus();
};

TEST_F(Binding, WorkersAreFreeIfAskedForAndByDefaultWhereThePlanSaysSo) {
  std::vector<const char*> free_by{"off"};
  if (plan_workers(current_machine(), process_limits(), 2).bound == bind_mode::off)
    free_by.insert(free_by.end(), {"", "auto"});
  const auto body = [&] {
    for (const char* how : free_by) {
      runtime rt(bound(how, 2));
      EXPECT_EQ(cpus_in_run(rt), mine) << how;
      EXPECT_EQ(cpus_of_a_worker(rt), mine) << how;
      rt.run([&] {
        EXPECT_EQ(cpus_of_a_new_thread(), mine);
        EXPECT_EQ(nproc_by_popen(), static_cast<int>(mine.size()));
      });
    }
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, CoresIsOneCpuEach) {
  const auto body = [&] {
    runtime rt(bound("cores", 2));
    std::vector<int> seen(2, -1);
    std::latch met(2);
    rt.run([&] {
      for (int i = 0; i < 2; ++i) {
        spawn([&] {
          met.arrive_and_wait();
          const std::vector<int> cpus = my_cpus();
          EXPECT_EQ(cpus.size(), 1u);
          seen[static_cast<std::size_t>(this_worker())] = cpus.front();
        });
      }
    });
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_EQ(my_cpus(), mine);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, NodesIsWhatTheProcessMayUseOfOne) {
  const auto body = [&] {
    runtime rt(bound("nodes"));
    const machine here = current_machine();
    std::vector<int> of_node;
    for (const machine::core& c : here.cores) {
      if (c.node == here.cores.front().node) of_node.insert(of_node.end(), c.cpus.begin(), c.cpus.end());
    }
    std::ranges::sort(of_node);
    std::vector<int> both;
    std::ranges::set_intersection(of_node, mine, std::back_inserter(both));
    if (here.nodes.size() == 1) {
      EXPECT_EQ(cpus_in_run(rt), both);
    }
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, UnboundIsForWhatIsStartedInside) {
  const auto body = [&] {
    runtime rt(bound("cores"));
    auto look = [&] {
      const std::vector<int> one = my_cpus();
      EXPECT_EQ(one.size(), 1u);
      EXPECT_EQ(cpus_of_a_new_thread(), one);
      {
        const unbound outer;
        EXPECT_EQ(my_cpus(), mine);
        {
          const unbound inner;
          EXPECT_EQ(cpus_of_a_new_thread(), mine);
        }
        EXPECT_EQ(nproc_by_popen(), static_cast<int>(mine.size()));
        EXPECT_EQ(my_cpus(), mine);
      }
      EXPECT_EQ(my_cpus(), one);
    };
    rt.run(look);
    rt.submit(look).get();
    const unbound nothing;
    EXPECT_EQ(cpus_in_run(rt).size(), 1u);
    EXPECT_EQ(my_cpus(), mine);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, AChildOfForkHasTheProcesssMask) {
  const auto body = [&] {
    runtime rt(bound("cores"));
    auto look = [&] {
      EXPECT_EQ(my_cpus().size(), 1u);
      EXPECT_EQ(in_child_of_this([&] { return my_cpus() == mine ? 7 : 1; }), 7);
      EXPECT_EQ(nproc_by_exec(), static_cast<int>(mine.size()));
      EXPECT_EQ(my_cpus().size(), 1u);
    };
    rt.run(look);
    rt.submit(look).get();
    // A runtime inside a task of another one: the mask must return to what it was before both.
    rt.run([&] {
      runtime inner(bound("cores"));
      inner.run([&] { EXPECT_EQ(in_child_of_this([&] { return my_cpus() == mine ? 7 : 1; }), 7); });
    });
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, ARuntimeMadeInATaskIsNotBoundByIt) {
  const auto body = [&] {
    runtime rt(bound("cores"));
    rt.run([&] {
      runtime inner(bound("off"));
      EXPECT_EQ(cpus_of_a_worker(inner), mine);
    });
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, TwoRuntimesWithOneWorkerEachAreOnTwoCpus) {
  const auto body = [&] {
    const runtime_options o = bound("cores");
    runtime a(o), b(o);
    EXPECT_NE(cpus_in_run(a), cpus_in_run(b));
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST_F(Binding, SoAreTwoProcesses) {
  int say[2], until[2];
  ASSERT_EQ(pipe(say), 0);
  ASSERT_EQ(pipe(until), 0);
  const auto of_process = [] {
    runtime rt(bound("cores"));
    return cpus_in_run(rt).front();
  };
  std::fflush(nullptr);
  const pid_t first = fork();
  if (first == 0) {
    alarm(kith::test::hangs_after_seconds);
    close(until[1]);
    runtime rt(bound("cores"));
    const int cpu = cpus_in_run(rt).front();
    // The claim belongs to this process, not to its child.
    const pid_t child = fork();
    if (child == 0) {
      alarm(kith::test::hangs_after_seconds);
      char c = 0;
      static_cast<void>(read(until[0], &c, 1));
      _exit(0);
    }
    static_cast<void>(write(say[1], &cpu, sizeof cpu));
    char c = 0;
    static_cast<void>(read(until[0], &c, 1));
    _exit(0);
  }
  close(until[0]);
  int one = -1;
  ASSERT_EQ(read(say[0], &one, sizeof one), static_cast<ssize_t>(sizeof one));
  const int two = in_fresh_process(of_process).code;
  EXPECT_NE(one, two);
  close(until[1]);
  EXPECT_EQ(kith::test::wait_for(first), 0);
}

TEST(Claims, OneAtEachLevelUntilTheyAreReleased) {
  const auto body = [] {
    constexpr int cpu = 1 << 20;  // no such CPU
    cpu_claims a, b;
    EXPECT_TRUE(a.take(cpu, 0));
    EXPECT_FALSE(b.take(cpu, 0));
    EXPECT_TRUE(b.take(cpu, 1));
    a.release();
    EXPECT_TRUE(b.take(cpu, 0));
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Bind, AWrongWordIsRefused) {
  const auto body = [] {
    EXPECT_THAT([] { runtime rt(bound("socket")); },
                testing::ThrowsMessage<error>(
                    testing::HasSubstr("bind = 'socket': expected cores, caches, nodes, off or auto")));
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

}  // namespace
