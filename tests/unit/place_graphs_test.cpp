// The tasks that simulations of places_heat, places_md and places_cg have, compared with those of the programs.
#include "apps/place_graphs.hpp"
#include "apps/list.hpp"
#include "engine/sim/place_program.hpp"
#include "engine/sim/simulation.hpp"
#include "support/places.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

using namespace kith::apps;
using kith::sim::place_program;
using kith::test::make_place_options;

constexpr int places = 3;

/// What is counted at each place.
struct counted {
  std::vector<std::uint64_t> sent_here, tasks;
};

counted of_run(const char* name, const arguments::given& values) {
  for (const places_entry* e : places_app_list()) {
    if (std::string(e->about.name) != name) continue;
    kith::place_runtime on(make_place_options(places, 2));
    const std::unique_ptr<places_app> program =
        e->make(arguments(e->about.name, e->about.parameters, values, preset::small));
    counted c;
    for (const kith::place_statistics& p : run(*program, on).places) {
      c.sent_here.push_back(p.spawns_accepted);
      c.tasks.push_back(p.tasks.total.tasks);
    }
    return c;
  }
  return {};
}

counted of_graph(const kith::sim::program& p) {
  counted c{std::vector<std::uint64_t>(places), std::vector<std::uint64_t>(places)};
  for (std::size_t t = 1; t < p.tasks(); ++t) {
    ++c.tasks[p.place[t]];
    if (p.place[static_cast<std::size_t>(p.recorded.tasks[t].creator)] != p.place[t]) ++c.sent_here[p.place[t]];
  }
  return c;
}

TEST(place_graphs, heat_has_the_tasks_of_the_program) {
  for (const char* columns : {"256", "100"}) {
    const counted run = of_run("places_heat", {{"rows", "30"}, {"columns", columns}, {"iterations", "7"}});
    place_program g(places);
    make_heat(g, plate{30, std::stoi(columns), 32, 1}, 7);
    const counted graph = of_graph(g.finish());
    EXPECT_EQ(graph.sent_here, run.sent_here) << columns;
    for (std::size_t p = 1; p < places; ++p) EXPECT_EQ(graph.tasks[p], run.tasks[p]) << columns << ", place " << p;
  }
}

TEST(place_graphs, a_tree_sends_the_same_activities) {
  place_program by_main(places), by_tree(places);
  make_heat(by_main, plate{30, 256, 32, 1}, 7);
  make_heat(by_tree, plate{30, 256, 32, 1}, 7, sent::by_tree);
  EXPECT_EQ(of_graph(by_tree.finish()).sent_here, of_graph(by_main.finish()).sent_here);
}

TEST(place_graphs, md_has_nearly_the_tasks_of_the_program) {
  const counted run = of_run("places_md", {{"molecules", "900"}, {"iterations", "20"}, {"leaf", "32"}});
  place_program g(places);
  const box b{900, 20, 32, 1};
  make_md(g, b, 21, md_counts(b, places));
  const counted graph = of_graph(g.finish());
  for (std::size_t p = 0; p < places; ++p)
    EXPECT_NEAR(static_cast<double>(graph.sent_here[p]), static_cast<double>(run.sent_here[p]), 5) << p;
  for (std::size_t p = 1; p < places; ++p)
    EXPECT_NEAR(static_cast<double>(graph.tasks[p]), static_cast<double>(run.tasks[p]), 40) << p;
}

TEST(place_graphs, cg_has_the_tasks_of_the_program) {
  const npb_cg_class& c = npb_cg_class_of("S");
  const counted run = of_run("places_cg", {{"class", "S"}, {"leaf", "100"}});
  place_program g(places);
  cg_maker(g, c, 100).make(25);
  const counted graph = of_graph(g.finish());
  // The program has 53 phases in each of its iterations, two of which are left out.
  for (std::size_t p = 1; p < places; ++p) {
    EXPECT_EQ(run.sent_here[p], static_cast<std::uint64_t>(c.iterations) * 53) << p;
    EXPECT_EQ(graph.sent_here[p], 51u) << p;
  }
}

TEST(place_graphs, programs_by_hand_have_a_task_for_each_worker_and_step) {
  place_program g(places * 2);
  make_heat_by_hand(g, plate{30, 256, 32, 1}, 7, 2);
  EXPECT_EQ(g.finish().tasks(), 1u + 6 + 6 * 7);
}

/// The order of docs/papers/ads.md, on fewer places.
TEST(place_graphs, by_hand_is_faster_than_a_tree_and_that_than_a_loop) {
  constexpr int nodes = 64, workers = 2;
  const plate p{4096, 4096, 32, 1};
  const auto seconds = [](place_program& g, const std::string& policy, const auto& change) {
    kith::sim::run_options s;
    s.policy = policy;
    s.fidelity = kith::sim::fidelity::abstract;
    s.noise = false;
    s.places.count = nodes;
    s.places.workers = workers;
    change(s);
    return kith::sim::simulate(g.finish(), kith::model_by_name("bluegene-p"), s).seconds;
  };
  const auto same = [](kith::sim::run_options&) {};
  place_program hand(nodes * workers), tree(nodes), loop(nodes), working(nodes);
  make_heat_by_hand(hand, p, 3, workers);
  make_heat(tree, p, 3, sent::by_tree);
  make_heat(loop, p, 3);
  make_heat(working, p, 3);
  const double by_hand = seconds(hand, "fifo", [](kith::sim::run_options& s) {
    s.parts.scheduling = false;
    s.places.groups = kith::sim::worker_groups::workers;
  });
  const double by_tree = seconds(tree, "ads", same), by_loop = seconds(loop, "ads", same);
  EXPECT_LT(by_hand, by_tree);
  EXPECT_LT(by_tree, 0.95 * by_loop);
  EXPECT_LT(by_loop, seconds(working, "ads", [](kith::sim::run_options& s) { s.places.works = true; }));
}

}  // namespace
