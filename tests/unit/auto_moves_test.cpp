// The policy `auto` moves data that another node reads again and again; how a policy asks an engine to move pages.
#include "support/allocated.hpp"
#include "support/auto_bench.hpp"
#include "support/recordings.hpp"

#include "base/address.hpp"
#include "engine/sim/simulation.hpp"
#include "memory/page_map.hpp"
#include "policy/auto/automatic.hpp"
#include "policy/auto/moved_data.hpp"
#include "policy/contract/register_policy.hpp"
#include "policy/socket.hpp"

#include <gmock/gmock.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace {

using kith::node_id;
using kith::task;
using kith::test::auto_bench;
using kith::test::megabyte;
using kith::test::page;
using kith::test::system_page;

/// Node 0 has `more` than its share of the data.
class moves_bench : public auto_bench {
 public:
  explicit moves_bench(const char* policy, std::uint64_t more = 100 * megabyte)
      : auto_bench("node:2 core:1", policy),
        context{.workers = workers, .regions = regions, .seed = 1},
        tables(context),
        placement(context, tables),
        moves(context, {policy, kith::automatic<kith::test::world>::options}, tables, placement) {
    for (const int node : {0, 1}) {
      const std::uint64_t bytes = 100 * megabyte + (node == 0 ? 2 * more : 0);
      placement.settle(task({{region(), bytes}}), node_id(node), *by[0]);
    }
  }
  const kith::policy_context context;
  kith::shared_tables<kith::test::world> tables;
  kith::balanced_placement<kith::test::world> placement;
  kith::moved_data<kith::test::world> moves;
};

TEST(auto_moves, data_with_the_third_remote_use_in_a_row) {
  moves_bench b("auto");
  const auto read = b.region(0), written = b.region(0), elsewhere = b.region(1), small = b.region(0);
  const task& t = b.task({{read, megabyte, kith::mode::in},
                          {written, megabyte, kith::mode::inout},
                          {elsewhere, megabyte, kith::mode::in},
                          {small, page - 1, kith::mode::inout}});
  const auto taken = [&] {
    return std::array{b.regions[read].take_move_request(), b.regions[written].take_move_request(),
                      b.regions[elsewhere].take_move_request(), b.regions[small].take_move_request()};
  };
  for (int round = 0; round < 2; ++round) {
    for (int uses = 0; uses < 2; ++uses) {
      b.moves.used_remotely(t, node_id(0), node_id(1));
      EXPECT_EQ(taken(), (std::array{false, false, false, false}));
    }
    b.moves.used_remotely(t, node_id(0), node_id(1));
    EXPECT_EQ(taken(), (std::array{true, true, false, false}));
    EXPECT_EQ(taken(), (std::array{false, false, false, false}));  // once
  }
}

TEST(auto_moves, no_data_that_is_used_at_home_in_between) {
  moves_bench b("auto");
  const auto mine = b.region(0);
  const task &writer = b.task({{mine, megabyte}}), &reader = b.task({{mine, megabyte, kith::mode::in}});
  for (int i = 0; i < 20; ++i) {
    b.moves.used_remotely(writer, node_id(0), node_id(1));
    b.moves.used_remotely(writer, node_id(0), node_id(1));
    b.moves.used_locally(reader, node_id(0));
    EXPECT_FALSE(b.regions[mine].take_move_request());
  }
}

TEST(auto_moves, no_more_than_what_a_node_has_above_its_share) {
  moves_bench even("auto:moves=1", 0), b("auto:moves=1", 20 * megabyte);
  const auto asked = [](moves_bench& at) {
    int count = 0;
    for (int i = 0; i < 100; ++i) {
      const auto r = at.region(0);
      at.moves.used_remotely(at.task({{r, megabyte}}), node_id(0), node_id(1));
      count += at.regions[r].take_move_request();
    }
    return count;
  };
  EXPECT_EQ(asked(even), 0);
  EXPECT_NEAR(asked(b), 14, 2);  // then it is 12 MB above, a tenth of the mean
}

// Data that was not dealt, because it came there otherwise: the node then counts as one that has too little.
TEST(auto_moves, more_than_a_node_was_dealt) {
  moves_bench b("auto:moves=1", 0);
  b.placement.note_moved(node_id(0), node_id(1), 300 * megabyte);
  EXPECT_FALSE(b.placement.has_more(node_id(0), node_id(1), megabyte));
  EXPECT_TRUE(b.placement.has_more(node_id(1), node_id(0), megabyte));
}

