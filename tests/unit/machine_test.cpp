// Machines: this one, synthetic ones, and files that hwloc exported.
#include "machine/machine.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

namespace kith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(const std::string& name) {
  return (std::filesystem::path(__FILE__).parent_path() / "../data/machines" / name).string();
}

std::vector<node_id> ids(std::initializer_list<int> values) {
  std::vector<node_id> made;
  for (int v : values) made.emplace_back(v);
  return made;
}

/// What machine.hpp promises of every machine.
void expect_sound(const machine& m) {
  ASSERT_FALSE(m.cores.empty());
  ASSERT_FALSE(m.nodes.empty());
  std::set<int> cpus;
  std::size_t on_nodes = 0;
  for (std::size_t c = 0; c < m.cores.size(); ++c) {
    EXPECT_EQ(m.cores[c].id.index(), c);
    EXPECT_FALSE(m.cores[c].cpus.empty());
    EXPECT_GE(m.cores[c].core_class, 0);
    for (int cpu : m.cores[c].cpus) EXPECT_TRUE(cpus.insert(cpu).second) << "CPU " << cpu << " is in two cores";
  }
  ASSERT_EQ(m.distances.size(), m.nodes.size());
  for (std::size_t n = 0; n < m.nodes.size(); ++n) {
    EXPECT_EQ(m.nodes[n].id.index(), n);
    for (core_id c : m.nodes[n].cores) EXPECT_EQ(m.cores[c.index()].node, m.nodes[n].id);
    on_nodes += m.nodes[n].cores.size();
    ASSERT_EQ(m.distances[n].size(), m.nodes.size());
    EXPECT_EQ(m.distances[n][n], 10);
    for (int d : m.distances[n]) EXPECT_GT(d, 0);
    EXPECT_EQ(m.nearest_nodes(m.nodes[n].id).size(), m.nodes.size());
    EXPECT_EQ(m.nearest_nodes(m.nodes[n].id).front(), m.nodes[n].id);
    EXPECT_FALSE(m.nodes[m.nearest_node_with_cores(m.nodes[n].id).index()].cores.empty());
  }
  EXPECT_EQ(on_nodes, m.cores.size());
  for (const machine::cache& c : m.caches) EXPECT_FALSE(c.cores.empty());
}

std::string failure(const std::function<void()>& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Machine, ThisOneIsSound) {
  const machine m = discover_machine();
  expect_sound(m);
  EXPECT_FALSE(m.name.empty());
  EXPECT_EQ(m.pretended, std::getenv("HWLOC_XMLFILE") != nullptr || std::getenv("HWLOC_SYNTHETIC") != nullptr);
}

TEST(Machine, EightNodesOfTenCores) {
  const machine m = synthetic_machine("node:8 core:10");
  expect_sound(m);
  EXPECT_TRUE(m.pretended);
  EXPECT_EQ(m.name, "node:8 core:10");
  EXPECT_EQ(m.nodes.size(), 8u);
  EXPECT_EQ(m.cores.size(), 80u);
  EXPECT_EQ(m.cores[79].node, node_id(7));
  EXPECT_EQ(m.distance(node_id(0), node_id(7)), 20);
  EXPECT_EQ(m.nearest_nodes(node_id(3)), ids({3, 0, 1, 2, 4, 5, 6, 7}));
}

TEST(Machine, HardwareThreadsBelongToTheirCore) {
  const machine m = synthetic_machine("node:2 core:2 pu:2");
  expect_sound(m);
  EXPECT_EQ(m.cores.size(), 4u);
  EXPECT_THAT(m.cores[1].cpus, ElementsAre(2, 3));
}

TEST(Machine, WithoutNodesThereIsOne) {
  const machine m = synthetic_machine("core:4");
  expect_sound(m);
  EXPECT_EQ(m.nodes.size(), 1u);
  EXPECT_EQ(m.distances, std::vector<std::vector<int>>{{10}});
}

