// What Kith detects on a machine with several nodes, and where it puts its workers, compared with the kernel.
#include "real_nodes.hpp"

#include "machine/limits.hpp"

#include <cstdlib>
#include <latch>
#include <map>
#include <mutex>

namespace kith {
namespace {

using testing::SizeIs;

std::set<int> cpus_of(const machine& m, const machine::node& n) {
  std::set<int> cpus;
  for (core_id c : n.cores) cpus.insert(m.cores[c.index()].cpus.begin(), m.cores[c.index()].cpus.end());
  return cpus;
}

TEST(Machine, IsTheOneThatWasOrdered) {
  const char* ordered = std::getenv("KITH_GUEST_NODES");
  if (ordered == nullptr) GTEST_SKIP() << "no guest of tests/numa/vm.py";
  EXPECT_EQ(test::nodes_online().size(), static_cast<std::size_t>(std::atoi(ordered)));
  EXPECT_EQ(discover_machine().nodes.size(), static_cast<std::size_t>(std::atoi(ordered)));
}

TEST(Machine, NodesAreTheKernels) {
  const machine m = discover_machine();
  std::set<int> seen;
  for (const machine::node& n : m.nodes) {
    seen.insert(n.os_index);
    EXPECT_EQ(cpus_of(m, n), test::cpus_of_node(n.os_index)) << "node " << n.os_index;
    EXPECT_EQ(n.memory_bytes != 0, test::nodes_with_memory().contains(n.os_index)) << "node " << n.os_index;
  }
  EXPECT_EQ(seen, test::nodes_online());
}

TEST(Machine, DistancesAreTheKernels) {
  const machine m = discover_machine();
  for (const machine::node& from : m.nodes) {
    std::istringstream row(
        test::line_of("/sys/devices/system/node/node" + std::to_string(from.os_index) + "/distance"));
    for (int os : test::nodes_online()) {  // the kernel's rows have the nodes that are online, in ascending order
      int expected = 0;
      ASSERT_TRUE(row >> expected);
      EXPECT_EQ(m.distance(from.id, test::node_by_os(m, os)), expected) << from.os_index << " to " << os;
    }
  }
}

TEST(Machine, TheNodeThatMemoryOfACoreComesFromIsTheKernels) {
  const machine m = discover_machine();
  for (const machine::node& n : m.nodes) {
    if (n.cores.empty()) continue;
    const test::on_cpu bound(test::first_cpu(m, n));
    const test::pages page = test::untouched_pages(1);
    page[0] = std::byte{1};
    EXPECT_EQ(test::node_of_page(&page[0]), test::os_node(m, m.nearest_node_with_memory(n.id))) << n.os_index;
  }
}

TEST(Plan, OneWorkerForEachCore) {
  const machine m = discover_machine();
  const worker_plan plan = plan_workers(m, read_limits(), std::nullopt);
  ASSERT_EQ(plan.workers, static_cast<int>(m.cores.size()));
  EXPECT_THAT(std::set<int>(plan.cpus.begin(), plan.cpus.end()), SizeIs(m.cores.size()));
  for (std::size_t w = 0; w < plan.cores.size(); ++w) {
    const int os = test::os_node(m, m.cores[plan.cores[w].index()].node);
    EXPECT_TRUE(test::cpus_of_node(os).contains(plan.cpus[w])) << "worker " << w << " on CPU " << plan.cpus[w];
  }
}

TEST(Plan, FewWorkersAreSpreadOverTheNodesThatHaveCpus) {
  const std::set<int> nodes = test::nodes_with_cpus();
  const machine m = discover_machine();
  const worker_plan plan = plan_workers(m, read_limits(), static_cast<int>(nodes.size()));
  std::set<int> used;
  for (core_id c : plan.cores) used.insert(test::os_node(m, m.cores[c.index()].node));
  EXPECT_EQ(used, nodes);
}

/// What each worker reports while all of them are in a task at the same time.
struct said {
  test::place at;
  std::size_t allowed = 0;  // CPUs that its thread may run on
};
std::map<int, said> ask_all_workers(runtime& rt) {
  std::mutex guard;
  std::map<int, said> answers;
  std::latch met(rt.workers());  // so that no worker runs a second task
  rt.run([&] {
    for (int i = 0; i < rt.workers(); ++i) {
      kith::spawn([&] {
        met.arrive_and_wait();
        said s;
        s.at = test::here();
        cpu_set_t allowed;
        sched_getaffinity(0, sizeof allowed, &allowed);
        s.allowed = static_cast<std::size_t>(CPU_COUNT(&allowed));
        std::lock_guard lock(guard);
        answers[this_worker()] = s;
      });
    }
  });
  return answers;
}

TEST(Workers, RunWhereTheyAreBound) {
  const machine m = discover_machine();
  const worker_plan plan = plan_workers(m, process_limits(), std::nullopt, false, {bind_mode::cores});
  runtime_options o;
  o.bind = "cores";
  runtime rt(o);
  const std::map<int, said> answers = ask_all_workers(rt);
  ASSERT_THAT(answers, SizeIs(m.cores.size()));
  for (const auto& [worker, s] : answers) {
    const std::size_t w = static_cast<std::size_t>(worker);
    const node_id node = m.cores[plan.cores[w].index()].node;
    EXPECT_EQ(s.allowed, 1u) << "worker " << worker;
    EXPECT_EQ(static_cast<int>(s.at.cpu), plan.cpus[w]) << "worker " << worker;
    EXPECT_EQ(static_cast<int>(s.at.node), test::os_node(m, node)) << "worker " << worker;
  }
}

TEST(Workers, AreBoundToTheirNodesIfNothingIsSaid) {
  const machine m = discover_machine();
  if (m.nodes.size() < 2) GTEST_SKIP() << "this machine has one memory node";
  const worker_plan plan = plan_workers(m, process_limits(), std::nullopt);
  runtime rt;
  const std::map<int, said> answers = ask_all_workers(rt);
  ASSERT_THAT(answers, SizeIs(m.cores.size()));
  for (const auto& [worker, s] : answers) {
    const int os = test::os_node(m, m.cores[plan.cores[static_cast<std::size_t>(worker)].index()].node);
    EXPECT_EQ(s.allowed, test::cpus_of_node(os).size()) << "worker " << worker;
    EXPECT_EQ(static_cast<int>(s.at.node), os) << "worker " << worker;
  }
}

TEST(Workers, TheCallerOfRunIsUnboundAgainAfterwards) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  runtime rt;
  rt.run([] {});
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace kith
