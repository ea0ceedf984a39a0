// Where policies run tasks, and where the data of these then is, on a machine that really has several nodes. Every place
// is asked of the kernel, by the task itself.
#include "kernel_view.hpp"

#include "policy/list.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <cstdint>
#include <latch>
#include <map>
#include <numeric>
#include <vector>

namespace kith {
namespace {

runtime_options under(const std::string& policy) {
  runtime_options o;
  o.policy = policy;
  return o;
}

/// Of each node the one whose memory its CPUs touch first, by the kernel's numbers.
std::map<int, int> memory_of_nodes() {
  const machine m = discover_machine();
  std::map<int, int> found;
  for (const machine::node& n : m.nodes) found[n.os_index] = test::os_node(m, m.nearest_node_with_memory(n.id));
  return found;
}

/// Blocks of data, each on a page of its own, and rounds of tasks on them.
class blocks {
 public:
  explicit blocks(std::size_t count)
      : memory_(test::untouched_pages(count)), remote_(count), ran_on_(count), page_on_(count) {}

  /// One task for each block; with `meeting` none of them ends before all of them run, so that each is on a worker of its
  /// own: then there must be as many workers as blocks.
  void round(runtime& rt, bool meeting) {
    std::latch met(static_cast<std::ptrdiff_t>(size()));
    rt.run([&] {
      for (std::size_t b = 0; b < size(); ++b) {
        kith::spawn(
            [&, b](std::span<std::byte> mine) {
              if (meeting) met.arrive_and_wait();
              mine[0] = std::byte{1};
              ran_on_[b] = memory_of_.at(static_cast<int>(test::here().node));
              page_on_[b] = test::node_of_page(mine.data());
              remote_[b] += ran_on_[b] != page_on_[b] ? 1 : 0;
            },
            kith::inout(memory_.get() + b * test::page_bytes(), test::page_bytes()));
      }
    });
  }

  std::size_t size() const { return remote_.size(); }
  /// The nodes that the task of each block ran on, and that its page is on, in the last round.
  const std::vector<int>& ran_on() const { return ran_on_; }
  const std::vector<int>& page_on() const { return page_on_; }
  /// Tasks so far that ran on another node than their block's.
  std::uint64_t remote_tasks() const { return std::accumulate(remote_.begin(), remote_.end(), std::uint64_t{0}); }

 private:
  test::pages memory_;
  std::map<int, int> memory_of_ = memory_of_nodes();
  std::vector<std::uint64_t> remote_;
  std::vector<int> ran_on_, page_on_;
};

TEST(NumaFirstTouch, PutsDataOnTheNodeOfTheTaskThatTouchesIt) {
  KITH_NEEDS_NODES(2);
  std::set<int> nodes;
  for (int n : test::nodes_with_cpus()) nodes.insert(memory_of_nodes().at(n));
  for (const char* policy : {"steal", "fifo"}) {
    runtime rt(under(policy));
    blocks data(static_cast<std::size_t>(rt.workers()));
    data.round(rt, true);
    EXPECT_EQ(data.page_on(), data.ran_on()) << policy;
    EXPECT_EQ(std::set<int>(data.page_on().begin(), data.page_on().end()), nodes) << policy;
  }
}

TEST(NumaStatistics, RemoteAccessesAreTheKernels) {
  KITH_NEEDS_NODES(2);
  constexpr int rounds = 4;
  for (const char* policy : {"steal", "fifo"}) {
    runtime rt(under(policy));
    blocks data(static_cast<std::size_t>(rt.workers()));
    for (int i = 0; i < rounds; ++i) data.round(rt, true);
    const statistics s = rt.statistics();
    EXPECT_GT(data.remote_tasks(), 0u) << policy << " knows nothing of places";
    EXPECT_EQ(s.remote_accesses, 2 * data.remote_tasks()) << policy;  // the task, and its access that reads
    EXPECT_EQ(s.local_accesses + s.remote_accesses, 2 * rounds * data.size()) << policy;
    EXPECT_FALSE(s.pretended);
  }
}

TEST(NumaDep, RunsTasksWhereTheirDataIs) {
  KITH_NEEDS_NODES(2);
  runtime rt(under("dep"));
  blocks data(48);
  for (int i = 0; i < 3; ++i) data.round(rt, false);
  EXPECT_EQ(data.remote_tasks(), 0u);
  EXPECT_EQ(rt.statistics().remote_accesses, 0u);
  std::map<int, int> blocks_on;
  for (int n : data.page_on()) ++blocks_on[n];
  for (int n : test::nodes_with_cpus()) {  // each is drawn for its share of new data
    EXPECT_GT(blocks_on[memory_of_nodes().at(n)], 0) << "node " << n;
  }
}

TEST(NumaNuma, FetchesLessFromElsewhereThanStealing) {
  KITH_NEEDS_NODES(2);
  std::map<std::string, std::uint64_t> remote;
  for (const char* policy : {"steal", "numa:footprint=0"}) {
    runtime rt(under(policy));
    blocks data(static_cast<std::size_t>(rt.workers()));
    data.round(rt, true);  // each worker touches one
    for (int i = 0; i < 4; ++i) data.round(rt, false);
    remote[policy] = data.remote_tasks();
  }
  EXPECT_GT(remote["steal"], 0u);
  // No node has more tasks than cores, so none is robbed.
  EXPECT_EQ(remote["numa:footprint=0"], 0u);
}

TEST(NumaSocket, RunsTasksOnTheNodeTheyName) {
  const machine m = discover_machine();
  runtime rt(under("socket"));
  constexpr std::size_t each = 8;
  std::vector<int> ran_on(each * m.nodes.size());
  rt.run([&] {
    for (std::size_t t = 0; t < ran_on.size(); ++t) {
      kith::spawn([&, t] { ran_on[t] = static_cast<int>(test::here().node); }, kith::node{static_cast<int>(t / each)});
    }
  });
  const auto memory_of = memory_of_nodes();
  for (std::size_t t = 0; t < ran_on.size(); ++t) {
    // Named nodes without CPUs are the nearest one's; CPUs without memory are of the node that their memory is from.
    const node_id named(static_cast<int>(t / each));
    const node_id serving = m.nearest_node_with_cores(m.nearest_node_with_memory(named));
    EXPECT_EQ(memory_of.at(ran_on[t]), test::os_node(m, serving)) << "task for node " << named.value;
  }
}

TEST(NumaPolicies, EveryOneRunsAProgramToItsEnd) {
  for (const policy_entry& p : policy_list()) {
    runtime rt(under(p.name));
    constexpr std::size_t chains = 16;
    constexpr int links = 4;
    const test::pages memory = test::untouched_pages(chains);
    const auto value = [&](std::size_t c) { return reinterpret_cast<int*>(&memory[c * test::page_bytes()]); };
    rt.run([&] {
      for (int i = 0; i < links; ++i) {
        for (std::size_t c = 0; c < chains; ++c) {
          kith::spawn([](std::span<int> v) { ++v[0]; }, kith::inout(value(c), 1), kith::node{static_cast<int>(c)},
                      kith::color{static_cast<int>(c) % rt.workers()});
        }
      }
    });
    for (std::size_t c = 0; c < chains; ++c) EXPECT_EQ(*value(c), links) << p.name;
    EXPECT_EQ(rt.statistics().total.tasks, chains * links) << p.name;
  }
}

}  // namespace
}  // namespace kith
