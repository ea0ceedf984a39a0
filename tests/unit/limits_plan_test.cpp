// How many workers, on which cores: the lowest of the limits, fast cores first, spread over the nodes.
#include "machine/limits.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

namespace kith {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// As if this process ran on this machine.
machine real(const char* line) {
  machine m = synthetic_machine(line);
  m.pretended = false;
  return m;
}

limits mask(std::vector<int> cpus) {
  limits l;
  l.affinity = std::move(cpus);
  return l;
}

limits all_cpus(int count) {
  std::vector<int> cpus(static_cast<std::size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return mask(cpus);
}

std::vector<int> cores(const worker_plan& p) {
  std::vector<int> values;
  for (core_id c : p.cores) values.push_back(c.value);
  return values;
}

const worker_plan::limit& limit_named(const worker_plan& p, const std::string& name) {
  for (const worker_plan::limit& l : p.limits) {
    if (l.name == name) return l;
  }
  throw error("no limit " + name);
}

TEST(PlanWorkers, NoLimitsAreAllCores) {
  const worker_plan p = plan_workers(real("node:2 core:3 pu:2"), all_cpus(12), std::nullopt);
  EXPECT_EQ(p.workers, 6);
  EXPECT_EQ(p.decided_by, "cores");
  EXPECT_THAT(cores(p), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(p.cpus, ElementsAre(0, 2, 4, 6, 8, 10));
}

TEST(PlanWorkers, UnknownMaskIsNoLimit) { EXPECT_EQ(plan_workers(real("core:4"), limits{}, std::nullopt).workers, 4); }

TEST(PlanWorkers, TheLeastCounts) {
  const machine m = real("core:16");
  limits l = all_cpus(16);
  EXPECT_EQ(plan_workers(m, l, std::nullopt).decided_by, "cores");
  l.affinity->resize(12);
  EXPECT_EQ(plan_workers(m, l, std::nullopt).workers, 12);
  EXPECT_EQ(plan_workers(m, l, std::nullopt).decided_by, "affinity mask");
  l.quota = 7.2;
  EXPECT_EQ(plan_workers(m, l, std::nullopt).workers, 8);
  EXPECT_EQ(plan_workers(m, l, std::nullopt).decided_by, "cgroup CPU quota");
  l.slurm = 6;
  EXPECT_EQ(plan_workers(m, l, std::nullopt).workers, 6);
  EXPECT_EQ(plan_workers(m, l, std::nullopt).decided_by, "Slurm's allotment");
  const worker_plan p = plan_workers(m, l, 3);
  EXPECT_EQ(p.workers, 3);
  EXPECT_EQ(p.decided_by, "setting");
  EXPECT_FALSE(p.clamped);
}

TEST(PlanWorkers, AQuotaIsRoundedUp) {
  limits l = all_cpus(8);
  for (const auto& [quota, workers] :
       std::vector<std::pair<double, int>>{{0.1, 1}, {1, 1}, {1.01, 2}, {2, 2}, {1e18, 8}}) {
    l.quota = quota;
    EXPECT_EQ(plan_workers(real("core:8"), l, std::nullopt).workers, workers) << quota;
  }
}

TEST(PlanWorkers, AMaskOfHardwareThreadsOfOneCoreIsOneWorker) {
  const worker_plan p = plan_workers(real("core:4 pu:2"), mask({4, 5}), std::nullopt);
  EXPECT_EQ(p.workers, 1);
  EXPECT_EQ(p.decided_by, "cores");
}

TEST(PlanWorkers, WorkersAreBoundToAllowedCpusOnly) {
  // Of core 1 only the second hardware thread is allowed.
  const worker_plan p = plan_workers(real("core:4 pu:2"), mask({3, 4, 5}), std::nullopt);
  EXPECT_THAT(cores(p), ElementsAre(1, 2));
  EXPECT_THAT(p.cpus, ElementsAre(3, 4));
}

TEST(PlanWorkers, AMaskOfCpusThatAreNotShownBindsNothing) {
  const worker_plan p = plan_workers(real("core:4"), mask({100, 101}), std::nullopt);
  EXPECT_EQ(p.workers, 2);
  EXPECT_THAT(p.cpus, Each(-1));
}

TEST(PlanWorkers, TooLargeASettingIsClampedAndSaidSo) {
  const worker_plan p = plan_workers(real("core:4"), all_cpus(4), 9);
  EXPECT_EQ(p.workers, 4);
  EXPECT_TRUE(p.clamped);
  EXPECT_EQ(p.decided_by, "cores");
  EXPECT_THAT(limit_named(p, "setting").note, HasSubstr("KITH_OVERSUBSCRIBE=1"));
}

TEST(PlanWorkers, OversubscriptionSharesCoresAndBindsNothing) {
  const worker_plan p = plan_workers(real("node:2 core:1"), all_cpus(2), 5, true);
  EXPECT_EQ(p.workers, 5);
  EXPECT_THAT(cores(p), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(p.cpus, Each(-1));
  EXPECT_FALSE(p.clamped);
}

TEST(PlanWorkers, OversubscriptionNeedsASetting) {
  EXPECT_EQ(plan_workers(real("core:4"), all_cpus(4), std::nullopt, true).workers, 4);
  // The mask has one CPU: two workers share it, though the machine has four cores.
  EXPECT_THAT(plan_workers(real("core:4"), mask({2}), 2, true).cpus, ElementsAre(-1, -1));
}

TEST(PlanWorkers, FewWorkersAreSpreadOverTheNodes) {
  const machine m = real("node:4 core:4");
  EXPECT_THAT(cores(plan_workers(m, all_cpus(16), 4)), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(cores(plan_workers(m, all_cpus(16), 6)), ElementsAre(0, 1, 4, 5, 8, 12));
  EXPECT_THAT(cores(plan_workers(m, mask({0, 1, 2, 3, 4}), 3)), ElementsAre(0, 1, 4));
}

TEST(PlanWorkers, FastCoresComeFirst) {
  machine m =
      machine_from_file((std::filesystem::path(__FILE__).parent_path() / "../data/machines/hybrid.xml").string());
  m.pretended = false;
  EXPECT_THAT(cores(plan_workers(m, all_cpus(12), 2)), ElementsAre(4, 5));
  EXPECT_THAT(cores(plan_workers(m, all_cpus(12), 3)), ElementsAre(4, 5, 0));
  EXPECT_EQ(plan_workers(m, all_cpus(12), std::nullopt).workers, 6);
}

TEST(PlanWorkers, APretendedMachineHasItsOwnCoresOnly) {
  const machine m = synthetic_machine("node:8 core:10");
  limits l = mask({0});
  l.quota = 1;
  l.slurm = 1;
  worker_plan p = plan_workers(m, l, std::nullopt);
  EXPECT_EQ(p.workers, 80);
  EXPECT_THAT(p.cpus, Each(-1));
  EXPECT_EQ(p.cores.back(), core_id(79));
  EXPECT_EQ(plan_workers(m, l, 16).workers, 16);
  EXPECT_EQ(plan_workers(m, l, 100).workers, 80);
  EXPECT_TRUE(plan_workers(m, l, 100).clamped);
  EXPECT_EQ(plan_workers(m, l, 100, true).workers, 100);
}

TEST(PlanWorkers, NodesWithoutCoresGetNoWorkers) {
  const machine m = real("pack:2 [numa] [numa] core:2");
  for (core_id c : plan_workers(m, all_cpus(4), std::nullopt).cores) EXPECT_NE(m.cores[c.index()].node.value % 2, 1);
}

// ---- binding

std::vector<std::vector<int>> bound_to(const machine& m, const limits& l, bind_mode mode, int workers) {
  return plan_workers(m, l, workers, false, {mode}).bound_to;
}

TEST(PlanWorkers, AutoBindsToNodesWhereThereAreSeveral) {
  EXPECT_EQ(plan_workers(real("core:4"), all_cpus(4), 2).bound, bind_mode::off);
  EXPECT_THAT(bound_to(real("core:4"), all_cpus(4), bind_mode::automatic, 2), Each(testing::IsEmpty()));
  const machine two = real("node:2 core:2 pu:2");
  EXPECT_EQ(plan_workers(two, all_cpus(8), 2).bound, bind_mode::nodes);
  EXPECT_THAT(bound_to(two, all_cpus(8), bind_mode::automatic, 2),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  // Of each node, the CPUs that the mask allows.
  EXPECT_THAT(bound_to(two, mask({1, 2, 6}), bind_mode::automatic, 3),
              ElementsAre(ElementsAre(1, 2), ElementsAre(1, 2), ElementsAre(6)));
}

TEST(PlanWorkers, CoresAndOffAreAsAskedFor) {
  const machine two = real("node:2 core:2 pu:2");
  EXPECT_THAT(bound_to(two, all_cpus(8), bind_mode::cores, 2), ElementsAre(ElementsAre(0), ElementsAre(4)));
  EXPECT_THAT(bound_to(two, all_cpus(8), bind_mode::off, 2), Each(testing::IsEmpty()));
  EXPECT_THAT(bound_to(real("core:2"), all_cpus(2), bind_mode::nodes, 1), ElementsAre(ElementsAre(0, 1)));
}

TEST(PlanWorkers, AutoBindsToCachesWhereANodeHasSeveralSharedOnes) {
  const machine two = real("l3:2 core:3");
  EXPECT_EQ(plan_workers(two, all_cpus(6), 6).bound, bind_mode::caches);
  EXPECT_THAT(bound_to(two, all_cpus(6), bind_mode::automatic, 4),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 1, 2), ElementsAre(3, 4, 5), ElementsAre(3, 4, 5)));
  // Of each cache, the CPUs that the mask allows.
  EXPECT_THAT(bound_to(two, mask({1, 2, 4, 5}), bind_mode::automatic, 4),
              ElementsAre(ElementsAre(1, 2), ElementsAre(1, 2), ElementsAre(4, 5), ElementsAre(4, 5)));
  // A mask of one cache's CPUs: workers are bound to all of these, and known to be neighbours.
  EXPECT_THAT(bound_to(two, mask({0, 1, 2}), bind_mode::automatic, 2),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(0, 1, 2)));
  // Also if other nodes have no workers.
  EXPECT_EQ(plan_workers(real("node:2 l3:2 core:2"), all_cpus(4), 4).bound, bind_mode::caches);
}

TEST(PlanWorkers, AutoDoesNotBindToCachesWithoutNeighbours) {
  EXPECT_EQ(plan_workers(real("l3:1 core:4"), all_cpus(4), 4).bound, bind_mode::off);
  EXPECT_EQ(plan_workers(real("l2:4 core:1"), all_cpus(4), 4).bound, bind_mode::off);
  EXPECT_EQ(plan_workers(real("core:4"), all_cpus(4), 4).bound, bind_mode::off);  // no caches are known
  const machine two = real("l3:2 core:3");
  EXPECT_EQ(plan_workers(two, all_cpus(6), 3).bound, bind_mode::off);         // one worker would be alone
  EXPECT_EQ(plan_workers(two, mask({0, 1, 2, 5}), 4).bound, bind_mode::off);  // so would be that of CPU 5
  EXPECT_EQ(plan_workers(real("node:2 l3:2 core:2"), all_cpus(8), 8).bound, bind_mode::nodes);
  machine mixed = two;
  for (std::size_t c = 3; c < 6; ++c) mixed.cores[c].core_class = 1;
  EXPECT_EQ(plan_workers(mixed, all_cpus(6), 6).bound, bind_mode::off);  // a worker may have to leave a slow core
}

TEST(PlanWorkers, CachesAreOfTheNodesThatTheyAreOn) {
  EXPECT_THAT(bound_to(real("node:2 l3:2 core:2"), all_cpus(8), bind_mode::caches, 4),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7)));
  EXPECT_THAT(bound_to(real("l3:1 node:2 core:2"), all_cpus(4), bind_mode::caches, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(bound_to(real("core:2"), all_cpus(2), bind_mode::caches, 1), ElementsAre(ElementsAre(0, 1)));
}

TEST(PlanWorkers, NobodyIsBoundWhereCoresAreShared) {
  const worker_plan p = plan_workers(real("node:2 core:1"), all_cpus(2), 5, true, {bind_mode::cores});
  EXPECT_EQ(p.bound, bind_mode::off);
  EXPECT_TRUE(p.cores_shared);
  EXPECT_THAT(p.bound_to, Each(testing::IsEmpty()));
  EXPECT_EQ(plan_workers(synthetic_machine("node:2 core:4"), limits{}, 2, false, {bind_mode::cores}).bound,
            bind_mode::off);
}

/// CPUs that other programs use, by level.
auto claims(std::vector<std::vector<int>> used) {
  return [used](int cpu, int level) {
    const auto at = static_cast<std::size_t>(level);
    return at >= used.size() || std::ranges::find(used[at], cpu) == used[at].end();
  };
}

TEST(PlanWorkers, CoresThatOthersUseAreTakenLast) {
  const machine m = real("node:2 core:4");
  const auto cpus = [&](int workers, std::vector<std::vector<int>> used) {
    return plan_workers(m, all_cpus(8), workers, false, {bind_mode::cores, claims(std::move(used))}).cpus;
  };
  EXPECT_THAT(cpus(1, {}), ElementsAre(0));
  EXPECT_THAT(cpus(1, {{0}}), ElementsAre(4));
  EXPECT_THAT(cpus(2, {{0, 4}}), ElementsAre(1, 5));
  EXPECT_THAT(cpus(3, {{0, 1, 2, 3, 4, 5}}), ElementsAre(0, 6, 7));  // the third core has one other user
  EXPECT_THAT(cpus(1, {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 4, 1}}), ElementsAre(5));
  EXPECT_THAT(cpus(8, {{0}}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// ---- ranks of an MPI program

TEST(PlanWorkers, RanksWithoutAMaskShareTheCores) {
  const machine m = real("node:2 core:4");
  limits l = all_cpus(8);
  std::vector<int> all;
  for (int rank = 0; rank < 4; ++rank) {
    l.rank = {rank, 4, "OMPI_COMM_WORLD_LOCAL_RANK"};
    const worker_plan p = plan_workers(m, l, std::nullopt);
    EXPECT_EQ(p.workers, 2);
    EXPECT_EQ(p.decided_by, "share of the rank");
    EXPECT_THAT(limit_named(p, "share of the rank").note, HasSubstr("rank " + std::to_string(rank) + " of 4"));
    for (int c : cores(p)) all.push_back(c);
    EXPECT_EQ(p.bound_to.front().size(), 2u);  // the rank's own CPUs of the node
  }
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  l.rank = {1, 3, "x"};
  EXPECT_THAT(cores(plan_workers(m, l, std::nullopt)), ElementsAre(2, 3, 4));
  EXPECT_THAT(cores(plan_workers(m, l, 1)), ElementsAre(2));
}

TEST(PlanWorkers, MoreRanksThanCoresHaveOneEach) {
  limits l = all_cpus(2);
  for (int rank = 0; rank < 5; ++rank) {
    l.rank = {rank, 5, "x"};
    EXPECT_THAT(cores(plan_workers(real("core:2"), l, std::nullopt)), ElementsAre(rank * 2 / 5)) << rank;
  }
}

TEST(PlanWorkers, RanksWithAMaskKeepIt) {
  limits l = mask({2, 3});
  l.rank = {0, 2, "x"};
  EXPECT_THAT(cores(plan_workers(real("core:4"), l, std::nullopt)), ElementsAre(2, 3));
  l = all_cpus(4);
  l.rank = {0, 1, "x"};
  EXPECT_EQ(plan_workers(real("core:4"), l, std::nullopt).workers, 4);
}

TEST(PlanWorkers, NoNumberOfWorkersIsRefused) {
  for (int wrong : {0, -1, most_workers + 1}) {
    EXPECT_THROW(plan_workers(real("core:4"), limits{}, wrong, true), error) << wrong;
  }
}

class Settings : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("KITH_WORKERS");
    unsetenv("KITH_OVERSUBSCRIBE");
  }
};

TEST_F(Settings, TheOptionGoesBeforeTheVariable) {
  unsetenv("KITH_WORKERS");
  EXPECT_EQ(workers_setting(), std::nullopt);
  setenv("KITH_WORKERS", "3", 1);
  EXPECT_EQ(workers_setting(), 3);
  EXPECT_EQ(workers_setting(5), 5);
  EXPECT_FALSE(oversubscribe_setting());
  setenv("KITH_OVERSUBSCRIBE", "1", 1);
  EXPECT_TRUE(oversubscribe_setting());
  EXPECT_FALSE(oversubscribe_setting(0));
}

TEST_F(Settings, WrongValuesNameTheVariable) {
  for (const char* wrong : {"abc", "0", "-1", "2x", "99999"}) {
    setenv("KITH_WORKERS", wrong, 1);
    try {
      workers_setting();
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr(std::string("KITH_WORKERS=") + wrong + ": expected a number from 1")) << wrong;
    }
  }
  setenv("KITH_OVERSUBSCRIBE", "yes", 1);
  EXPECT_THROW(oversubscribe_setting(), error);
  EXPECT_THROW(workers_setting(-1), error);
}

}  // namespace
}  // namespace kith
