// Where policies run tasks, and where the tasks' data is then, on a machine that really has several nodes.
// Tasks ask the kernel for every place themselves.
#include "real_nodes.hpp"

#include "policy/list.hpp"

#include <algorithm>
#include <cstdint>
#include <latch>
#include <map>
#include <numeric>
#include <vector>

namespace kith {
namespace {

/// Blocks of data, each on its own page, and rounds of tasks on them.
class blocks {
 public:
  /// `home_of`: by node, the node from which its cores get memory.
  blocks(std::size_t count, const machine& on, std::vector<int> home_of)
      : on_(on),
        home_of_(std::move(home_of)),
        memory_(test::untouched_pages(count)),
        remote_(count),
        ran_on_(count),
        page_on_(count) {}

  /// One task for each block. With `meeting`, none of them ends before all of them run, so that each is on
  /// a worker of its own. Then there must be as many workers as blocks.
  void round(runtime& rt, bool meeting) {
    std::latch met(static_cast<std::ptrdiff_t>(size()));
    rt.run([&] {
      for (std::size_t b = 0; b < size(); ++b) {
        kith::spawn(
            [&, b](std::span<std::byte> mine) {
              if (meeting) met.arrive_and_wait();
              mine[0] = std::byte{1};
              ran_on_[b] = home_of_[test::node_by_os(on_, static_cast<int>(test::here().node)).index()];
              page_on_[b] = test::node_by_os(on_, test::node_of_page(mine.data())).value;
              remote_[b] += ran_on_[b] != page_on_[b] ? 1 : 0;
            },
            kith::inout(memory_.get() + b * test::page_bytes(), test::page_bytes()));
      }
    });
  }

  std::size_t size() const { return remote_.size(); }
  const std::byte* block(std::size_t b) const { return memory_.get() + b * test::page_bytes(); }
  /// For each block in the last round: the node from which its task's core gets memory, and the node that
  /// its page is on.
  const std::vector<int>& ran_on() const { return ran_on_; }
  const std::vector<int>& page_on() const { return page_on_; }
  /// The tasks so far that ran on another node than their block's.
  std::uint64_t remote_tasks() const { return std::accumulate(remote_.begin(), remote_.end(), std::uint64_t{0}); }

 private:
  const machine& on_;
  std::vector<int> home_of_;
  test::pages memory_;
  std::vector<std::uint64_t> remote_;
  std::vector<int> ran_on_, page_on_;
};

using FirstTouch = test::several_nodes;
using Statistics = test::several_nodes;
using Auto = test::several_nodes;
using Dep = test::several_nodes;
using Numa = test::several_nodes;
using Socket = test::several_nodes;
using Policies = test::several_nodes;

TEST_F(FirstTouch, PutsDataOnTheNodeOfTheTaskThatTouchesIt) {
  const std::vector<int> nodes = homes();
  for (const char* policy : {"steal", "fifo"}) {
    runtime rt(test::with_policy(policy));
    blocks data(static_cast<std::size_t>(rt.workers()), here, first_touch());
    data.round(rt, true);
    EXPECT_EQ(data.page_on(), data.ran_on()) << policy;
    EXPECT_THAT(std::set<int>(data.page_on().begin(), data.page_on().end()), testing::ElementsAreArray(nodes))
        << policy;
  }
}

TEST_F(Statistics, RemoteAccessesAreTheKernels) {
  constexpr int rounds = 4;
  for (const char* policy : {"steal", "fifo"}) {
    runtime rt(test::with_policy(policy));
    blocks data(static_cast<std::size_t>(rt.workers()), here, first_touch());
    for (int i = 0; i < rounds; ++i) data.round(rt, true);
    const statistics s = rt.statistics();
    EXPECT_GT(data.remote_tasks(), 0u) << policy << " knows nothing of places";
    EXPECT_EQ(s.remote_accesses, 2 * data.remote_tasks()) << policy;  // the task itself, and its access that reads
    EXPECT_EQ(s.local_accesses + s.remote_accesses, 2 * rounds * data.size()) << policy;
    EXPECT_FALSE(s.pretended);
  }
}

TEST_F(Dep, RunsTasksWhereTheirDataIs) {
  runtime rt(test::with_policy("dep"));
  blocks data(48, here, first_touch());
  for (int i = 0; i < 3; ++i) data.round(rt, false);
  EXPECT_EQ(data.remote_tasks(), 0u);
  EXPECT_EQ(rt.statistics().remote_accesses, 0u);
  std::map<int, int> blocks_on;
  for (int n : data.page_on()) ++blocks_on[n];
  for (int n : homes()) EXPECT_GT(blocks_on[n], 0) << "node " << n;  // each node is drawn for its share of new data
}

// These tasks ask the kernel, which takes longer than their data does. So many of them are stolen, at first
// touch as well.
TEST_F(Auto, KnowsWhereThePagesAreAlsoOfTasksThatWereStolen) {
  runtime rt(test::with_policy("auto"));
  blocks data(48, here, first_touch());
  for (int i = 0; i < 3; ++i) data.round(rt, false);
  const std::vector<int> home_of = first_touch();
  for (std::size_t b = 0; b < data.size(); ++b) {
    const std::vector<std::uint64_t> known = known_bytes_on_nodes(rt, data.block(b), test::page_bytes());
    const auto at = static_cast<std::size_t>(std::ranges::max_element(known) - known.begin());
    EXPECT_EQ(home_of[at], data.page_on()[b]) << "block " << b << " of " << data.size() << ", home node " << at;
  }
}

TEST_F(Numa, FetchesLessFromElsewhereThanStealing) {
  std::map<std::string, std::uint64_t> remote;
  for (const char* policy : {"steal", "numa:footprint=0"}) {
    runtime rt(test::with_policy(policy));
    blocks data(static_cast<std::size_t>(rt.workers()), here, first_touch());
    data.round(rt, true);  // each worker touches one block
    for (int i = 0; i < 4; ++i) data.round(rt, false);
    remote[policy] = data.remote_tasks();
  }
  EXPECT_GT(remote["steal"], 0u);
  // No node has more tasks than cores, so none is robbed.
  EXPECT_EQ(remote["numa:footprint=0"], 0u);
}

TEST_F(Socket, RunsTasksOnTheNodeTheyName) {
  runtime rt(test::with_policy("socket"));
  constexpr std::size_t each = 8;
  std::vector<int> ran_on(each * here.nodes.size());
  rt.run([&] {
    for (std::size_t t = 0; t < ran_on.size(); ++t) {
      kith::spawn([&, t] { ran_on[t] = node_here(); }, kith::node{static_cast<int>(t / each)});
    }
  });
  const std::vector<int> home_of = first_touch();
  for (std::size_t t = 0; t < ran_on.size(); ++t) {
    // A named node without CPUs is served by the nearest one with CPUs. CPUs without memory count to the
    // node that their memory is from.
    const node_id named(static_cast<int>(t / each));
    const node_id serving = here.nearest_node_with_cores(here.nearest_node_with_memory(named));
    EXPECT_EQ(home_of[static_cast<std::size_t>(ran_on[t])], serving.value) << "task for node " << named.value;
  }
}

TEST_F(Policies, EveryOneRunsAProgramToItsEnd) {
  for (const policy_entry& p : policy_list()) {
    runtime rt(test::with_policy(p.name));
    constexpr std::size_t chains = 10;
    constexpr int links = 2;
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