TEST(Machine, WithoutCoresHardwareThreadsAreCores) {
  const machine m = synthetic_machine("node:2 pu:3");
  expect_sound(m);
  EXPECT_EQ(m.cores.size(), 6u);
}

TEST(Machine, ACoreMayHaveANodeOfItsOwn) {
  const machine m = synthetic_machine("core:4 node:1 pu:1");
  expect_sound(m);
  EXPECT_EQ(m.cores[3].node, node_id(3));
}

TEST(Machine, CachesAndMemoryAreRead) {
  const machine m = synthetic_machine("node:2(memory=1073741824) l3:1(size=8388608) core:2 pu:1");
  expect_sound(m);
  EXPECT_EQ(m.nodes[1].memory_bytes, 1073741824u);
  ASSERT_EQ(m.caches.size(), 2u);
  EXPECT_EQ(m.caches[1].level, 3);
  EXPECT_EQ(m.caches[1].bytes, 8388608u);
  EXPECT_THAT(m.caches[1].cores, ElementsAre(core_id(2), core_id(3)));
}

TEST(Machine, NodesWithoutCores) {
  // Two memories in each package: its cores belong to the first of them.
  const machine m =
      synthetic_machine("pack:2 [numa] [numa] core:2 distance:10,11,30,31/11,10,31,30/30,31,10,11/31,30,11,10");
  expect_sound(m);
  EXPECT_EQ(m.nodes.size(), 4u);
  EXPECT_EQ(m.nodes[0].cores.size(), 2u);
  EXPECT_TRUE(m.nodes[1].cores.empty());
  EXPECT_EQ(m.nearest_node_with_cores(node_id(1)), node_id(0));
  EXPECT_EQ(m.nearest_node_with_cores(node_id(3)), node_id(2));
  EXPECT_EQ(m.nearest_node_with_cores(node_id(2)), node_id(2));
}

TEST(Machine, DistancesOfALine) {
  EXPECT_EQ(synthetic_machine("distance:21 node:3 core:1").distances,
            (std::vector<std::vector<int>>{{10, 21, 21}, {21, 10, 21}, {21, 21, 10}}));
  // A table need not be symmetric.
  const machine m = synthetic_machine("node:3 core:1 distance:10,30,20/16,10,16/20,30,10");
  EXPECT_EQ(m.distance(node_id(0), node_id(1)), 30);
  EXPECT_EQ(m.distance(node_id(1), node_id(0)), 16);
  EXPECT_EQ(m.nearest_nodes(node_id(0)), ids({0, 2, 1}));
  EXPECT_EQ(m.nearest_nodes(node_id(1)), ids({1, 0, 2}));
}

TEST(Machine, OwnNodeIsNearestWhateverTheTableSays) {
  machine odd = synthetic_machine("node:2 core:1");  // real firmware reports such tables
  odd.distances = {{10, 9}, {9, 10}};
  EXPECT_EQ(odd.nearest_nodes(node_id(1)), ids({1, 0}));
}