// The program filled all data at node 0 before the run, and the engine finds that out.
TEST(auto_moves, what_was_dealt_and_found_elsewhere) {
  for (const bool is_found : {false, true}) {
    auto_bench b("node:2 core:1", "auto:moves=1");
    std::vector<std::uint32_t> all;
    for (std::uintptr_t i = 1; i <= 40; ++i) all.push_back(b.regions.find(kith::at_address(i * megabyte), megabyte));
    int asked = 0;
    const auto run_tasks = [&] {
      for (const auto r : all) b.ready(b.task({{r, megabyte}}));
      for (bool found = true; found;) {
        found = false;
        for (const int worker : {0, 1}) found |= b.next(worker) != nullptr;
      }
      for (const auto r : all) asked += b.regions[r].take_move_request();
    };
    run_tasks();
    EXPECT_EQ(asked, 0);
    for (const auto r : all) {
      kith::region& dealt = b.regions[r];
      const node_id assumed = dealt.home_node();
      dealt.promised = false;
      dealt.home = 0;
      if (is_found && assumed != node_id(0)) b.chosen->observer()->found_elsewhere(dealt, assumed, node_id(0));
    }
    run_tasks();
    if (is_found) {
      EXPECT_GT(asked, 0);
    } else {
      EXPECT_EQ(asked, 0);
    }
  }
}

/// A region at node 0 that is most of a task's data.
std::uint32_t leading_region(moves_bench& b) {
  const auto r = b.region(0);
  b.regions[r].bytes = megabyte;
  b.moves.begins(b.task({{r, megabyte, kith::mode::inout}}));
  return r;
}

TEST(auto_moves, data_that_another_node_overwrites_for_the_second_time_in_a_row) {
  moves_bench b("auto", 0);
  const auto from = b.region(1), to = leading_region(b);
  const task& overwrites = b.task({{from, megabyte, kith::mode::in}, {to, megabyte, kith::mode::out}});
  for (int i = 0; i < 5; ++i) {
    b.moves.used_locally(overwrites, node_id(1));
    EXPECT_FALSE(b.regions[to].take_move_request());
    b.moves.used_locally(b.task({{to, megabyte, kith::mode::out}}), node_id(0));
  }
  b.moves.used_locally(overwrites, node_id(1));
  b.moves.used_locally(b.task({{to, megabyte, kith::mode::inout}}), node_id(0));  // reads what was written
  EXPECT_FALSE(b.regions[to].take_move_request());
  b.moves.used_locally(overwrites, node_id(1));
  EXPECT_TRUE(b.regions[to].take_move_request());
}

TEST(auto_moves, counts_begin_again_after_a_move) {
  moves_bench b("auto", 10 * megabyte);
  const auto r = leading_region(b);
  const task& overwrites = b.task({{r, megabyte, kith::mode::out}});
  for (int i = 0; i < 2; ++i) b.moves.used_remotely(overwrites, node_id(0), node_id(1));
  for (int i = 0; i < 2; ++i) b.moves.used_locally(overwrites, node_id(1));
  EXPECT_TRUE(b.regions[r].take_move_request());
  b.moves.used_remotely(overwrites, node_id(0), node_id(1));
  b.moves.used_locally(overwrites, node_id(1));
  EXPECT_FALSE(b.regions[r].take_move_request());
}

TEST(auto_moves, no_overwritten_data_that_tasks_would_not_follow) {
  moves_bench b("auto", 0);
  const auto follows = b.region(0), leads = leading_region(b), other = b.region(0);
  b.regions[follows].bytes = megabyte;
  b.moves.begins(b.task({{follows, megabyte, kith::mode::inout}, {other, 2 * megabyte, kith::mode::in}}));
  const auto asked = [&](std::uint32_t r, std::uint64_t bytes) {
    for (int i = 0; i < 4; ++i) b.moves.used_locally(b.task({{r, bytes, kith::mode::out}}), node_id(1));
    return b.regions[r].take_move_request();
  };
  EXPECT_FALSE(asked(follows, megabyte));
  EXPECT_FALSE(asked(leads, megabyte / 2));  // a part of it
  EXPECT_TRUE(asked(leads, megabyte));
}

TEST(auto_moves, no_overwritten_data_to_a_node_that_has_more) {
  moves_bench b("auto", 0);
  int moved = 0;
  for (int i = 0; i < 100; ++i) {
    const auto r = leading_region(b);
    for (int k = 0; k < 2; ++k) b.moves.used_locally(b.task({{r, megabyte, kith::mode::out}}), node_id(1));
    moved += b.regions[r].take_move_request();
  }
  EXPECT_NEAR(moved, 5, 2);  // then it is a tenth of the mean above
}

TEST(auto_moves, nothing_after_a_stolen_task_that_never_ran) {
  moves_bench b("auto:moves=1");
  const auto mine = b.region(0);
  const task& t = b.task({{mine, megabyte}});
  b.moves.used_remotely(t, node_id(0), node_id(1));
  b.moves.used_locally(t, node_id(0));
  EXPECT_FALSE(b.regions[mine].take_move_request());
}

