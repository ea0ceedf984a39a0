// Explanations of tasks, on recordings written by hand whose answers are known.
#include "analysis/why.hpp"
#include "analysis/find_task.hpp"
#include "engine/sim/simulation.hpp"
#include "recording/completed_times.hpp"
#include "support/recordings.hpp"

#include <gmock/gmock.h>

namespace {

using namespace kith;
using analysis::costs_for;
using analysis::data_costs;
using analysis::explain;
using analysis::explanation;
using analysis::find_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr auto in_ = static_cast<std::uint8_t>(mode::in), out_ = static_cast<std::uint8_t>(mode::out),
               inout_ = static_cast<std::uint8_t>(mode::inout);

/// Two nodes; workers 0 and 1 on node 0, worker 2 on node 1. Task 1 writes region 0 on node 1, and task 2
/// writes region 1 on node 0. Task 4 reads region 0, changes region 1, and writes the new region 2. It
/// waits while its worker runs task 3.
recording small() {
  recording r;
  r.meta = {{"policy", "dep"}, {"nodes", "2"}, {"machine", "somewhere"}, {"distances", "10,30/30,10"}};
  r.worker_node = {0, 0, 1};
  r.types = {"task", "make", "gemm"};
  r.regions = {{4096, 1000, 1}, {8192, 600, 0}, {12288, 400, 0}};
  r.homes = {{0, 1, 1000, 10}, {1, 0, 600, 20}, {2, 0, 400, 300}};
  const auto add = [&](std::int32_t worker, std::uint16_t type, std::uint64_t created, std::uint64_t ready,
                       std::uint64_t started, std::uint64_t ended, const std::vector<std::int32_t>& before,
                       const std::vector<recorded_access>& accesses) {
    recorded_task t;
    t.creator = r.tasks.empty() ? -1 : 0;
    if (r.tasks.empty()) t.flags = recorded_task::root;
    t.worker = worker;
    t.type = type;
    t.created = t.create_until = created;
    t.ready = ready;
    t.started = started;
    t.ended = ended;
    if (r.first_access.empty()) r.first_access = r.first_dependence = {0};
    r.tasks.push_back(t);
    for (const std::int32_t b : before) r.dependences.push_back({b, 0});
    r.accesses.insert(r.accesses.end(), accesses.begin(), accesses.end());
    r.first_access.push_back(r.accesses.size());
    r.first_dependence.push_back(r.dependences.size());
  };
  add(0, 0, 0, 0, 0, 40, {}, {});
  add(2, 1, 2, 2, 10, 100, {}, {{0, out_, 1000, 1000}});
  add(1, 1, 4, 4, 20, 150, {}, {{1, out_, 600, 600}});
  add(0, 1, 6, 6, 200, 290, {}, {});
  add(0, 2, 8, 150, 300, 400, {1, 2}, {{0, in_, 1000, 1000}, {1, inout_, 600, 300}, {2, out_, 400, 400}});
  r.idles = {{0, 160, 190}, {1, 150, 400}};
  set_completed_times(r);
  return r;
}

std::string all(const explanation& e) {
  std::string text;
  for (const std::string& reason : e.reasons) text += reason + "\n";
  return text;
}

TEST(why, counts_a_waiting_task_as_idle_while_its_worker_finds_nothing) {
  recording r = small();
  r.tasks[0].ended = 450;  // it waits on worker 0 for what it has created
  const explanation e = explain(r, 4, data_costs(r));
  ASSERT_EQ(e.waited.from, 150u);
  ASSERT_EQ(e.waited.until, 300u);
  EXPECT_EQ(e.waited.idle, 30u);
  EXPECT_EQ(e.waited.busy, 120u);
  EXPECT_EQ(e.waited.node_busy + e.waited.node_idle, 300u) << "two workers";
}

TEST(why, adds_up_data_by_home_and_by_who_wrote_it) {
  const recording r = small();
  const explanation e = explain(r, 4, data_costs(r));
  ASSERT_THAT(e.data, SizeIs(3));
  EXPECT_THAT(e.data[0].homes.bytes, ElementsAre(0, 1000));
  EXPECT_THAT(e.data[1].homes.bytes, ElementsAre(600, 0));
  EXPECT_THAT(e.data[2].homes.bytes, ElementsAre(0, 0)) << "it touches this one first";
  EXPECT_EQ(e.data[2].homes.nowhere, 400u);
  EXPECT_EQ(e.data[0].writer, 1);
  EXPECT_EQ(e.data[0].writer_node, 1);
  EXPECT_EQ(e.data[2].writer, -1);
  EXPECT_EQ(e.bytes, 2000u);
  EXPECT_EQ(e.nowhere, 400u);
  ASSERT_THAT(e.nodes, SizeIs(2));
  EXPECT_EQ(e.nodes[0].workers, 2);
  EXPECT_EQ(e.nodes[0].home_bytes, 600u);
  EXPECT_EQ(e.nodes[1].written_bytes, 1000u);
  EXPECT_EQ(e.nodes[0].remote_bytes, 1000u);
  EXPECT_EQ(e.nodes[1].remote_bytes, 300u) << "of what is used; the new region would be here";
  EXPECT_EQ(e.nodes[0].weighted, 3000u + 300 + 400);
  EXPECT_EQ(e.nodes[1].weighted, 1000u + 900 + 400);
  EXPECT_FALSE(e.nodes[0].data_ns) << "rates are not known";
}

TEST(why, times_data_as_the_simulator_does_on_an_idle_machine) {
  const recording r = small();
  const explanation e = explain(r, 4, costs_for(r, "bullion-s16-8"));  // 10 GB/s a core, distance 36
  EXPECT_DOUBLE_EQ(*e.nodes[0].data_ns, 360 + 30 + 40);
  EXPECT_DOUBLE_EQ(*e.nodes[1].data_ns, 100 + 108 + 40);
}

TEST(why, knows_what_a_task_waited_behind) {
  const recording r = small();
  const explanation e = explain(r, 4, data_costs(r));
  EXPECT_EQ(e.waited.from, 150u);
  EXPECT_EQ(e.waited.until, 300u);
  EXPECT_EQ(e.waited.busy, 90u);
  EXPECT_EQ(e.waited.idle, 30u);
  EXPECT_EQ(e.waited.node_workers, 2);
  EXPECT_EQ(e.waited.node_busy, 90u);
  EXPECT_EQ(e.waited.node_idle, 30u + 150);
  EXPECT_EQ(e.waited.started, 1u);
  EXPECT_EQ(e.waited.ready_before, 1u);
  ASSERT_THAT(e.waited.worker, SizeIs(2));
  EXPECT_EQ(e.waited.worker[0].what, analysis::timeline_entry::idle);
  EXPECT_EQ(e.waited.worker[1].number, 3);
  EXPECT_EQ(e.predecessors, 2u);
  EXPECT_EQ(e.released_by, 2);
  EXPECT_EQ(e.creator_worker, 0);
}

/// Task 1 leaves a child behind, which worker 0 runs; the child ends task 1.
TEST(why, knows_which_child_ended_the_last_predecessor) {
  recording r = small();
  recorded_task child;
  child.creator = 1;
  child.scope = 1;
  child.created = child.create_until = 50;
  child.started = 160;
  child.ended = 190;
  child.worker = 0;
  r.tasks.push_back(child);
  r.first_access.push_back(r.accesses.size());
  r.first_dependence.push_back(r.dependences.size());
  set_completed_times(r);
  r.tasks[4].ready = 190;
  r.meta["policy"] = "steal";
  const explanation e = explain(r, 4, data_costs(r));
  EXPECT_EQ(e.released_by, 1);
  EXPECT_EQ(e.ended_by, 5);
  EXPECT_THAT(all(e), HasSubstr("worker 0 ended its last predecessor (task 1, with its last child, task 5)"));
  EXPECT_EQ(explain(small(), 4, data_costs(small())).ended_by, 2) << "which has no children";
}

TEST(why, holds_the_rule_of_dep_against_what_was_done) {
  recording r = small();
  EXPECT_THAT(all(explain(r, 4, data_costs(r))), HasSubstr("node 1 has 1000 of 2000 bytes"));
  EXPECT_THAT(all(explain(r, 4, data_costs(r))), HasSubstr("which the rule does not explain"));
  r.steals = {{0, 2, 295}};
  const explanation stolen = explain(r, 4, data_costs(r));
  EXPECT_TRUE(stolen.first_after_steal);
  EXPECT_THAT(all(stolen), HasSubstr("took work from worker 2 on node 1 5 ns before"));
  r.steals = {{0, 2, 195}};  // the next task that ran was another one
  EXPECT_FALSE(explain(r, 4, data_costs(r)).first_after_steal);
  r.tasks[4].worker = 2;
  EXPECT_THAT(explain(r, 4, data_costs(r)).reasons, SizeIs(1)) << "as the rule says";
  EXPECT_THAT(all(explain(r, 1, data_costs(r))), HasSubstr("had no home yet: a node was drawn"));
}

TEST(why, adds_up_as_auto_does) {
  recording r = small();
  r.meta["policy"] = "auto";
  const auto reason = [&](std::int32_t task) { return all(explain(r, task, data_costs(r))); };
  EXPECT_THAT(reason(4), HasSubstr("no data of a page or more"));
  EXPECT_THAT(reason(4), HasSubstr("auto: worker 0 created it"));
  for (recorded_access& a : r.accesses) a.bytes *= 10;
  for (recorded_region& x : r.regions) x.bytes *= 10;
  for (recorded_home& h : r.homes) h.bytes *= 10;
  EXPECT_THAT(reason(1), HasSubstr("(10000 of 10000 bytes) had no home yet"));
  // Node 1 has 10000 bytes that the task reads, and node 0 has 6000 bytes that it reads and writes.
  EXPECT_THAT(reason(4), HasSubstr("what it reads and writes counted 2 times: node 0 has 12000 bytes"));
  r.homes[0].bytes = 12000, r.regions[0].bytes = 12000, r.accesses[2].bytes = 12000;
  EXPECT_THAT(reason(4), HasSubstr("nodes 0, 1 have 12000 bytes each"));
  r.accesses[3].mode = in_;
  EXPECT_THAT(reason(4), HasSubstr("node 1 has 12000 bytes"));
  EXPECT_THAT(reason(4), HasSubstr("had waited for longer than fetching the data was to take"));
}

TEST(why, says_what_other_policies_go_by) {
  recording r = small();
  const auto reason = [&](const std::string& policy, std::int32_t task) {
    r.meta["policy"] = policy;
    return all(explain(r, task, data_costs(r)));
  };
  EXPECT_THAT(reason("dep", 0), HasSubstr("runtime::run"));
  EXPECT_THAT(reason("fifo", 4), HasSubstr("one queue for all workers"));
  EXPECT_THAT(reason("fifo:organisation=deques", 4), HasSubstr("the older end of its queue"));
  EXPECT_THAT(reason("random:organisation=deques", 4), HasSubstr("any end of its queue"));
  EXPECT_THAT(reason("source", 4), HasSubstr("worker 0 created this one"));
  EXPECT_THAT(reason("source", 1), HasSubstr("worker 2 had none of its own left"));
  EXPECT_THAT(reason("steal", 4), HasSubstr("created it"));
  EXPECT_THAT(reason("steal", 1), HasSubstr("stolen nothing"));
  EXPECT_THAT(reason("dfifo:steal=off", 4), HasSubstr("dealt"));
  EXPECT_THAT(reason("socket", 4), HasSubstr("node of its creator"));
  EXPECT_THAT(reason("no-such-policy", 4), HasSubstr("no-such-policy"));
  r.tasks[4].node = 1;
  EXPECT_THAT(reason("socket", 4), HasSubstr("names node 1"));
  EXPECT_THAT(reason("socket:steal=nearest", 4), HasSubstr("another node's worker had nothing to do"));
  r.jobs = {{2, 2, 1, 30, 90}};
  EXPECT_THAT(reason("rip-dep", 1), HasSubstr("one of the first 2 tasks"));
  EXPECT_THAT(reason("rip-dep", 4), HasSubstr("later ones go by their data"));
  EXPECT_THAT(reason("rip-mw", 4), HasSubstr("1 of 1 windows"));
  r.tasks[4].color = 2;
  EXPECT_THAT(reason("nabbitc", 4), HasSubstr("its color is that of worker 2 on node 1"));
  // 1000 bytes on node 1 and 600 bytes on node 0, at distance 30; local is 10.
  EXPECT_THAT(reason("numa", 4), HasSubstr("at least cost: node 1 (bytes times distance: 3600 from node 0, 2800 from"));
  EXPECT_THAT(reason("numa", 4), HasSubstr("which the rule does not explain"));
  EXPECT_THAT(reason("numa", 4), HasSubstr("smaller than a core's share"));
  EXPECT_THAT(reason("numa:footprint=2000", 4), HasSubstr("is less than footprint=2000: the first worker that asks"));
  EXPECT_THAT(reason("numa:even=100", 4), HasSubstr("spread evenly"));
  EXPECT_THAT(reason("numa", 1), HasSubstr("no input that lies anywhere"));
  EXPECT_THAT(reason("home-cache", 4), HasSubstr("at least cost: node 1"));
  EXPECT_THAT(reason("home-cache", 1), HasSubstr("stays with its creator"));
  EXPECT_THAT(reason("home-cache:intense=1", 4), HasSubstr("access 1 is the only one that decides"));
  EXPECT_THAT(reason("numa:no=option", 4), HasSubstr("at least cost")) << "the policy's line";
  r.places.resize(2);
  r.places[0].workers = 2;
  r.places[1].first_worker = 2;
  r.places[1].workers = 1;
  EXPECT_THAT(reason("numa", 4), HasSubstr("one node has all workers, so it is `steal`")) << "those of its place";
  r.places.clear();
  r.worker_node = {0, 0, 0};
  for (const std::string policy : {"numa", "socket", "dep", "rip-dep", "rip-mw"}) {
    EXPECT_THAT(reason(policy, 4), HasSubstr("one node has all workers, so it is `steal`")) << policy;
    EXPECT_THAT(reason(policy, 4), HasSubstr("worker 0 created it")) << policy;
    EXPECT_THAT(reason(policy + ":queue=node", 4), Not(HasSubstr("steal"))) << policy;
  }
  r.tasks[4].worker = -1;
  EXPECT_THAT(reason("dep", 4), HasSubstr("never ran"));
}

TEST(why, finds_tasks_by_number_type_and_key) {
  recording r = small();
  r.tasks[3].flags = recorded_task::keyed;
  r.tasks[3].key = 77;
  EXPECT_EQ(find_task(r, "4"), 4);
  EXPECT_EQ(find_task(r, "make:1"), 2);
  EXPECT_EQ(find_task(r, "gemm"), 4);
  EXPECT_EQ(find_task(r, "key:77"), 3);
  EXPECT_EQ(find_task(r, "key:0x4d"), 3);
  EXPECT_THAT([&] { find_task(r, "5"); }, ThrowsMessage<error>(HasSubstr("a number below 5")));
  EXPECT_THAT([&] { find_task(r, "make:3"); }, ThrowsMessage<error>(HasSubstr("make:0 to make:2")));
  EXPECT_THAT([&] { find_task(r, "make"); }, ThrowsMessage<error>(HasSubstr("make:0 to make:2")));
  EXPECT_THAT([&] { find_task(r, "trsm:1"); }, ThrowsMessage<error>(HasSubstr("make:0 to make:2, gemm:0")));
  EXPECT_THAT([&] { find_task(r, "key:5"); }, ThrowsMessage<error>(HasSubstr("no node of a graph has this key")));
  EXPECT_THAT([&] { find_task(r, "key:x"); }, ThrowsMessage<error>(HasSubstr("expected a whole number")));
  EXPECT_THAT([&] { find_task(r, "-1"); }, ThrowsMessage<error>(HasSubstr("no task '-1'")));
}

TEST(why, refuses_a_machine_with_too_few_nodes) {
  recording r = small();
  r.meta["nodes"] = "9";
  EXPECT_THAT([&] { costs_for(r, "bullion-s16-8"); },
              ThrowsMessage<error>(HasSubstr("expected a machine with as many")));
}

/// Where a run's data is over time, in native and simulated runs: a producer, and a consumer on the other node.
TEST(why, is_told_where_data_was_by_native_and_by_simulated_runs) {
  runtime_options o = test::make_options(2, "socket");
  o.machine = "node:2 core:1";
  std::vector<char> block(5000), result(64);
  const recording native = test::record(o, [&](runtime& rt) {
    rt.run([&] {
      spawn([&] { block[0] = 1; }, out(block.data(), block.size()), node{1}, work{1000});
      spawn([&] { result[0] = block[0]; }, in(block.data(), block.size()), out(result.data(), result.size()), node{0},
            work{1000});
      wait();
    });
  });
  sim::run_options set;
  set.policy = "socket";
  set.keep_schedule = true;
  const recording simulated = sim::simulate(sim::program_of(native), model_by_name("bullion-s16-8"), set).schedule;
  for (const recording* r : {&native, &simulated}) {
    SCOPED_TRACE(r->meta_or("engine", ""));
    for (const recorded_task& t : r->tasks) {
      EXPECT_LE(t.created, t.create_until);
      EXPECT_LE(t.created, t.ready);
      EXPECT_LE(t.ready, t.started);
    }
    EXPECT_GE(r->tasks[2].ready, r->tasks[1].ended);
    const explanation producer = explain(*r, 1, data_costs(*r)), consumer = explain(*r, 2, data_costs(*r));
    EXPECT_EQ(producer.nowhere, 5000u);
    ASSERT_GE(producer.node, 0);
    EXPECT_EQ(consumer.data[0].homes.bytes[static_cast<std::size_t>(producer.node)], 5000u);
    EXPECT_FALSE(consumer.data[0].homes.at_the_end);
    EXPECT_EQ(consumer.data[0].writer, 1);
    EXPECT_EQ(consumer.data[1].homes.nowhere, 64u);
    EXPECT_TRUE(consumer.nodes[0].weighted) << "distances are recorded";
  }
  const test::scratch_file file;
  write_recording(simulated, file.path());
  const recording again = read_recording(file.path());
  ASSERT_EQ(again.homes.size(), simulated.homes.size());
  for (std::size_t h = 0; h < again.homes.size(); ++h) {
    EXPECT_EQ(again.homes[h].region, simulated.homes[h].region);
    EXPECT_EQ(again.homes[h].node, simulated.homes[h].node);
    EXPECT_EQ(again.homes[h].bytes, simulated.homes[h].bytes);
    EXPECT_EQ(again.homes[h].at, simulated.homes[h].at);
  }
}

/// Memory that is dealt page by page is on both nodes before it is touched.
TEST(why, is_told_of_regions_on_several_nodes) {
  runtime_options o = test::make_options(2, "dep");
  o.machine = "node:2 core:1";
  const recording r = test::record(o, [&](runtime& rt) {
    auto* const data = static_cast<char*>(allocate(rt, 8 * 4096, distribution::fine));
    rt.run([&] {
      spawn([&] { data[0] = 1; }, out(data, 8 * 4096));
      wait();
    });
    deallocate(data);
  });
  const analysis::home_history homes(r);
  EXPECT_THAT(homes.at_end(0).bytes, ElementsAre(4 * 4096, 4 * 4096));
  EXPECT_FALSE(homes.at_end(0).at_the_end);
  EXPECT_THAT(homes.before(0, r.tasks[1].started).bytes, ElementsAre(4 * 4096, 4 * 4096));
  EXPECT_EQ(homes.before(0, 0).nowhere, 8u * 4096) << "it was not allocated yet";
}

TEST(why, is_told_of_what_a_simulation_distributes) {
  test::script s;
  s.region(4 * 65536);
  s.task(1000, {}, {{0, in_, 4 * 65536, 4 * 65536}});
  sim::run_options set;
  set.policy = "fifo";
  set.distribution = sim::distribution::fine;
  set.keep_schedule = true;
  const recording r = sim::simulate(sim::program_of(s.finish()), model_by_name("xeon-5570"), set).schedule;
  EXPECT_THAT(analysis::home_history(r).before(0, r.tasks[1].started).bytes, ElementsAre(2 * 65536, 2 * 65536));
  set.distribution = sim::distribution::first_touch;
  const recording touched = sim::simulate(sim::program_of(s.finish()), model_by_name("xeon-5570"), set).schedule;
  const analysis::home_history homes(touched);
  EXPECT_EQ(homes.before(0, touched.tasks[1].started).nowhere, 4u * 65536);
  EXPECT_EQ(homes.before(0, touched.tasks[1].ended).nowhere, 0u);
}

}  // namespace
