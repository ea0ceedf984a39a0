// Regions: their length, and their home, from a policy's choice to the first task that runs.
#include "support/allocated.hpp"

#include "memory/memory_space.hpp"
#include "memory/view.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace {

using namespace kith;
using test::memory;
using test::on;
using test::system_page;
using testing::ElementsAre;

/// A part of an array is named first, then all of it, like a row and its matrix.
TEST(Regions, AreAsLongAsTheMostThatIsNamed) {
  for (const bool at_once : {false, true}) {  // in one scope without a wait, or not
    runtime rt(on("node:2 core:1", "dep:steal=off"));
    memory m(rt, 3 * system_page, distribution::block);  // one page on node 0, two on node 1
    rt.run([&] {
      spawn([] {}, inout(m.get(), 8));
      if (!at_once) wait();
      spawn([] {}, inout(m.get(), 3 * system_page));
    });
    const kith::statistics s = rt.statistics();
    EXPECT_EQ(s.workers[0].tasks, 1u);
    EXPECT_EQ(s.workers[1].tasks, 1u) << "it runs where most of the whole is";
  }
}

class RegionsOfTwoNodes : public testing::Test {
 protected:
  const machine m = synthetic_machine("node:2 core:1");
  const node_id hosts[2] = {node_id(0), node_id(1)};
  region_table regions;
  memory_space space{m, hosts, {hosts[0], hosts[1]}, regions, {}};
};

TEST_F(RegionsOfTwoNodes, AreNoLongerThanWhatComesToLieThere) {
  const memory_block b = space.allocate(4 * system_page, distribution::block, {});
  void* const p = reinterpret_cast<void*>(b.at->begin);
  region& r = regions[regions.find(p, system_page)];
  EXPECT_EQ(r.home_node(), node_id(0));
  EXPECT_EQ(&regions[regions.find(p, 4 * system_page)], &r);
  EXPECT_EQ(r.bytes.load(relaxed), 4 * system_page);
  EXPECT_EQ(r.home.load(relaxed), region::several_homes);
  regions.find(p, system_page);
  EXPECT_EQ(r.home.load(relaxed), region::several_homes) << "less of it changes nothing";
  release_block(p);
  EXPECT_EQ(r.home.load(relaxed), region::no_home);
  regions.find(p, system_page);
  EXPECT_EQ(r.bytes.load(relaxed), system_page);
}

TEST_F(RegionsOfTwoNodes, OfDeferredMemoryThatGetLongerStayAtHome) {
  const memory_block b = space.allocate(4 * system_page, distribution::deferred, {});
  void* const p = reinterpret_cast<void*>(b.at->begin);
  region& r = regions[regions.find(p, system_page)];
  EXPECT_TRUE(r.set_home(node_id(1)));
  EXPECT_TRUE(r.to_bind.exchange(false, relaxed));
  space.bind(r);
  regions.find(p, 4 * system_page);
  EXPECT_EQ(r.home_node(), node_id(1));
  EXPECT_TRUE(r.to_bind.load(relaxed)) << "whoever writes it next binds the rest";
  release_block(p);
}

TEST(Regions, ThatCannotBeMadeAreNotThere) {
  region_table regions;
  bool refuse = true;
  regions.settle_with([&](region&) {
    if (refuse) throw std::bad_alloc();
  });
  int x = 0;
  EXPECT_THROW(regions.find(&x, 4), std::bad_alloc);
  refuse = false;
  const std::uint32_t found = regions.find(&x, 4);
  EXPECT_NE(found, 0u);
  EXPECT_EQ(regions[found].address, &x);
}

TEST(Regions, OfARangeWhereverTheyBegin) {
  region_table regions;
  std::vector<std::uintptr_t> begin{1 << 21, (1 << 21) + 8, 3 << 21, 9 << 21, std::uintptr_t{1} << 40};
  for (std::uintptr_t a : begin) regions.find(reinterpret_cast<void*>(a), 8);
  const auto in_range = [&](std::uintptr_t from, std::uint64_t bytes) {
    std::vector<std::uintptr_t> found;
    regions.for_each_in(reinterpret_cast<void*>(from), bytes,
                        [&](region& r) { found.push_back(reinterpret_cast<std::uintptr_t>(r.address)); });
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(in_range(0, std::uint64_t{1} << 47), begin);
  EXPECT_THAT(in_range(1 << 21, 8), ElementsAre(begin[0]));
  EXPECT_THAT(in_range((1 << 21) + 1, 2 << 21), ElementsAre(begin[1], begin[2]));
  EXPECT_THAT(in_range(0, 1 << 21), ElementsAre());
  EXPECT_THAT(in_range(0, 0), ElementsAre());
}

// dep sends each task to a node that it draws, and the other nodes rob that node. What a thief touches
// first has its home with the thief.
TEST(Homes, AreWhereTheFirstTaskRan) {
  runtime rt(on("node:4 core:1", "dep:steal=nearest,backlog=0", "system"));
  constexpr std::size_t blocks = 64, bytes = 1 << 16;
  const std::unique_ptr<std::byte[]> data(new std::byte[blocks * bytes]);
  std::vector<int> first(blocks, -1);
  rt.run([&] {
    for (std::size_t b = 0; b < blocks; ++b) {
      spawn(
          [&, b] {
            first[b] = this_worker();  // one on each node
            std::this_thread::sleep_for(std::chrono::microseconds(200));
          },
          out(&data[b * bytes], bytes));
    }
  });
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::vector<std::uint64_t> at = known_bytes_on_nodes(rt, &data[b * bytes], bytes);
    EXPECT_EQ(at[static_cast<std::size_t>(first[b])], bytes) << b;
  }
}

TEST(Homes, ArePromisedUntilATaskRuns) {
  region_table regions;
  const memory_view view(regions, {node_id(0), node_id(1), node_id(2)});
  const kept_access a(regions.find(&view, 4096), 4096, mode::out);
  const auto home = [&] { return view.region_of(a).home_node(); };
  EXPECT_TRUE(view.set_home(a, node_id(1)));
  EXPECT_FALSE(view.set_home(a, node_id(2)));
  EXPECT_EQ(home(), node_id(1));
  EXPECT_FALSE(view.touch(view.region_of(a), a.how, node_id(2)));  // the task was stolen
  EXPECT_EQ(home(), node_id(2));
  EXPECT_FALSE(view.touch(view.region_of(a), a.how, node_id(0)));  // its pages are on node 2
  EXPECT_EQ(home(), node_id(2));
  const kept_access b(regions.find(&a, 4096), 4096, mode::out);
  EXPECT_TRUE(view.touch(view.region_of(b), b.how, node_id(0)));
  EXPECT_FALSE(view.touch(view.region_of(b), b.how, node_id(1)));
  EXPECT_EQ(view.region_of(b).home_node(), node_id(0));
}

}  // namespace
