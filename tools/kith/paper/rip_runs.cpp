#include "paper/rip_runs.hpp"

#include "apps/list.hpp"
#include "paper/dry.hpp"
#include "paper/reproduction.hpp"
#include "sim/runs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

std::string rip_dep(const apps::window_hint& w) { return fmt::format("rip-dep:first={},window={}", w.first, w.window); }
std::string rip_mw(const apps::window_hint& w) {
  return fmt::format("rip-mw:first={},window={},intersection={}", w.initial ? w.window : w.first, w.window,
                     w.intersection);
}

/// A policy without hints is added by its name here.
constexpr const char* series[] = {"dfifo", "socket", "dep", "rip-dep", "rip-mw", "auto"};

std::string policy_of(std::string_view name, const apps::window_hint& w) {
  if (name == "rip-dep") return rip_dep(w);
  if (name == "rip-mw") return rip_mw(w);
  return std::string(name);
}

bool has_node_queues(std::string_view policy) {
  return policy.starts_with("socket") || policy.starts_with("dep") || policy.starts_with("rip");
}

/// The program's arguments for its size. The paper prints no sizes: the number of blocks for each core was
/// chosen on the bullion with 4 sockets, and matters most (docs/papers/rip.md).
std::vector<std::string> size_of(const std::string& program, int nodes, int cores) {
  const bool large = cores > 32;  // section 6.2.3: "the input set of some applications is increased"
  const auto text = [](std::int64_t n) { return std::to_string(n); };
  const std::int64_t all = cores, edge = nodes == 3 ? 15
                                         : large    ? 48
                                                    : 16;  // tiles in a row; a multiple
                                                        // of the nodes
  if (program == "cg_tasks") {
    const std::int64_t cube = large ? 256 : 128, blocks = all * (large ? 2 : 8);
    return {"--size",       text(cube),         "--block", text(cube * cube * cube / blocks + 1),
            "--iterations", large ? "15" : "30"};
  }
  if (program == "gauss_seidel" || program == "red_black") {
    const std::int64_t tile = large ? 1024 : 512;
    const char* const iterations = program == "red_black" ? "30" : "60";
    return {"--size", text(edge * tile), "--block", text(tile), "--iterations", iterations};
  }
  if (program == "integral_histogram") {  // two images in the ring, so that the first window has all of its data
    return {"--size", text((large ? 64 : edge) * 128), "--images", large ? "10" : "20", "--ring", "2"};
  }
  if (program == "jacobi") {
    return {"--rows", text(all * (large ? 2 : 4) * 256), "--block", "256", "--iterations", "30"};
  }
  if (program == "nstream") return {"--sets", text(all * (large ? 1 : 2)), "--iterations", "15"};
  if (large) return {"--size", "12288"};  // qr, inversion
  return {};
}

double crossed(const sim::result& r, std::string_view way) {
  double bytes = 0;
  for (const auto& l : r.links) {
    if (l.from == way || l.to == way) bytes += static_cast<double>(l.data + l.control);
  }
  return bytes;
}

}  // namespace

std::span<const char* const> rip_series() { return series; }

rip_program rip_program_on(const std::string& name, const machine_model& m, const std::vector<std::string>& changed) {
  const apps::entry& e = apps::find_app(name);
  const int nodes = static_cast<int>(m.hardware.nodes.size()), cores = static_cast<int>(m.hardware.cores.size());
  std::vector<std::string> size = size_of(name, nodes, cores);
  for (std::size_t i = 0; i + 1 < changed.size(); i += 2) {
    const auto at = std::ranges::find(size, changed[i]);
    if (at != size.end()) size.erase(at, at + 2);
    size.insert(size.end(), {changed[i], changed[i + 1]});
  }
  const apps::window_hint windows = e.windows(
      apps::arguments(e.name, e.parameters, apps::read_arguments(e.name, e.parameters, size), apps::preset::paper));
  std::vector<std::string> words{name, "--paper", "--one-graph"};
  words.insert(words.end(), size.begin(), size.end());
  // One worker is enough, because what it creates does not depend on which worker runs it.
  rip_program p{record_dry(words, fmt::format("node:{} core:{}", nodes, cores / nodes), 1, "fifo"), {}};
  for (const char* s : series) p.policies.push_back(policy_of(s, windows));
  return p;
}

bool has_all_programs(const reproduction& about) {
  const auto whole = std::ranges::find(reproductions(), std::string_view(about.id), &reproduction::id);
  return whole != reproductions().end() && whole->parts.size() == about.parts.size();
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::vector<rip_means> rip_means_of(const rip_program& p, const machine_model& m, std::string_view way,
                                    const rip_variant& how, int seeds, const std::function<void(double)>& tell) {
  std::vector<sim::run_options> runs;
  for (const std::string& policy : p.policies) {
    for (int s = 0; s < seeds; ++s) {
      sim::run_options one;
      one.policy = policy;
      if (has_node_queues(policy))
        one.policy += (policy.find(':') == std::string::npos ? ":" : ",") + std::string(how.queues);
      one.seed = static_cast<std::uint64_t>(s) + 1;
      one.chunk_bytes = std::uint64_t{1} << (m.hardware.cores.size() > 32 ? 20 : 18);
      one.parts = how.parts;
      runs.push_back(one);
    }
  }
  const std::vector<sim::result> results = simulate_all(p.recorded, m, runs, [&](std::size_t done, std::size_t all) {
    tell(static_cast<double>(done) / static_cast<double>(all));
  });
  std::vector<rip_means> all(p.policies.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    rip_means& v = all[i / static_cast<std::size_t>(seeds)];
    const sim::result& r = results[i];
    v.seconds += r.seconds / seeds;
    v.traffic += crossed(r, way) / seeds;
    v.balance += r.load_balance_percent / seeds;
    v.overhead += r.overhead_percent() / seeds;
    v.partition += r.partition_percent() / seeds;
    v.migrated += static_cast<double>(r.migrated_bytes) / seeds;
  }
  return all;
}

}  // namespace kith::tools
