// Memory from kith::allocate, on pretended machines: what is known about it, how policies use that, and
// that it is forgotten. tests/numa checks where pages really are.
#include "support/allocated.hpp"
#include "support/recordings.hpp"

#include "memory/memory_space.hpp"
#include "memory/page_mover.hpp"
#include "memory/pages.hpp"

#include <gmock/gmock.h>

#include <sys/mman.h>
#include <algorithm>
#include <new>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace kith;
using test::memory;
using test::on;
using test::system_page;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::uint64_t> pages_on(runtime& rt, const void* p, std::size_t bytes) {
  std::vector<std::uint64_t> sums = known_bytes_on_nodes(rt, p, bytes);
  for (std::uint64_t& s : sums) s = (s + system_page - 1) / system_page;
  return sums;
}

TEST(Allocate, PagesZeroedAndSeparate) {
  runtime rt(on("node:2 core:1"));
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, system_page, system_page + 1, 100 * system_page}) {
    memory a(rt, bytes, distribution::fine), b(rt, bytes, distribution::coarse);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.get()) % system_page, 0u);
    for (std::size_t i = 0; i < bytes; i += 512) ASSERT_EQ(a.get()[i], std::byte{0});
    if (bytes != 0) a.get()[bytes - 1] = b.get()[0] = std::byte{1};
  }
}

TEST(Allocate, HugePagesAreAligned) {
  if (huge_page_size() == 0) GTEST_SKIP() << "this system gives no transparent huge pages";
  runtime rt(on("node:2 core:1"));
  memory m(rt, huge_page_size() + 1, distribution(distribution::fine).in_huge_pages());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.get()) % huge_page_size(), 0u);
  EXPECT_THAT(known_bytes_on_nodes(rt, m.get(), 2 * huge_page_size()),
              ElementsAre(huge_page_size(), huge_page_size(), 0));
}

TEST(Allocate, EachDistributionOverTheNodes) {
  runtime rt(on("node:4 core:2"));
  memory fine(rt, 42 * system_page, distribution::fine), block(rt, 10 * system_page, distribution::block);
  memory third(rt, 5 * system_page, node{3}), wrapped(rt, 5 * system_page, node{5});
  memory system(rt, 3 * system_page, distribution::system), deferred(rt, 3 * system_page, distribution::deferred);
  const auto spread = pages_on(rt, fine.get(), 42 * system_page);
  EXPECT_EQ(std::accumulate(spread.begin(), spread.end() - 1, 0u), 42u);
  EXPECT_EQ(std::ranges::min(std::span(spread).first(4)), 10u);
  EXPECT_EQ(std::ranges::max(std::span(spread).first(4)), 11u);
  EXPECT_THAT(pages_on(rt, block.get(), 10 * system_page), ElementsAre(2, 3, 2, 3, 0));
  EXPECT_THAT(pages_on(rt, block.page_of(2), 4 * system_page), ElementsAre(0, 3, 1, 0, 0));
  EXPECT_THAT(pages_on(rt, third.get(), 5 * system_page), ElementsAre(0, 0, 0, 5, 0));
  EXPECT_THAT(pages_on(rt, wrapped.get(), 5 * system_page), ElementsAre(0, 5, 0, 0, 0));
  EXPECT_THAT(pages_on(rt, system.get(), 3 * system_page), ElementsAre(0, 0, 0, 0, 3));
  EXPECT_THAT(pages_on(rt, deferred.get(), 3 * system_page), ElementsAre(0, 0, 0, 0, 3));
  int local = -1;
  rt.run([&] {
    std::vector<kith::future<int>> all;
    for (int i = 0; i < 8; ++i) {
      spawn(
          [&, i] {
            void* mine = allocate(2 * system_page, distribution::local);
            if (i == 7) local = static_cast<int>(pages_on(rt, mine, 2 * system_page)[3]);
            deallocate(mine);
          },
          inout(third.get(), 8), node{3});  // dep: goes to where its data is, node 3
    }
  });
  EXPECT_EQ(local, 2);
}