TEST(auto_moves, only_what_first_touch_has_placed) {
  moves_bench b("auto:moves=1");
  const auto placed = b.region(0), promised = b.region(0), refused = b.region(0), plain = b.region(0);
  const kith::page_map by_the_program;
  b.regions[placed].block = &by_the_program;
  b.regions[promised].promised = true;
  b.regions[refused].remote_uses = kith::region::stays;
  for (const auto r : {placed, promised, refused, plain}) {
    b.moves.used_remotely(b.task({{r, megabyte}}), node_id(0), node_id(1));
    EXPECT_EQ(b.regions[r].take_move_request(), r == plain);
    b.regions[r].bytes = megabyte;
    b.moves.begins(b.task({{r, megabyte, kith::mode::inout}}));
    for (int i = 0; i < 2; ++i) b.moves.used_locally(b.task({{r, megabyte, kith::mode::out}}), node_id(1));
    EXPECT_EQ(b.regions[r].take_move_request(), r == plain);
  }
  b.regions[placed].block = nullptr;
}

// A tile would stay where its own home says that it is not.
TEST(auto_moves, no_array_whose_parts_are_regions_too) {
  moves_bench b("auto:moves=1");
  const auto at = [](std::uintptr_t first_page) { return kith::at_address(first_page * page); };
  const auto array = b.regions.find(at(1000), 8 * page), tile = b.regions.find(at(1002), 2 * page);
  for (const auto r : {array, tile}) b.regions[r].set_home(node_id(0));
  for (const auto r : {array, tile}) b.moves.used_remotely(b.task({{r, 2 * page}}), node_id(0), node_id(1));
  EXPECT_FALSE(b.regions[array].take_move_request());
  EXPECT_TRUE(b.regions[tile].take_move_request());
}

TEST(auto_moves, nothing_if_the_option_says_so) {
  moves_bench b("auto:moves=0");
  const auto mine = b.region(0);
  b.regions[mine].bytes = megabyte;
  b.moves.begins(b.task({{mine, megabyte, kith::mode::inout}}));
  for (int i = 0; i < 600; ++i) {
    b.moves.used_remotely(b.task({{mine, megabyte}}), node_id(0), node_id(1));
    b.moves.used_locally(b.task({{mine, megabyte, kith::mode::out}}), node_id(1));
  }
  EXPECT_FALSE(b.regions[mine].take_move_request());
}

/// One task fills everything; then all are used, again and again. Without waits in between, the uses of a block are one
/// chain.
kith::recording filled_by_one(std::size_t blocks, std::size_t bytes, bool waits) {
  return kith::test::record(kith::test::make_dry_options(2, "steal"), [=](kith::runtime& rt) {
    const kith::test::memory all(rt, blocks * bytes, kith::distribution::system);
    const auto block = [&](std::size_t i) { return kith::inout(all.get() + i * bytes, bytes); };
    rt.run([&] {
      kith::access_list list;
      for (std::size_t i = 0; i < blocks; ++i) list.add(block(i));
      kith::spawn([] {}, kith::work{1000}, list);
      for (int step = 0; step < 20; ++step) {
        if (step == 0 || waits) kith::wait();
        for (std::size_t i = 0; i < blocks; ++i) kith::spawn([] {}, kith::work{20000}, block(i));
      }
    });
  });
}

kith::sim::result on_opteron(const kith::recording& r, const char* policy) {
  kith::sim::run_options s;
  s.policy = policy;
  return kith::sim::simulate(kith::sim::program_of(r), kith::model_by_name("opteron-6172"), s);
}

TEST(auto_moves, what_one_task_has_filled_to_the_nodes_that_use_it) {
  const kith::recording r = filled_by_one(200, megabyte / 4, true);
  const kith::sim::result moves = on_opteron(r, "auto"), stays = on_opteron(r, "auto:moves=0");
  EXPECT_EQ(stays.migrated_bytes, 0u);
  EXPECT_GT(moves.migrated_bytes, 10u * megabyte);
  EXPECT_LT(moves.migrated_bytes, 100u * megabyte);  // of 50: each moves about once
  EXPECT_LT(static_cast<double>(moves.makespan), 0.8 * static_cast<double>(stays.makespan));
}

// A thief continues the chain that it has stolen, and reads its data from the other node each time.
TEST(auto_moves, data_of_stolen_chains_for_which_the_caches_have_no_room) {
  const kith::recording r = filled_by_one(100, 4 * megabyte, false);
  const kith::sim::result stays = on_opteron(r, "auto:moves=0");
  for (const char* policy : {"auto", "auto:chains=free"}) {
    const kith::sim::result moves = on_opteron(r, policy);
    EXPECT_GT(moves.migrated_bytes, 100u * megabyte) << policy;
    EXPECT_LT(moves.migrated_bytes, 400u * megabyte) << policy;
    EXPECT_LT(static_cast<double>(moves.makespan), 0.8 * static_cast<double>(stays.makespan)) << policy;
  }
}