TEST(Machine, WrongLinesSayWhatIsWrong) {
  const auto of = [](const char* line) { return failure([&] { synthetic_machine(line); }); };
  for (const char* line : {"", "  ", "foo", "node:", "node:x core:2", "node:0 core:2", "node:2 node:2 core:1",
                           "core:-1", "node:2 core:", "[numa]", "(", "core:4 pu:2 core:2"}) {
    EXPECT_THAT(of(line), HasSubstr("synthetic machine '" + std::string(line) + "'")) << line;
    EXPECT_THAT(of(line), HasSubstr("expected")) << line;
  }
  EXPECT_THAT(of("node:1000 core:1000"), HasSubstr("more than"));
  EXPECT_THAT(of("core:1025"), HasSubstr("more than"));
  EXPECT_THAT(of("[numa]core:99999"), HasSubstr("more than"));
  EXPECT_THAT(of("2(memory=1GB)99999"), HasSubstr("more than"));
  for (const char* line :
       {"core:0x100000", "core:010", "node:2core:3", "node: 8 core:2", "node:+2 core:1", "core:2) pu:9"})
    EXPECT_THAT(of(line), HasSubstr("has no positive decimal count")) << line;
  for (const char* line : {"core:10 node:8", "core:2 pu:2 [numa]"})
    EXPECT_THAT(of(line), HasSubstr("memory nodes inside a core")) << line;
  EXPECT_THAT(of("99999999999999999999"), HasSubstr("expected"));
  EXPECT_THAT(of("node:2 core:1 distance:"), HasSubstr("the distance ''"));
  EXPECT_THAT(of("node:2 core:1 distance:far"), HasSubstr("the distance 'far'"));
  EXPECT_THAT(of("node:2 core:1 distance:0"), HasSubstr("the distance '0'"));
  EXPECT_THAT(of("node:2 core:1 distance:10,20"), HasSubstr("1 rows of distances for 2 nodes"));
  EXPECT_THAT(of("node:2 core:1 distance:10,20/20"), HasSubstr("row 2 of the distances has 1 entries"));
  EXPECT_THAT(of("node:2 core:1 distance:10,20/20,11"), HasSubstr("row 2"));
  EXPECT_THAT(of("node:1 core:1 distance:10,11/11,10"), HasSubstr("has 2 entries for 1 nodes"));
  EXPECT_THAT(of("node:2 core:1 distance:20 distance:20"), HasSubstr("two words"));
}

TEST(MachineFile, DistancesAreTheSystems) {
  const machine m = machine_from_file(file("four-nodes.xml"));
  expect_sound(m);
  EXPECT_TRUE(m.pretended);
  EXPECT_EQ(m.name, "four-nodes");
  EXPECT_EQ(m.distances[0], (std::vector<int>{10, 16, 28, 22}));
  EXPECT_EQ(m.nearest_nodes(node_id(0)), ids({0, 1, 3, 2}));
}

TEST(MachineFile, NodesWithoutMemoryOrWithoutCores) {
  const machine m = machine_from_file(file("odd-nodes.xml"));
  expect_sound(m);
  ASSERT_EQ(m.nodes.size(), 4u);
  EXPECT_EQ(m.nodes[2].memory_bytes, 0u);
  EXPECT_EQ(m.nodes[2].cores.size(), 2u);
  EXPECT_TRUE(m.nodes[3].cores.empty());
  EXPECT_EQ(m.nearest_node_with_cores(node_id(3)), node_id(2));  // 16 away; the others are 22 and 28
  EXPECT_EQ(m.nearest_node_with_memory(node_id(2)), node_id(3));
  EXPECT_EQ(m.nearest_node_with_memory(node_id(1)), node_id(1));
}

TEST(Machine, WithoutMemoryTheNextOfTheNearestNodesGives) {
  machine m = synthetic_machine("node:4 core:1");  // all at the same distance
  m.nodes[1].memory_bytes = 0;
  EXPECT_EQ(m.nearest_node_with_memory(node_id(1)), node_id(2));
  m.nodes[2].memory_bytes = m.nodes[3].memory_bytes = 0;
  EXPECT_EQ(m.nearest_node_with_memory(node_id(3)), node_id(0));
  m.nodes[0].memory_bytes = 0;  // nothing is known
  EXPECT_EQ(m.nearest_node_with_memory(node_id(3)), node_id(3));
}

TEST(MachineFile, ANodeOverSeveralPackages) {
  const machine m = machine_from_file(file("node-over-packages.xml"));
  expect_sound(m);
  EXPECT_EQ(m.nodes.size(), 1u);
  EXPECT_EQ(m.nodes[0].cores.size(), 4u);
}

TEST(MachineFile, HybridCoresHaveKinds) {
  const machine m = machine_from_file(file("hybrid.xml"));
  expect_sound(m);
  ASSERT_EQ(m.cores.size(), 6u);
  for (std::size_t c = 0; c < 6; ++c) EXPECT_EQ(m.cores[c].core_class, c < 4 ? 1 : 0) << c;
}