TEST(Allocate, CoarseGoesRoundTheNodesThatHostWorkers) {
  runtime_options o = on("node:4 core:2");
  o.workers = 2;  // on two of the four nodes
  runtime rt(o);
  const auto node_of = [&](const memory& m) {
    const auto sums = pages_on(rt, m.get(), 2 * system_page);
    return std::ranges::find(sums, 2u) - sums.begin();
  };
  memory a(rt, 2 * system_page, distribution::coarse), b(rt, 2 * system_page, distribution::coarse),
      c(rt, 2 * system_page, distribution::coarse);
  EXPECT_NE(node_of(a), node_of(b));
  EXPECT_EQ(node_of(a), node_of(c));
  memory fine(rt, 4 * system_page, distribution::fine);
  const auto spread = pages_on(rt, fine.get(), 4 * system_page);
  EXPECT_EQ(spread[static_cast<std::size_t>(node_of(a))], 2u);
  EXPECT_EQ(spread[static_cast<std::size_t>(node_of(b))], 2u);
  reset_distribution(rt);
  memory d(rt, 2 * system_page, distribution::coarse);
  EXPECT_EQ(node_of(d), node_of(a));
}

TEST(Allocate, TheRuntimesOptionIsTheDefaultAndAHintOverridesIt) {
  runtime rt(on("node:2 core:1", "dep", "node:1"));
  memory standard(rt, system_page), hinted(rt, system_page, node{0});
  EXPECT_THAT(pages_on(rt, standard.get(), system_page), ElementsAre(0, 1, 0));
  EXPECT_THAT(pages_on(rt, hinted.get(), system_page), ElementsAre(1, 0, 0));
  EXPECT_THAT([] { runtime wrong(on("node:2 core:1", "dep", "finest")); }, ThrowsMessage<error>(HasSubstr("'finest'")));
}

TEST(Allocate, WithoutARuntimeThereAreSystemAndLocal) {
  for (distribution how : {distribution(), distribution(distribution::system), distribution(distribution::local)}) {
    auto* p = static_cast<std::byte*>(allocate(system_page, how));
    p[system_page - 1] = std::byte{1};
    deallocate(p);
  }
  EXPECT_THAT([] { std::ignore = allocate(1, distribution::coarse); },
              ThrowsMessage<error>(testing::AllOf(HasSubstr("allocate(coarse)"), HasSubstr("name the runtime"))));
  runtime rt(on("node:2 core:1"));
  const allocation_scope here(rt);
  void* p = allocate(2 * system_page, distribution::block);
  EXPECT_THAT(pages_on(rt, p, 2 * system_page), ElementsAre(1, 1, 0));
  deallocate(p);
}

TEST(Allocate, WrongUseIsNamed) {
  runtime rt(on("node:2 core:1"));
  EXPECT_THAT([&] { std::ignore = allocate(rt, 1, node{-2}); }, ThrowsMessage<error>(HasSubstr("node -2")));
  EXPECT_THROW(std::ignore = allocate(rt, ~std::size_t{0}), std::bad_alloc);
  EXPECT_THROW(std::ignore = allocate(rt, std::size_t{1} << 60, distribution::fine), std::bad_alloc);
  int on_stack = 0;
  EXPECT_THAT([&] { deallocate(&on_stack); },
              ThrowsMessage<error>(HasSubstr("not the start of memory from kith::allocate")));
  void* p = allocate(rt, 1);
  EXPECT_THAT([&] { deallocate(static_cast<char*>(p) + 8); }, ThrowsMessage<error>(HasSubstr("deallocate(")));
  deallocate(p);
  EXPECT_THAT([&] { deallocate(p); }, ThrowsMessage<error>(HasSubstr("given back before")));
  deallocate(nullptr);
}

TEST(Allocate, NodesWithoutMemoryOrWorkers) {
  // In the file, node 2 (in the system's numbers) has cores and no memory, and node 3 has memory and no cores.
  runtime rt(on(KITH_TEST_DATA "/machines/odd-nodes.xml"));
  const machine m = machine_from_file(KITH_TEST_DATA "/machines/odd-nodes.xml");
  memory fine(rt, 60 * system_page, distribution::fine);
  const auto spread = pages_on(rt, fine.get(), 60 * system_page);
  std::uint64_t sum = 0;
  for (const machine::node& n : m.nodes) {
    if (n.memory_bytes == 0) {
      EXPECT_EQ(spread[n.id.index()], 0u) << n.os_index;
    }
    memory there(rt, system_page, node{n.id.value});
    const auto one = pages_on(rt, there.get(), system_page);
    if (n.memory_bytes != 0) {
      EXPECT_EQ(one[n.id.index()], 1u);
    }
    EXPECT_EQ(one.back(), 0u);
    sum += spread[n.id.index()];
  }
  EXPECT_EQ(sum, 60u);
}

