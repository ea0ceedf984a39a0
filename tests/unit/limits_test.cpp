// What a process may use, read from made-up trees of system files.
#include "machine/limits.hpp"
#include "machine/memory_left.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <map>

namespace kith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A root folder and an environment for the test.
class Limits : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kith_limits_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
    put("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root / path.substr(1);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  /// Version 2, mounted at /sys/fs/cgroup, with the process in `group`.
  void put_v2(const std::string& group, const std::string& shows = "/") {
    put("/proc/self/cgroup", "0::" + group + "\n");
    put("/proc/self/mountinfo",
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "31 23 0:28 " +
            shows + " /sys/fs/cgroup rw,nosuid shared:9 master:3 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  /// Version 1, with the controllers cpu and cpuacct together, as on most systems.
  void put_v1(const std::string& group, const std::string& shows = "/") {
    put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/other\n3:cpu,cpuacct:" + group + "\n1:cpuset:/\n");
    put("/proc/self/mountinfo",
        "30 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "31 23 0:28 " +
            shows + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  }
  limits read() {
    return read_limits(root, [this](const char* name) {
      const auto found = variables_set.find(name);
      return found == variables_set.end() ? std::nullopt : std::optional<std::string>(found->second);
    });
  }

  std::filesystem::path root;
  std::map<std::string, std::string> variables_set;
};

// ---- the affinity mask

TEST_F(Limits, MaskIsAListOfRanges) {
  put("/proc/self/status", "Cpus_allowed_list:\t8-9,0,2-3\n");
  EXPECT_THAT(*read().affinity, ElementsAre(0, 2, 3, 8, 9));
  EXPECT_THAT(read().notes, IsEmpty());
}

TEST_F(Limits, MaskThatIsNoListIsNotKnown) {
  for (const char* list : {"", "x", "3-1", "1-", "-1", "0,,1", "0-99999999999", "1 2"}) {
    put("/proc/self/status", std::string("Cpus_allowed_list:\t") + list + "\n");
    const limits l = read();
    EXPECT_FALSE(l.affinity) << list;
    EXPECT_THAT(l.notes, ElementsAre(HasSubstr("/proc/self/status"))) << list;
  }
}

TEST_F(Limits, NothingAtAll) {
  std::filesystem::remove_all(root / "proc");
  const limits l = read();
  EXPECT_FALSE(l.affinity || l.quota || l.slurm);
  EXPECT_THAT(l.notes, ElementsAre(HasSubstr("affinity mask is not known")));
}

// ---- version 2

TEST_F(Limits, V2OwnGroup) {
  put_v2("/job");
  put("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  const limits l = read();
  EXPECT_DOUBLE_EQ(*l.quota, 1.5);
  EXPECT_EQ(l.quota_from, "/sys/fs/cgroup/job/cpu.max");
}

TEST_F(Limits, V2TightestOnTheWayCounts) {
  put_v2("/a/b/c");
  put("/sys/fs/cgroup/a/cpu.max", "600000 100000\n");
  put("/sys/fs/cgroup/a/b/cpu.max", "40000 20000\n");
  put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/a/other/cpu.max", "1000 100000\n");  // not on the path
  const limits l = read();
  EXPECT_DOUBLE_EQ(*l.quota, 2);
  EXPECT_EQ(l.quota_from, "/sys/fs/cgroup/a/b/cpu.max");
}

TEST_F(Limits, V2QuotaAtTheTopOfAContainer) {
  put_v2("/");
  put("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 3);
}

TEST_F(Limits, V2MountThatShowsAGroupOnly) {
  put_v2("/docker/abc/inner", "/docker/abc");
  put("/sys/fs/cgroup/inner/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 2.5);
}

TEST_F(Limits, V2GroupOutsideTheMountCountsAsItsTop) {
  for (const char* group : {"/../../elsewhere", "/docker/abcdef"}) {
    put_v2(group, "/docker/abc");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_DOUBLE_EQ(read().quota.value_or(-1), 2) << group;
  }
}

TEST_F(Limits, V2WithoutPeriodUsesTheKernelsDefault) {
  put_v2("/");
  put("/sys/fs/cgroup/cpu.max", "300000");
  EXPECT_DOUBLE_EQ(*read().quota, 3);
}

TEST_F(Limits, V2NoLimit) {
  put_v2("/job");
  EXPECT_FALSE(read().quota);  // no controller in this group
  put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(read().quota);
  EXPECT_THAT(read().notes, IsEmpty());
}

TEST_F(Limits, V2GarbageIsNoLimitAndANote) {
  put_v2("/job");
  for (const char* text :
       {"", "many", "0 100000", "-5 100000", "1 0", "100000 x", "1e5 100000", "99999999999999999999 1"}) {
    put("/sys/fs/cgroup/job/cpu.max", text);
    const limits l = read();
    EXPECT_FALSE(l.quota) << text;
    EXPECT_THAT(l.notes, ElementsAre(HasSubstr("/sys/fs/cgroup/job/cpu.max"))) << text;
  }
}

TEST_F(Limits, MountPointsMayHaveBlanks) {
  put("/proc/self/cgroup", "0::/job\n");
  put("/proc/self/mountinfo", "31 23 0:28 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  put("/my groups/job/cpu.max", "100000 100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 1);
}

TEST_F(Limits, GarbageInTheListsOfGroupsAndMounts) {
  put("/proc/self/cgroup", "::\n\nnonsense\n0:\n0::\n");
  put("/proc/self/mountinfo",
      "\n-\n1 2 3 -\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2\n31 23 0:28 / \\04 rw - cgroup2 x rw\n");
  EXPECT_FALSE(read().quota);
}

// ---- version 1

TEST_F(Limits, V1TightestOnTheWayCounts) {
  put_v1("/slurm/job");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "50000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "20000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_quota_us", "400000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_period_us", "100000\n");
  const limits l = read();
  EXPECT_DOUBLE_EQ(*l.quota, 2.5);
  EXPECT_EQ(l.quota_from, "/sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us");
}

TEST_F(Limits, V1InsideAContainer) {
  put_v1("/docker/abc", "/docker/abc");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 1.5);
}

TEST_F(Limits, V1WithoutPeriodIsANote) {
  put_v1("/");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
  EXPECT_FALSE(read().quota);
  EXPECT_THAT(read().notes, ElementsAre(HasSubstr("cpu.cfs_quota_us")));
}

TEST_F(Limits, BothVersionsAtOnceTheTighterCounts) {
  put("/proc/self/cgroup", "2:cpu:/one\n0::/two\n");
  put("/proc/self/mountinfo",
      "31 23 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu\n32 23 0:29 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  put("/cg/cpu/one/cpu.cfs_quota_us", "500000\n");
  put("/cg/cpu/one/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 5);
  put("/cg/unified/two/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(*read().quota, 4);
}

// ---- Slurm

TEST_F(Limits, SlurmCpusPerTask) {
  variables_set = {{"SLURM_CPUS_PER_TASK", "3"}, {"SLURM_CPUS_ON_NODE", "16"}};
  EXPECT_EQ(read().slurm, 3);
  EXPECT_EQ(read().slurm_from, "SLURM_CPUS_PER_TASK");
}

TEST_F(Limits, SlurmBatchScriptHasTheNode) {
  variables_set = {{"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_TASKS_PER_NODE", "4"}};
  EXPECT_EQ(read().slurm, 16);
}

TEST_F(Limits, SlurmTasksOfAStepShareTheNode) {
  variables_set = {{"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),8,32"}};
  for (const auto& [node, cpus] : std::map<std::string, int>{{"0", 4}, {"1", 4}, {"2", 2}, {"3", 1}}) {
    variables_set["SLURM_NODEID"] = node;
    EXPECT_EQ(read().slurm, cpus) << node;
  }
}

TEST_F(Limits, SlurmGarbageIsNoLimitAndANote) {
  for (const char* value : {"abc", "0", "-2", "3.5", "4 ", "99999999999999999999"}) {
    variables_set = {{"SLURM_CPUS_PER_TASK", value}};
    EXPECT_FALSE(read().slurm) << value;
    EXPECT_THAT(read().notes, ElementsAre(HasSubstr(std::string("SLURM_CPUS_PER_TASK=") + value))) << value;
  }
  for (const char* tasks : {"x", "4(x", "4(x0)", "0", "4(2)", "4(xx)", ""}) {
    variables_set = {{"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_STEP_TASKS_PER_NODE", tasks}};
    EXPECT_EQ(read().slurm, 16) << tasks;
    EXPECT_THAT(read().notes, ElementsAre(HasSubstr("SLURM_STEP_TASKS_PER_NODE"))) << tasks;
  }
}

// ---- launchers of MPI programs

TEST_F(Limits, ARankAmongThoseOfThisMachine) {
  const std::map<std::string, std::string> pairs = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                                    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                                    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
                                                    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
                                                    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"}};
  for (const auto& [rank, ranks] : pairs) {
    variables_set = {{rank, "2"}, {ranks, "4"}};
    ASSERT_TRUE(read().rank) << rank;
    EXPECT_EQ(read().rank->rank, 2);
    EXPECT_EQ(read().rank->ranks, 4);
    EXPECT_EQ(read().rank->from, rank);
    variables_set.erase(ranks);
    EXPECT_FALSE(read().rank) << rank;
  }
}

TEST_F(Limits, SlurmsRankIsOneUnderSrunAlone) {
  variables_set = {{"SLURM_LOCALID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),2"}, {"SLURM_NODEID", "2"}};
  ASSERT_TRUE(read().rank);
  EXPECT_EQ(read().rank->rank, 1);
  EXPECT_EQ(read().rank->ranks, 2);
  variables_set = {{"SLURM_LOCALID", "0"}, {"SLURM_TASKS_PER_NODE", "4"}};  // a batch script
  EXPECT_FALSE(read().rank);
}

TEST_F(Limits, ARankThatCannotBeIsANote) {
  for (const auto& [rank, ranks] :
       std::map<std::string, std::string>{{"4", "4"}, {"x", "4"}, {"-1", "2"}, {"0", "0"}}) {
    variables_set = {{"MPI_LOCALRANKID", rank}, {"MPI_LOCALNRANKS", ranks}};
    EXPECT_FALSE(read().rank) << rank;
    EXPECT_THAT(read().notes, ElementsAre(HasSubstr("MPI_LOCALRANKID=" + rank))) << rank;
  }
}

// ---- the real tree

TEST(ProcessLimits, AreThoseOfThisProcess) {
  const limits& l = process_limits();
  ASSERT_TRUE(l.affinity);
  EXPECT_FALSE(l.affinity->empty());
  EXPECT_THAT(l.notes, IsEmpty());
}

TEST_F(Limits, MemoryLeftIsWhatTheKernelCallsAvailable) {
  EXPECT_FALSE(read_memory_left(root));
  put("/proc/meminfo", "MemTotal:  16000000 kB\nMemFree:  1000 kB\nMemAvailable:  8000000 kB\n");
  ASSERT_TRUE(read_memory_left(root));
  EXPECT_EQ(read_memory_left(root)->bytes, std::uint64_t{8000000} * 1024);
  EXPECT_EQ(read_memory_left(root)->from, "/proc/meminfo");
}

TEST_F(Limits, MemoryLeftIsAtMostWhatAGroupOnTheWayLeaves) {
  put("/proc/meminfo", "MemAvailable:  8000000 kB\n");
  put_v2("/job/step");
  put("/sys/fs/cgroup/job/step/memory.max", "max\n");
  put("/sys/fs/cgroup/job/memory.max", "1000000\n");
  put("/sys/fs/cgroup/job/memory.current", "700000\n");
  put("/sys/fs/cgroup/job/memory.stat", "anon 5\ninactive_file 300000\n");  // the page cache can shrink
  ASSERT_TRUE(read_memory_left(root));
  EXPECT_EQ(read_memory_left(root)->bytes, 600000u);
  EXPECT_EQ(read_memory_left(root)->from, "/sys/fs/cgroup/job/memory.max");
  put("/sys/fs/cgroup/job/memory.current", "2000000\n");  // above the limit: 0, not a huge number
  EXPECT_EQ(read_memory_left(root)->bytes, 0u);
}

TEST_F(Limits, MemoryLeftKnowsVersion1) {
  put("/proc/meminfo", "MemAvailable:  8000000 kB\n");
  put("/proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n");
  put("/proc/self/mountinfo",
      "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  ASSERT_TRUE(read_memory_left(root));
  EXPECT_EQ(read_memory_left(root)->bytes, 4000u);
}

}  // namespace
}  // namespace kith
