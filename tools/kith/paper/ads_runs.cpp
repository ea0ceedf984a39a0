#include "paper/ads_runs.hpp"

#include "engine/sim/place_program.hpp"
#include "sim/runs.hpp"

#include "apps/place_graphs.hpp"

#include <algorithm>

namespace kith::tools {

namespace {

constexpr std::int64_t ads_iterations = 100;  // of heat and md, as printed
constexpr std::int64_t ads_simulated = 10;    // of these iterations; all are alike
constexpr std::int64_t cg_inner = 25;         // of an outer iteration of CG, of which the classes have 75
constexpr std::int64_t leaf_columns = 32, leaf_molecules = 64, leaf_rows = 256;

/// A recorded part of a program, and the time of the whole program over that of the part.
struct part_of_program {
  sim::program program;
  double times;
};

part_of_program make_ads_program(const ads_run& r) {
  sim::place_program g(r.way == ads_way::by_hand ? r.places * r.workers : r.places);
  if (r.program == "cg") {
    const apps::npb_cg_class& c = apps::npb_cg_class_of(std::string(1, static_cast<char>(r.size)));
    apps::cg_maker(g, c, leaf_rows).make(cg_inner);
    return {g.finish(), static_cast<double>(c.iterations)};
  }
  const apps::sent how = r.by_tree ? apps::sent::by_tree : apps::sent::by_main;
  if (r.program == "md") {
    const apps::box b{r.size, ads_simulated, leaf_molecules, 1};
    const apps::md_counts counts(b, r.places);
    if (r.way == ads_way::by_hand) {
      apps::make_md_by_hand(g, ads_simulated, counts, r.workers);
    } else {
      apps::make_md(g, b, ads_simulated, counts, how, r.regions);
    }
  } else {
    const apps::plate p{r.size, r.columns, leaf_columns, 1};
    if (r.way == ads_way::by_hand) {
      apps::make_heat_by_hand(g, p, ads_simulated, r.workers);
    } else {
      apps::make_heat(g, p, ads_simulated, how);
    }
  }
  return {g.finish(), static_cast<double>(ads_iterations) / ads_simulated};
}

sim::run_options ads_options(const machine_model& m, const ads_run& r) {
  sim::run_options s;
  s.policy = r.way == ads_way::by_hand ? "fifo"
             : r.way == ads_way::cilk  ? "steal:victim=random,batch=1,looks=one,patience=off"
                                       : "ads";
  s.places.count = r.places;
  s.places.workers = r.workers;
  s.places.groups = r.way == ads_way::ads       ? sim::worker_groups::places
                    : r.way == ads_way::by_hand ? sim::worker_groups::workers
                                                : sim::worker_groups::all;
  s.parts = r.parts;
  s.places.works = r.works;
  if (r.way == ads_way::by_hand) s.parts.scheduling = false;
  s.noise = r.way != ads_way::by_hand;  // over many blocks, noise averages out
  s.chunk_bytes = std::uint64_t{1} << 20;
  if (!sim::has_block_memory(m)) s.fidelity = sim::fidelity::abstract;
  return s;
}

void add_ads(ads_means& all, const sim::result& r, const looks& each, double times, double weight) {
  all.seconds += r.seconds * times * weight;
  double looking = 0;
  for (const sim::worker_times& w : r.times) looking += r.seconds - static_cast<double>(w.useful + w.overhead) * 1e-12;
  const double of_worker = looking / static_cast<double>(r.times.size()) * times * weight;
  const double rounds = of_worker / (each.steal_ns + each.fab_ns) * 1e9;
  const double share = times * weight / static_cast<double>(r.times.size());
  all.steal_seconds += rounds * each.steal_ns * 1e-9 + r.total.steal_seconds * share;
  all.fab_seconds += rounds * each.fab_ns * 1e-9 + r.total.arrival_seconds * share;
  if (each.steal_ns != 0) all.steal_attempts += rounds;
  if (each.fab_ns != 0) all.fab_attempts += rounds;
  all.steals += static_cast<double>(r.total.steals) * times * weight;
  all.deque_mean += r.total.deque_mean * weight;
  all.deque_peak = std::max(all.deque_peak, static_cast<double>(r.total.deque_peak));
  for (const sim::place_figures& p : r.places) {
    all.fab_mean += p.fab_mean / static_cast<double>(r.places.size()) * weight;
    all.fab_peak = std::max(all.fab_peak, static_cast<double>(p.fab_peak));
    all.refused += static_cast<double>(p.refused) * times * weight;
    all.messages += static_cast<double>(p.messages) * times * weight;
  }
}

/// As depth() of the programs, which also counts the body of a finish.
double depth_of(const sim::program& p, bool has_finish) {
  std::vector<int> depth(p.tasks(), 1);
  for (std::size_t t = 1; t < p.tasks(); ++t)
    depth[t] = depth[static_cast<std::size_t>(p.recorded.tasks[t].creator)] + 1;
  return std::ranges::max(depth) + (has_finish ? 1 : 0);
}

}  // namespace

looks looks_of_run(const machine_model& m, const ads_run& r) {
  const bool apart = r.way == ads_way::ads;
  const auto nodes = static_cast<int>(m.hardware.nodes.size());
  const double look = m.costs.attempt;
  looks l;
  if (apart) l.fab_ns = look;
  if (r.workers == 1 && apart) return l;
  // The mean distance of two cores of a group of neighbours.
  const int used = apart ? std::max(1, nodes / std::max(r.places, m.places)) : nodes;
  double distance = 0;
  for (int a = 0; a < used; ++a) {
    for (int b = 0; b < used; ++b) distance += m.hardware.distance(node_id(a), node_id(b)) / (10.0 * used * used);
  }
  l.steal_ns = (look + m.costs.steal) * distance;
  return l;
}

machine_model ads_machine(const std::string& name, int places) {
  machine_model m = model_by_name(name, places);
  for (double& s : m.speeds) s *= m.ghz / 2.5;
  return m;
}

std::vector<ads_means> run_ads(const machine_model& m, const std::vector<ads_run>& runs, int seeds,
                               const paper_progress& tell) {
  std::vector<ads_means> all(runs.size());
  side_by_side(
      runs.size(),
      [&](std::size_t i) {
        const part_of_program p = make_ads_program(runs[i]);
        for (int seed = 1; seed <= seeds; ++seed) {
          sim::run_options s = ads_options(m, runs[i]);
          s.seed = static_cast<std::uint64_t>(seed);
          add_ads(all[i], sim::simulate(p.program, m, s), looks_of_run(m, runs[i]), p.times, 1.0 / seeds);
        }
        all[i].depth = depth_of(p.program, runs[i].program != "cg");
      },
      [&](std::size_t done, std::size_t of) {
        tell(m.hardware.name, static_cast<double>(done) / static_cast<double>(of));
      });
  return all;
}

}  // namespace kith::tools
