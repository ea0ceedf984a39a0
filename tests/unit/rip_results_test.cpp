// The basis of the RIP paper's comparison, in simulated time: acceptance tests of the model, on the paper's programs.
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"

#include "apps/list.hpp"

#include <gtest/gtest.h>

namespace {

using namespace kith;

constexpr int seeds = 8;

/// A program on 8 nodes of 4 cores, recorded dry, with initialisation and computation as one graph.
struct recorded {
  sim::program program;
  std::string rip_dep;
};
recorded dry(const char* name, const apps::arguments::given& sizes) {
  const apps::entry& e = apps::find_app(name);
  const apps::arguments a(e.name, e.parameters, sizes, apps::preset::paper);
  runtime_options on = test::make_dry_options(1, "fifo");
  on.machine = "node:8 core:4";
  recording r = test::record(on, [&](runtime& rt) { apps::run(*e.make(a), {rt, 8}, true); });
  const apps::window_hint w = e.windows(a);
  return {sim::program_of(std::move(r)),
          "rip-dep:first=" + std::to_string(w.first) + ",window=" + std::to_string(w.window)};
}
const recorded& nstream() {
  static const recorded r = dry("nstream", {{"iterations", "8"}});
  return r;
}

struct means {
  double seconds = 0, balance = 0;
};
means of(const sim::program& p, const std::string& policy, bool ideal = false) {
  const machine_model m = model_by_name("bullion-s16-8");
  means all;
  for (int seed = 1; seed <= seeds; ++seed) {
    sim::run_options s;
    s.policy = policy;
    s.seed = static_cast<std::uint64_t>(seed);
    s.chunk_bytes = std::uint64_t{1} << 20;
    s.parts.contention = s.parts.latency = !ideal;
    const sim::result r = sim::simulate(p, m, s);
    all.seconds += r.seconds / seeds;
    all.balance += r.load_balance_percent / seeds;
  }
  return all;
}

TEST(rip_results, placing_by_data_pays_only_where_distance_or_links_matter) {
  const recorded tiles = dry("gauss_seidel", {{"iterations", "8"}, {"size", "8192"}});
  for (const sim::program* p : {&nstream().program, &tiles.program}) {
    EXPECT_LE(of(*p, "dfifo", true).seconds, of(*p, "dep", true).seconds);
    EXPECT_GT(of(*p, "dfifo").seconds, of(*p, "dep").seconds);
  }
}

/// Its components share no data, and every set has the same size. So only balance can be gained.
TEST(rip_results, nstream_gains_by_rip_dep_what_it_gains_in_balance) {
  const means dep = of(nstream().program, "dep"), rip = of(nstream().program, nstream().rip_dep);
  EXPECT_GT(rip.balance, dep.balance + 10);
  EXPECT_NEAR(dep.seconds / rip.seconds, rip.balance / dep.balance, 0.05 * rip.balance / dep.balance);
}

TEST(rip_results, rip_dep_keeps_halos_at_home) {
  const recorded tiles = dry("gauss_seidel", {{"iterations", "8"}, {"size", "8192"}});
  const machine_model m = model_by_name("bullion-s16-8");
  const auto remote = [&](const std::string& policy) {
    sim::run_options s;
    s.policy = policy;
    const sim::result r = sim::simulate(tiles.program, m, s);
    EXPECT_EQ(r.windows, policy == "dep" ? 0U : 1U);
    return static_cast<double>(r.remote_bytes);
  };
  EXPECT_GT(remote("dep"), 1.5 * remote(tiles.rip_dep));
}

}  // namespace
