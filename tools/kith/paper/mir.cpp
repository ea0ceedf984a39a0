// The MIR thesis, section 3.3: data distribution and locality-aware scheduling on an Opteron with eight nodes, and the
// contributions of their parts.
#include "paper/dry.hpp"
#include "paper/reproduction.hpp"
#include "sim/runs.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

constexpr const char* mir_machine_name = "opteron-6172";
constexpr const char* mir_recorded_on = "node:8 core:6";
constexpr int cores = 48;
constexpr std::uint64_t page = 4096;
const std::string baseline = "steal:looks=one";  // over pages that the system interleaves: fine distribution

struct program_at_size {
  const char* name;
  std::vector<std::string> words;
  sim::distribution advised;  // by the paper's heuristics
  bool pattern;               // one of the paper's synthetic programs
};

/// Sizes are those of the paper's text. It prints no iterations, and no vectors for vecmul on this machine.
/// jacobi divides the plate into rows instead of squares, with the same number of cells.
std::vector<program_at_size> programs() {
  using enum sim::distribution;  // there, every vector, tile and block is an allocation, so coarse is by regions
  return {{"map", {"map", "--paper", "--joined"}, regions, true},
          {"reduction", {"reduction", "--paper", "--joined"}, fine, true},
          {"vecmul", {"vecmul", "--size", "262144", "--vectors", "48", "--joined"}, regions, true},
          {"jacobi", {"jacobi", "--size", "16384", "--block", "16", "--iterations", "4"}, fine, false},
          {"matmul", {"matmul", "--paper"}, regions, false},
          {"sparse_lu", {"sparse_lu", "--paper"}, regions, false}};
}

/// Means over the seeds.
struct mir_means {
  double seconds = 0, stall = 0, remote = 0;
  void add(const sim::result& r, int seeds) {
    seconds += r.seconds / seeds;
    for (const sim::worker_times& w : r.times) stall += static_cast<double>(w.stall) * 1e-12 / seeds;
    const auto all = static_cast<double>(r.remote_bytes + r.local_bytes);
    if (all != 0) remote += 100 * static_cast<double>(r.remote_bytes) / all / seeds;
  }
};

struct way_to_run {
  std::string series, policy;
  sim::distribution data;
  sim::model_parts parts = {};
};

std::vector<mir_means> means_of(const program_at_size& what, const machine_model& m,
                                const std::vector<way_to_run>& ways, int seeds) {
  const sim::program p = record_dry(what.words, mir_recorded_on, cores, baseline);
  std::vector<sim::run_options> runs;
  for (const way_to_run& way : ways) {
    for (int seed = 1; seed <= seeds; ++seed) {
      sim::run_options s;
      s.policy = way.policy;
      s.workers = cores;
      s.seed = static_cast<std::uint64_t>(seed);
      s.distribution = way.data;
      s.chunk_bytes = page;
      s.cold = true;  // in the thesis, one core initialises
      s.parts = way.parts;
      runs.push_back(std::move(s));
    }
  }
  const std::vector<sim::result> results = simulate_all(p, m, runs);
  std::vector<mir_means> all(ways.size());
  for (std::size_t i = 0; i < results.size(); ++i) all[i / static_cast<std::size_t>(seeds)].add(results[i], seeds);
  return all;
}

constexpr const char* name_of(sim::distribution d) { return d == sim::distribution::fine ? "fine" : "coarse"; }

const char* said(const program_at_size& p, const way_to_run& way) {
  if (way.policy != "numa" || way.data != p.advised) return "";
  return p.pattern ? "patterns: up to 54 % better" : "real programs: up to 11 % less time, never clearly more";
}

}  // namespace