TEST(MachineFile, WhatIsNoTopologyIsRefused) {
  EXPECT_THAT(failure([] { machine_from_file("/nowhere/at/all.xml"); }),
              HasSubstr("/nowhere/at/all.xml: no such file"));
  EXPECT_THAT(failure([] { machine_from_file("/"); }), HasSubstr("expected an XML file"));
  const std::string path = testing::TempDir() + "kith_broken_machine.xml";
  for (const char* text : {"", "garbage", "<?xml version=\"1.0\"?><other/>", "<topology version=\"2.0\"></topology>"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(failure([&] { machine_from_file(path); }), HasSubstr("not a topology that hwloc can read")) << text;
  }
  std::ifstream whole(file("four-nodes.xml"));
  std::string text(std::istreambuf_iterator<char>(whole), {});
  std::ofstream(path) << text.substr(0, text.size() / 2);
  EXPECT_THAT(failure([&] { machine_from_file(path); }), HasSubstr(path));
  std::remove(path.c_str());
}

TEST(MachineByName, AFileOrALine) {
  EXPECT_EQ(machine_by_name(file("hybrid.xml")).name, "hybrid");
  EXPECT_EQ(machine_by_name("node:2 core:1").nodes.size(), 2u);
  EXPECT_THAT(failure([] { machine_by_name("missing.xml"); }), HasSubstr("missing.xml: no such file"));
  EXPECT_THAT(failure([] { machine_by_name(std::string(300, 'x')); }), HasSubstr("xxx"));  // too long for a file
  EXPECT_THAT(failure([] { machine_by_name("some/path"); }), HasSubstr("some/path: no such file"));
  EXPECT_EQ(machine_by_name("2 3").cores.size(), 6u);
  for (const char* name : {"nope", "8x10", "epyc2x4x"}) {
    EXPECT_THAT(failure([&] { machine_by_name(name); }), HasSubstr("no machine '" + std::string(name) + "'; ")) << name;
    EXPECT_THAT(failure([&] { machine_by_name(name); }), HasSubstr("bullion-s16-8")) << name;
  }
  EXPECT_THAT(failure([] { machine_by_name("epyc-2x5"); }), HasSubstr("did you mean 'epyc-2x4'?"));
  EXPECT_THAT(failure([] { machine_by_name("nodes 8"); }), HasSubstr("synthetic machine 'nodes 8'"));
}

class CurrentMachine : public testing::Test {
 protected:
  void TearDown() override { unsetenv("KITH_MACHINE"); }
};

TEST_F(CurrentMachine, FollowsTheVariable) {
  setenv("KITH_MACHINE", "node:3 core:2", 1);
  EXPECT_EQ(current_machine().cores.size(), 6u);
  setenv("KITH_MACHINE", file("hybrid.xml").c_str(), 1);
  EXPECT_EQ(current_machine().name, "hybrid");
  setenv("KITH_MACHINE", "", 1);
  EXPECT_EQ(current_machine().cores.size(), discover_machine().cores.size());
  setenv("KITH_MACHINE", "nonsense", 1);
  EXPECT_THAT(failure([] { current_machine(); }), HasSubstr("KITH_MACHINE: no machine 'nonsense'; there are: "));
}

TEST(MachineJson, HoldsNodesCoresAndDistances) {
  const nlohmann::json j = nlohmann::json::parse(to_json(synthetic_machine("pack:2 [numa] [numa] core:2 distance:30")));
  EXPECT_EQ(j["nodes"].size(), 4u);
  EXPECT_EQ(j["nodes"][0]["cores"], (nlohmann::json{0, 1}));
  EXPECT_EQ(j["nodes"][1]["cores"], nlohmann::json::array());
  EXPECT_EQ(j["distances"][0][1], 30);
  EXPECT_EQ(j["pretended"], true);
}

TEST(MachineJson, SurvivesAnyName) {
  machine m = synthetic_machine("core:1");
  m.name = "bad \xff bytes \" and quotes";
  EXPECT_TRUE(nlohmann::json::accept(to_json(m)));
}

}  // namespace
}  // namespace kith
