// The MIR thesis, section 3.2: home-cache scheduling against a central queue on the TILEPro64, line by line.
#include "paper/reproduction.hpp"
#include "paper/rip_runs.hpp"
#include "paper/traced.hpp"
#include "sim/runs.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

constexpr const char* tiles_machine_name = "tilepro64";
constexpr int tiles = 63;  // the paper's map has as many vectors: one tile is the system's
constexpr const char* tiles_real = "sparse_lu";

/// Sizes are those of the paper's text. In MIR's published programs, tasks of patterns go ten times over their data,
/// and those of sparse_lu declare the block that they change. `other`: once, and all blocks.
std::vector<std::string> tile_words(const std::string& program, bool other) {
  const char *sweeps = other ? "1" : "10", *passes = other ? "20" : "2";
  const auto pattern = [&](std::vector<std::string> words) {
    for (const char* w : {"--iterations", passes, "--sweeps", sweeps, "--joined"}) words.emplace_back(w);
    return words;
  };
  if (program == "map") return pattern({"map", "--vectors", "63", "--size", "8192"});
  if (program == "reduction") return pattern({"reduction", "--size", "179200", "--depth", "6"});
  if (program == "vecmul") return pattern({"vecmul", "--vectors", "63", "--size", "7168", "--in-place"});
  std::vector<std::string> words{tiles_real, "--size", "1152", "--block", "36", "--joined"};
  if (!other) words.emplace_back("--intense");
  return words;
}

/// A reading of what the paper leaves open, or the model without one of its parts. For both policies.
struct tile_variant {
  std::string name;
  home_copies copies = home_copies::first_level;
  sim::model_parts parts = {};
  bool other = false;  // how the programs are recorded
  std::string policy = "home-cache:vicinity=1x1";
  enum : std::uint8_t { patterns, real, both } of = patterns;
  bool changes_model = true;  // so the central queue runs again
};

std::vector<tile_variant> tile_variants() {
  using enum home_copies;
  return {{.name = "", .of = tile_variant::both},
          {.name = "vicinities of 2x2", .policy = "home-cache", .of = tile_variant::both, .changes_model = false},
          {.name = "all blocks declared", .other = true, .of = tile_variant::real},
          {.name = "one sweep", .other = true},
          {.name = "copies in L2", .copies = updated},
          {.name = "copies in L2 until written", .copies = dropped},
          {.name = "without contention", .parts = {.contention = false}},
          {.name = "without latency", .parts = {.latency = false}},
          {.name = "without scheduling", .parts = {.scheduling = false}}};
}

struct tile_means {
  double seconds = 0, stall = 0;
};

/// The means of each policy.
std::vector<tile_means> tile_runs(const sim::program& p, machine_model m, const tile_variant& v,
                                  const std::vector<std::string>& policies, int seeds) {
  m.line.copies = v.copies;
  std::vector<sim::run_options> runs;
  for (const std::string& policy : policies) {
    for (int seed = 1; seed <= seeds; ++seed) {
      sim::run_options s;
      s.policy = policy;
      s.workers = tiles;
      s.seed = static_cast<std::uint64_t>(seed);
      s.fidelity = sim::fidelity::line;
      s.distribution = sim::distribution::regions;  // the paper's `round`: every vector and block is an allocation
      s.parts = v.parts;
      runs.push_back(std::move(s));
    }
  }
  const std::vector<sim::result> results = simulate_all(p, m, runs);
  std::vector<tile_means> found(policies.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    tile_means& to = found[i / static_cast<std::size_t>(seeds)];
    to.seconds += results[i].seconds / seeds;
    for (const sim::worker_times& w : results[i].times) to.stall += static_cast<double>(w.stall) * 1e-12 / seeds;
  }
  return found;
}

void add_tile_rows(reproduced& out, const tile_variant& v, const std::string& program, double time, double stall) {
  const std::string cores = std::to_string(tiles), series = "home-cache" + (v.name.empty() ? "" : ", " + v.name);
  const std::optional<double> said = !v.name.empty()         ? std::nullopt
                                     : program == "mean"     ? std::optional(44.29)
                                     : program == tiles_real ? std::optional(45.77)
                                                             : std::nullopt;
  if (v.name.empty()) {
    out.rows.push_back({"central", "time", cores, {}, {}, 1, program});
    out.rows.push_back({"central", "less_time_percent", cores, {}, {}, 0, program});
  }
  const auto ratio = said ? std::optional(1 - *said / 100) : std::nullopt;
  out.rows.push_back({series, "time", cores, ratio, {}, time, program});
  out.rows.push_back({series, "less_time_percent", cores, said, {}, 100 * (1 - time), program});
  if (program != "mean")
    out.rows.push_back({series, "stall", cores, {}, v.name.empty() ? "fewer" : "", stall, program});
}

}  // namespace

reproduced mir_tiles(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = tiles_machine_name;
  const machine_model m = model_by_name(tiles_machine_name);
  const std::vector<tile_variant> variants = tile_variants();
  std::vector<std::vector<double>> times(variants.size());  // of the synthetic programs
  double done = 0;
  for (const std::string& name : about.parts) {
    const bool real = name == tiles_real;
    tell(name, done++ / static_cast<double>(about.parts.size()));
    const sim::program whole = record_traced(tile_words(name, false), m);
    tile_means base;  // the central queue, in the model as it is
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const tile_variant& v = variants[i];
      if (v.of != tile_variant::both && real != (v.of == tile_variant::real)) continue;  // its runs take minutes
      std::vector<std::string> policies = {v.policy};
      if (v.changes_model) policies.emplace_back("fifo");
      const auto found = v.other ? tile_runs(record_traced(tile_words(name, true), m), m, v, policies, seeds)
                                 : tile_runs(whole, m, v, policies, seeds);
      const tile_means central = v.changes_model ? found.back() : base;
      if (i == 0) base = central;
      const double time = found.front().seconds / central.seconds;
      add_tile_rows(out, v, name, time, central.stall == 0 ? 1 : found.front().stall / central.stall);
      if (!real) times[i].push_back(time);
    }
  }
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (times[i].size() == 3) add_tile_rows(out, variants[i], "mean", geometric_mean(times[i]), 0);
  }
  out.notes = {
      "time, stall: over those of the central queue (fifo); stall: of the time that tasks wait for data longer than "
      "their own home cache would let them; the mean is geometric, over the three synthetic programs",
      "fidelity line, 63 tiles; each vector and block has one home, in turn (the paper's round)",
      "chosen, as the paper prints none: 2 passes over 63 vectors, 2 sums of 64 blocks, 2 products of 63 pairs (126 of "
      "the paper's 128 vectors, so that a pair has one home), in place; tasks go 10 times over their data, as in MIR's "
      "published programs; a fifth of sparse_lu's blocks are not zero at first, and its tasks declare the block that "
      "they change",
      "home-cache without stealing, as in MIR's published sources; 'vicinities of 2x2' has it"};
  return out;
}

}  // namespace kith::tools