TEST(Allocator, ServesContainersAndOutlivesItsRuntime) {
  std::vector<double, allocator<double>> outlives(allocator<double>{});
  {
    runtime rt(on("node:2 core:1"));
    std::vector<double, allocator<double>> v(3 * system_page / sizeof(double), 1.0, allocator<double>(rt, node{1}));
    EXPECT_THAT(pages_on(rt, v.data(), 3 * system_page), ElementsAre(0, 3, 0));
    v.push_back(2);
    EXPECT_EQ(pages_on(rt, v.data(), 3 * system_page)[1], 3u);
    std::vector<int, allocator<int>> converted(8, 0, v.get_allocator());
    EXPECT_EQ(pages_on(rt, converted.data(), 1)[1], 1u);
    outlives = std::move(v);
  }
  EXPECT_EQ(outlives.back(), 2);
  EXPECT_THROW(allocator<double>().allocate(~std::size_t{0} / 4), std::bad_array_new_length);
}

TEST(MemoryMap, AFirstTouchIsKnownUntilTheMemoryIsGivenBack) {
  runtime rt(on("node:2 core:1"));
  void* p = allocate(rt, 2 * system_page, distribution::system);
  memory anchor(rt, 64 * system_page, node{1});
  // dep puts the task on the anchor's node 1, and the fresh page follows it.
  rt.run([&] { spawn([] {}, inout(anchor.get(), 64 * system_page), inout(static_cast<std::byte*>(p), system_page)); });
  EXPECT_THAT(pages_on(rt, p, 2 * system_page), ElementsAre(0, 1, 1));
  deallocate(p);
  EXPECT_THAT(pages_on(rt, p, 2 * system_page), ElementsAre(0, 0, 2));
}

TEST(MemoryMap, AddressesThatAreUsedAgainAreWhatTheyAreNow) {
  runtime rt(on("node:2 core:1"));
  auto* p = static_cast<std::byte*>(allocate(rt, 4 * system_page, node{1}));
  rt.run([&] { spawn([] {}, out(p, system_page)); });
  deallocate(p);
  // The system usually gives the same addresses again; if not, there is nothing to check.
  auto* again = static_cast<std::byte*>(allocate(rt, 4 * system_page, node{0}));
  EXPECT_THAT(pages_on(rt, again, system_page), ElementsAre(1, 0, 0));
  if (again != p) std::puts("(the addresses differ)");
  rt.run([&] { spawn([] {}, out(again, system_page)); });
  EXPECT_THAT(pages_on(rt, again, system_page), ElementsAre(1, 0, 0));
  deallocate(again);
}

TEST(MemoryMap, ForgetsWhatIsNotKithsWhenTold) {
  runtime rt(on("node:2 core:1"));
  std::vector<double> x(64);
  rt.run([&] { spawn([] {}, out(x)); });
  EXPECT_EQ(known_bytes_on_nodes(rt, x.data(), 512).back(), 0u);
  forget(x.data(), 512);
  EXPECT_EQ(known_bytes_on_nodes(rt, x.data(), 512).back(), 512u);
}

