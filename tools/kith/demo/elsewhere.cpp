#include "demo/elsewhere.hpp"

#include "machine/model.hpp"
#include "paper/dry.hpp"
#include "picture/chart.hpp"
#include "sim/runs.hpp"
#include "svg.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace kith::tools {

namespace {

constexpr const char* machine_name = "xeon-8s";
constexpr const char* recorded_on = "node:8 core:28";
constexpr int seeds = 8;
const std::vector<std::string> policies = {"steal", "dep", "nabbitc:colors=data", "auto"};
/// 2 GiB for the plate and as much for the next step: more than the caches of all sockets.
const std::vector<std::string> program = {"heat",         "--size", "8192",    "--rows", "16384",
                                          "--iterations", "10",     "--block", "32"};

struct figures {
  std::string policy;
  sample milliseconds, gigabytes, balance;
};

std::vector<figures> simulate(const sim::program& recorded, const machine_model& m, progress& p) {
  std::vector<sim::run_options> runs;
  for (const std::string& policy : policies) {
    for (int s = 1; s <= seeds; ++s) {
      runs.emplace_back().policy = policy;
      runs.back().seed = static_cast<std::uint64_t>(s);
    }
  }
  const std::vector<sim::result> results = simulate_all(recorded, m, runs, [&](std::size_t done, std::size_t all) {
    p.share(fmt::format("run {} of {}", done, all), static_cast<double>(done) / static_cast<double>(all));
  });
  std::vector<figures> all;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    std::vector<double> times, bytes, balances;
    for (std::size_t s = 0; s < seeds; ++s) {
      const sim::result& r = results[i * seeds + s];
      times.push_back(r.seconds * 1e3);
      bytes.push_back(static_cast<double>(r.remote_bytes) * 1e-9);
      balances.push_back(r.load_balance_percent);
    }
    all.push_back({policies[i], sample_of(times), sample_of(bytes), sample_of(balances)});
  }
  return all;
}

void print_figures(const std::vector<figures>& all) {
  double most = 0;
  for (const figures& f : all) most = std::max(most, f.milliseconds.mean);
  const auto spread = [](const sample& s, const char* format) {
    return fmt::format(fmt::runtime(format), s.mean, s.least, s.most);
  };
  table t("policy", {"time, ms", "between nodes, GB", "balance, %"});
  for (const figures& f : all) {
    t.row(f.policy,
          {spread(f.milliseconds, "{:.1f} ({:.1f}..{:.1f})"), spread(f.gigabytes, "{:.2f} ({:.2f}..{:.2f})"),
           fmt::format("{:.0f}", f.balance.mean)},
          std::string(static_cast<std::size_t>(18 * f.milliseconds.mean / most), '#'));
  }
  fmt::print("{}", t.text(4));
}

std::string drawn(const std::vector<figures>& all, const machine_model& m, std::size_t tasks) {
  chart c{.title = "heat on " + m.title,
          .subtitle =
              fmt::format("{} tasks, recorded once and simulated under each policy; means of {} seeds", tasks, seeds),
          .parts = {{"time [ms]", {}}, {"moved between nodes [GB]", {}}},
          .one_scale = false};
  for (const figures& f : all) {
    const std::size_t color = f.policy == "auto" ? 1 : 0;
    c.parts[0].values.push_back({f.policy, f.milliseconds, {}, color});
    c.parts[1].values.push_back({f.policy, f.gigabytes, {}, color});
  }
  return draw_bars(c);
}

const figures& of(const std::vector<figures>& all, const char* policy) {
  return *std::ranges::find(all, policy, &figures::policy);
}

}  // namespace

std::string run_elsewhere(const std::string& picture, progress& p) {
  p.stage("heat on eight sockets, simulated");
  const machine_model m = model_by_name(machine_name);
  const sim::program recorded = record_dry(program, recorded_on, 1, "steal");
  const std::vector<figures> all = simulate(recorded, m, p);
  p.clear();
  fmt::print("{}\n", styled(fmt::format("On a machine you need not have: {}", m.title), tone::strong));
  fmt::print("  {}\n", folded(fmt::format("heat, {} tasks on {} cores, recorded dry and simulated; means of {} seeds "
                                          "(least..most). `kith record` and `kith sim` do it for your programs.",
                                          recorded.tasks(), m.hardware.cores.size(), seeds),
                              2));
  print_figures(all);
  if (!picture.empty()) {
    write_picture(drawn(all, m, recorded.tasks()), picture);
    fmt::print("    the picture: {}\n", picture);
  }
  fmt::print("\n");
  const figures &steal = of(all, "steal"), &automatic = of(all, "auto");
  if (automatic.milliseconds.most >= steal.milliseconds.least)
    return fmt::format("heat on {}: steal and auto cannot be told apart, single seeds differ by more.", m.title);
  return fmt::format(
      "heat on {}: where tasks run matters. auto is {:.1f} times as fast as steal, for every seed, and moves {:.2f} GB "
      "between nodes, not {:.1f} (simulated).",
      m.title, steal.milliseconds.mean / automatic.milliseconds.mean, automatic.gigabytes.mean, steal.gigabytes.mean);
}

}  // namespace kith::tools
