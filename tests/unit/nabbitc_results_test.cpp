// The basis of the NabbitC paper's comparison, in simulated time: an acceptance test of the policy and the model.
#include "engine/sim/loops.hpp"
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"

#include "apps/list.hpp"

#include <gtest/gtest.h>

namespace {

using namespace kith;

/// Colors keep heat local, because of the forced first steal and morphing.
TEST(nabbitc_results, colors_keep_heat_at_home) {
  runtime_options on = test::make_dry_options(40, "nabbitc");
  on.machine = "node:4 core:10";
  const recording r = test::record(on, [](runtime& rt) {
    const apps::entry& e = apps::find_app("heat");
    const apps::arguments a(e.name, e.parameters,
                            {{"rows", "163840"}, {"size", "16384"}, {"block", "32"}, {"iterations", "5"}},
                            apps::preset::standard);
    apps::run(*e.make(a), {rt, 4});
  });
  const sim::program p = sim::program_of(r);
  const machine_model m = model_by_name("xeon-e7-8860");
  const auto of = [&](const char* policy) {
    sim::run_options s;
    s.policy = policy;
    s.workers = 40;
    s.fidelity = sim::fidelity::abstract;
    s.distribution = sim::distribution::colors;
    return sim::simulate(p, m, s);
  };
  const sim::result colored = of("nabbitc"), blind = of("nabbit");
  EXPECT_LT(colored.remote_access_percent, 1);
  EXPECT_GT(blind.remote_access_percent, 45);
  EXPECT_GT(of("nabbitc:first=off").remote_access_percent, 15);
  EXPECT_GT(of("nabbitc:morph=off").remote_access_percent, 5);
  EXPECT_GT(blind.total.steals, 5 * colored.total.steals);
  sim::run_options loops;
  loops.workers = 40;
  const sim::result fixed = sim::simulate_loops(p, m, loops, sim::loop_schedule::static_);
  EXPECT_GT(colored.over_serial(), 0.97 * fixed.over_serial());
  EXPECT_GT(fixed.over_serial(), sim::simulate_loops(p, m, loops, sim::loop_schedule::guided).over_serial());
}

}  // namespace