TEST(MemoryMap, RuntimesKnowTheirOwn) {
  runtime here(on("node:2 core:1")), there(on("node:4 core:1"));
  memory m(there, system_page, node{3});
  EXPECT_THAT(pages_on(there, m.get(), system_page), ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(pages_on(here, m.get(), system_page), ElementsAre(0, 0, 1));  // its node 3 does not exist here
}

TEST(MemoryMap, PoliciesWeighRegionsOnSeveralNodes) {
  runtime rt(on("node:2 core:1", "dep:steal=off"));
  memory block(rt, 8 * system_page, distribution::block);
  rt.run([&] { spawn([] {}, inout(block.get(), 8 * system_page - 8)); });  // four pages on node 0, a little less
                                                                           // than four on node 1
  EXPECT_EQ(rt.statistics().workers[0].tasks, 1u);
  rt.run([&] { spawn([] {}, in(block.page_of(3), 5 * system_page)); });  // one page on node 0, four on node 1
  EXPECT_EQ(rt.statistics().workers[1].tasks, 1u);
  EXPECT_EQ(rt.statistics().remote_accesses, 0u);  // at least half of the bytes were there
}

TEST(MemoryMap, DeferredFollowsItsFirstWriter) {
  runtime rt(on("node:4 core:1", "dep"));  // takes no task from another node
  memory anchor(rt, 64 * system_page, node{2}), other(rt, 64 * system_page, node{1}),
      d(rt, 4 * system_page, distribution::deferred);
  rt.run([&] {
    spawn([] {}, inout(other.get(), 64 * system_page), in(d.get(), system_page));  // a reader does not decide the home
    kith::wait();
  });
  EXPECT_THAT(pages_on(rt, d.get(), 4 * system_page), ElementsAre(0, 0, 0, 0, 4));
  rt.run([&] {
    spawn([] {}, inout(anchor.get(), 64 * system_page), out(d.get(), system_page));
    spawn([] {}, inout(other.get(), 64 * system_page), out(d.page_of(1), 2 * system_page));
  });
  EXPECT_THAT(pages_on(rt, d.get(), 4 * system_page), ElementsAre(0, 2, 1, 0, 1));
}

TEST(Migration, WrittenRegionsComeToTheWriter) {
  for (const char* policy : {"socket+pm", "socket+pm:steal=off", "socket"}) {
    const bool moves = std::string(policy) != "socket";
    runtime rt(on("node:4 core:1", policy));
    EXPECT_EQ(rt.policy(), policy);
    memory m(rt, 8 * system_page, node{0}), f(rt, 8 * system_page, distribution::fine);
    rt.run([&] {
      spawn([] {}, inout(m.get(), 4 * system_page), node{3});
      spawn([] {}, in(m.page_of(4), 2 * system_page), node{3});     // only read
      spawn([] {}, inout(m.page_of(6) + 8, system_page), node{3});  // not a whole page
      spawn([] {}, out(f.get(), 8 * system_page), node{2});
    });
    EXPECT_EQ(rt.statistics().migrated_bytes, moves ? 12 * system_page : 0);
    EXPECT_THAT(pages_on(rt, m.get(), 4 * system_page),
                moves ? ElementsAre(0, 0, 0, 4, 0) : ElementsAre(4, 0, 0, 0, 0));
    EXPECT_EQ(pages_on(rt, m.page_of(4), 4 * system_page)[0], 4u);
    EXPECT_THAT(pages_on(rt, f.get(), 8 * system_page),
                moves ? ElementsAre(0, 0, 8, 0, 0) : ElementsAre(2, 2, 2, 2, 0));
  }
}

TEST(Migration, OfARegionThatAnotherWorkerHasMovedIsNone) {
  const machine m = synthetic_machine("node:3 core:1");
  region_table regions;
  const node_id hosts[] = {node_id(0), node_id(1), node_id(2)};
  memory_space space(m, hosts, {hosts[0], hosts[1], hosts[2]}, regions, {});
  std::vector<std::byte> data(8 * system_page);
  region &moved = regions[regions.find(data.data(), 3 * system_page)],
         &other = regions[regions.find(data.data() + 4 * system_page, 3 * system_page)];
  moved.home = other.home = 0;
  page_mover mover(space), another(space);
  for (page_mover* each : {&another, &mover}) each->add(moved, 3 * system_page);
  mover.add(other, 3 * system_page);
  EXPECT_EQ(another.move(node_id(1)), 3 * system_page);
  EXPECT_EQ(mover.move(node_id(2)), 3 * system_page);
  EXPECT_EQ(moved.home_node(), node_id(1));
  EXPECT_EQ(other.home_node(), node_id(2));
}

TEST(Migration, OfMemoryThatWasGivenBackMeanwhileIsNone) {
  const machine m = synthetic_machine("node:2 core:1");
  region_table regions;
  const node_id hosts[] = {node_id(0), node_id(1)};
  memory_space space(m, hosts, {hosts[0], hosts[1]}, regions, {});
  const memory_block b = space.allocate(4 * system_page, node{0}, {});
  void* p = reinterpret_cast<void*>(b.at->begin);
  region& r = regions[regions.find(p, 4 * system_page)];
  EXPECT_EQ(r.home_node(), node_id(0));
  page_mover mover(space);
  mover.add(r, 4 * system_page);
  EXPECT_FALSE(mover.empty());
  release_block(p);
  EXPECT_EQ(mover.move(node_id(1)), 0u);
  EXPECT_EQ(r.home.load(std::memory_order_relaxed), region::no_home);
  EXPECT_TRUE(mover.empty());
}

/// Workers read placements without a lock, also while memory is released and allocated again.
TEST(Allocate, PlacementsStayAsTheyWere) {
  block_table table;
  const page_map two{.begin = 16 * system_page,
                     .bytes = 4 * system_page,
                     .what = distribution::block,
                     .nodes = {node_id(0), node_id(1)}};
  const page_map one{
      .begin = 16 * system_page, .bytes = 8 * system_page, .what = distribution::local, .nodes = {node_id(1)}};
  const auto* const address = reinterpret_cast<const void*>(two.begin);
  const page_map* const first = table.add(two, distribution::block, 0, 1).at;
  EXPECT_TRUE(table.remove(address));
  EXPECT_FALSE(table.find(address));
  const page_map* const second = table.add(one, distribution::local, 0, 2).at;
  EXPECT_TRUE(*first == two && *second == one);
  EXPECT_EQ(table.find(address)->at, second);
  EXPECT_EQ(table.remove(address)->owner, 2u);
  EXPECT_EQ(table.add(two, distribution::block, 0, 3).at, first) << "the same again takes no more room";
}

TEST(Recording, HasAllocationsAndTheirEnds) {
  const void *first = nullptr, *second = nullptr;
  runtime_options o = on("node:2 core:1", "dep", "fine,huge");
  const recording r = test::record(o, [&](runtime& rt) {
    void* a = allocate(rt, 3 * system_page, node{1});
    first = a;
    rt.run([&] {
      spawn([&] {
        void* b = allocate(system_page);
        second = b;
        deallocate(a);
        void* c = allocate(system_page, distribution::deferred);
        deallocate(c);
      });
    });
    std::thread([&] { deallocate(const_cast<void*>(second)); }).join();
    static_cast<void>(allocate(rt, system_page, distribution::coarse));  // never released
  });
  EXPECT_EQ(r.meta_or("memory", ""), "fine,huge");
  ASSERT_EQ(r.allocations.size(), 4u);
  const recorded_allocation &a = r.allocations[0], &b = r.allocations[1], &c = r.allocations[2], &d = r.allocations[3];
  EXPECT_EQ(a.address, reinterpret_cast<std::uintptr_t>(first));
  EXPECT_EQ(a.bytes, 3 * system_page);
  EXPECT_EQ(a.distribution, distribution::at_node);
  EXPECT_EQ(a.node, 1);
  EXPECT_FALSE(a.huge);
  EXPECT_GE(a.released, a.at);
  EXPECT_EQ(b.address, reinterpret_cast<std::uintptr_t>(second));
  EXPECT_EQ(b.distribution, distribution::fine);
  EXPECT_EQ(b.node, -1);
  EXPECT_TRUE(b.huge);
  EXPECT_GT(b.released, a.released);
  EXPECT_EQ(c.distribution, distribution::deferred);
  EXPECT_GT(c.released, 0u);
  EXPECT_EQ(d.distribution, distribution::coarse);
  EXPECT_EQ(d.released, 0u);
}

TEST(Recording, OfADryRunMayHaveMoreMemoryThanThereIs) {
  runtime_options o = on("node:4 core:1", "dep", "fine");
  o.dry = true;
  const recording r = test::record(o, [&](runtime& rt) {
    constexpr std::size_t huge = std::size_t{1} << 39;  // 512 GiB: the thread sanitizer allows programs at most 1 TiB
    auto* p = static_cast<std::byte*>(allocate(rt, huge));
    rt.run([&] { spawn([&] { p[0] = std::byte{1}; }, work{1000}, out(p, huge)); });
    EXPECT_EQ(known_bytes_on_nodes(rt, p, huge)[0], huge / 4);
    deallocate(p);
  });
  ASSERT_EQ(r.allocations.size(), 1u);
  EXPECT_EQ(r.allocations[0].bytes, std::uint64_t{1} << 39);
}

}  // namespace