TEST(auto_moves, no_data_of_stolen_chains_that_the_caches_hold) {
  const kith::recording r = filled_by_one(100, megabyte / 4, false);
  const kith::sim::result moves = on_opteron(r, "auto"), stays = on_opteron(r, "auto:moves=0");
  EXPECT_GT(moves.total.steals, 20u);
  EXPECT_EQ(moves.migrated_bytes, 0u);
}

/// Square matrices of tiles: each step computes with one, and writes its transpose to the other.
kith::recording transpositions(std::size_t side, std::size_t bytes, int steps) {
  return kith::test::record(kith::test::make_dry_options(2, "steal"), [=](kith::runtime& rt) {
    const std::size_t tiles = side * side;
    const kith::test::memory all(rt, 2 * tiles * bytes, kith::distribution::system);
    const auto tile = [&](std::size_t which, std::size_t i, std::size_t j) {
      return all.get() + (which * tiles + i * side + j) * bytes;
    };
    const auto for_all = [&](const auto& each) {
      for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) each(i, j);
      }
    };
    rt.run([&] {
      for (const std::size_t which : {0, 1}) {
        for_all([&](std::size_t i, std::size_t j) {
          kith::spawn([] {}, kith::work{1000}, kith::out(tile(which, i, j), bytes));
        });
      }
      kith::wait();
      for (int step = 0; step < steps; ++step) {
        const std::size_t from = step % 2 == 0 ? 0 : 1, to = 1 - from;
        for_all([&](std::size_t i, std::size_t j) {
          kith::spawn([] {}, kith::work{20000}, kith::inout(tile(from, i, j), bytes));
        });
        for_all([&](std::size_t i, std::size_t j) {
          kith::spawn([] {}, kith::work{2000}, kith::in(tile(from, i, j), bytes), kith::out(tile(to, j, i), bytes));
        });
      }
    });
  });
}

TEST(auto_moves, both_ends_of_a_transposition_to_one_node) {
  const kith::recording r = transpositions(16, megabyte, 20);
  const kith::sim::result moves = on_opteron(r, "auto"), stays = on_opteron(r, "auto:moves=0");
  EXPECT_LT(moves.migrated_bytes, 512u * megabyte);  // once at most
  EXPECT_LT(2 * moves.remote_bytes, stays.remote_bytes);
  EXPECT_LT(static_cast<double>(moves.makespan), 0.8 * static_cast<double>(stays.makespan));
}

/// As `socket`, but all data is to move to the first task that uses it.
template <class World>
class moving final : public kith::policy<World> {
 public:
  using worker = typename World::worker;
  static constexpr auto options = kith::socket<World>::options;
  static constexpr kith::policy_entry about{
      .name = "test-moving", .paper = "", .section = "", .summary = "for a test", .options = options};

  moving(const kith::policy_context& context, const kith::policy_options& given)
      : regions_(context.memory), inner_(context, given) {}

  typename kith::policy<World>::data_needs needs() const override { return {.homes = true}; }
  task* ready(std::span<task* const> tasks, worker& self, kith::ready_reason why) override {
    for (const task* t : tasks) {
      for (kith::kept_access a : t->access_list()) regions_.region_of(a).move_asked.store(true, kith::relaxed);
    }
    return inner_.ready(tasks, self, why);
  }
  kith::poll_result next(worker& self) override { return inner_.next(self); }

 private:
  const kith::memory_view regions_;
  kith::socket<World> inner_;
};

TEST(a_policy, can_ask_for_pages_to_be_moved) {
  static const bool registered = (kith::register_policy<moving>(), true);
  ASSERT_TRUE(registered);
  kith::runtime rt(kith::test::on("node:2 core:1", "test-moving:steal=off"));
  const kith::test::memory m(rt, 4 * system_page, kith::node{0});
  const auto pages = [&] { return kith::known_bytes_on_nodes(rt, m.get(), 4 * system_page); };
  rt.run([&] { kith::spawn([] {}, kith::in(m.get(), 4 * system_page), kith::node{0}); });
  EXPECT_EQ(rt.statistics().migrated_bytes, 0u);
  rt.run([&] { kith::spawn([] {}, kith::in(m.get(), 4 * system_page), kith::node{1}); });
  EXPECT_EQ(rt.statistics().migrated_bytes, 4 * system_page);
  EXPECT_THAT(pages(), testing::ElementsAre(0, 4 * system_page, 0));
}

}  // namespace