reproduced mir_opteron(const reproduction&, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = mir_machine_name;
  const machine_model m = model_by_name(mir_machine_name);
  std::vector<way_to_run> ways;
  for (sim::distribution d : {sim::distribution::fine, sim::distribution::regions}) {
    for (const char* policy :
         {"steal:looks=one", "steal:victim=nodes,batch=1,looks=one", "fifo", "dep", "numa", "numa:order=created"}) {
      ways.push_back({std::string(name_of(d)) + " " + policy, policy, d});
    }
  }
  const std::vector<program_at_size> all = programs();
  for (const program_at_size& p : all) {
    tell(p.name, static_cast<double>(&p - all.data()) / static_cast<double>(all.size()));
    const std::vector<mir_means> found = means_of(p, m, ways, seeds);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      out.rows.push_back(
          {ways[i].series, "speedup", p.name, {}, said(p, ways[i]), found[0].seconds / found[i].seconds});
      out.rows.push_back({ways[i].series, "stall_reduction", p.name, {}, {}, 1 - found[i].stall / found[0].stall});
      out.rows.push_back({ways[i].series, "remote_percent", p.name, {}, {}, found[i].remote});
    }
  }
  out.notes = {
      "speedup: over steal with fine distribution; stall_reduction: of the time that tasks wait for data longer than "
      "an idle memory of their own would let them, 1 is all of it; remote_percent: of the bytes that are fetched",
      "the paper advises coarse for map, vecmul, matmul and sparse_lu, fine for reduction and jacobi; its statements "
      "stand beside these",
      "chosen, as the paper prints none: iterations; 48 pairs of 1 MB vectors for vecmul; jacobi in 1024 blocks of "
      "rows with as many cells as its squares of 512; the work model of apps/rates.hpp for compute times",
      "passes of map, vecmul and reduction are joined, as there; jacobi, matmul and sparse_lu run by their "
      "dependences, where the paper's waited for all tasks of a step"};
  return out;
}

reproduced mir_ablations(const reproduction&, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = mir_machine_name;
  const machine_model m = model_by_name(mir_machine_name);
  machine_model slow_links = m;
  for (machine_link& l : slow_links.links) l.gbs /= 2;
  constexpr std::pair<const char*, sim::model_parts> models[] = {{"", {}},
                                                                 {" without contention", {.contention = false}},
                                                                 {" without latency", {.latency = false}},
                                                                 {" without caches", {.caches = false}},
                                                                 {" without scheduling", {.scheduling = false}}};
  const std::vector<program_at_size> all = programs();
  for (const program_at_size& p : all) {
    tell(p.name, static_cast<double>(&p - all.data()) / static_cast<double>(all.size()));
    std::vector<way_to_run> ways;
    for (const auto& [without, with] : models) {
      ways.push_back({"", baseline, sim::distribution::fine, with});
      ways.push_back({std::string("numa") + without, "numa", p.advised, with});
    }
    const std::size_t paired = ways.size();
    for (const char* policy :
         {"numa:footprint=0", "numa:reads=all", "numa:ties=first", "numa:alternative=off", "numa:backlog=0",
          "numa:order=created", "numa:order=created,backlog=1", "numa:keep=on"}) {
      ways.push_back({policy, policy, p.advised});
    }
    const std::vector<mir_means> found = means_of(p, m, ways, seeds);
    const std::vector<mir_means> slow =
        means_of(p, slow_links, {{"", baseline, sim::distribution::fine}, {"", "numa", p.advised}}, seeds);
    out.rows.push_back({"numa, links half as fast", "speedup", p.name, {}, {}, slow[0].seconds / slow[1].seconds});
    for (std::size_t i = 1; i < ways.size(); ++i) {
      if (ways[i].series.empty()) continue;
      const mir_means& before = found[i < paired ? i - 1 : 0];
      out.rows.push_back({ways[i].series, "speedup", p.name, {}, {}, before.seconds / found[i].seconds});
    }
  }
  out.notes = {
      "data in the distribution that the paper advises; speedup over steal with fine distribution, of which the same "
      "was left out"};
  return out;
}

}  // namespace kith::tools
