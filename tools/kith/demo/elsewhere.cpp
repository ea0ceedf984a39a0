#include "demo/elsewhere.hpp"

#include "recording/file.hpp"
#include "sim/plot.hpp"
#include "sim/runs.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>

namespace kith::tools {

namespace {

recording record_one_run(apps::app& program) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("kith-demo-" + std::to_string(::getpid()) + ".rec");
  runtime_options o;
  o.policy = "steal";
  o.record = file.string();
  {
    runtime rt(o);
    apps::run(program, {rt, 1});
    o.record = rt.recorded_in();
  }
  recording r = read_recording(o.record);
  std::error_code ignored;
  std::filesystem::remove(o.record, ignored);
  return r;
}

struct outcome_there {
  std::string policy;
  sample speedup, remote_gb, balance;
};

}  // namespace

std::string run_elsewhere(apps::app& program, const std::string& name, const std::string& machine,
                          const std::vector<std::string>& policies, const std::string& picture, progress& p) {
  constexpr int seeds = 8;
  p.stage(name + ", recorded here, on a modelled machine");
  const machine_model m = model_by_name(machine);
  const sim::program recorded = sim::program_of(record_one_run(program));
  std::vector<sim::settings> runs;
  for (const std::string& policy : policies) {
    for (int s = 1; s <= seeds; ++s) {
      runs.emplace_back().policy = policy;
      runs.back().seed = static_cast<std::uint64_t>(s);
    }
  }
  const std::vector<sim::result> results =
      simulate_beside_one_core(recorded, m, runs, [&](std::size_t done, std::size_t all) {
        p.share(fmt::format("run {} of {}", done, all), static_cast<double>(done) / static_cast<double>(all));
      });
  p.clear();

  std::vector<outcome_there> all;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    std::vector<double> speedups, bytes, balances;
    for (std::size_t s = 0; s < seeds; ++s) {
      const sim::result& r = results[i * seeds + s];
      speedups.push_back(r.speedup());
      bytes.push_back(static_cast<double>(r.remote_bytes) * 1e-9);
      balances.push_back(r.load_balance_percent());
    }
    all.push_back({policies[i], sample_of(speedups), sample_of(bytes), sample_of(balances)});
  }
  fmt::print("{}\n", styled(fmt::format("On a machine you need not have: {}", m.title), tone::strong));
  fmt::print(
      "  {}\n",
      folded(fmt::format("One run of {} was recorded here and is simulated there, {} tasks on {} cores, {} seeds; "
                         "means (least..most). `kith record` and `kith sim` do it for your programs.",
                         name, recorded.tasks(), m.hardware.cores.size(), seeds),
             2));
  double most = 0;
  for (const outcome_there& o : all) most = std::max(most, o.speedup.most);
  fmt::print("    {}\n",
             styled(fmt::format("{:<20}{:>22}{:>18}{:>14}", "policy", "speed-up", "between nodes, GB", "balance, %"),
                    tone::faint));
  bar_chart chart{name + " on " + m.title, "speed-up over one core of the same machine", {"speed-up"}, {}};
  for (const outcome_there& o : all) {
    fmt::print("    {:<20}{:>22}{:>18.2f}{:>14.0f}  {}\n", o.policy,
               fmt::format("{:.1f} ({:.1f}..{:.1f})", o.speedup.mean, o.speedup.least, o.speedup.most),
               o.remote_gb.mean, o.balance.mean,
               std::string(static_cast<std::size_t>(24 * o.speedup.mean / most), '#'));
    chart.groups.push_back({o.policy, {o.speedup}});
  }
  if (!picture.empty()) {
    write_svg(chart, picture);
    fmt::print("    the picture: {}\n", picture);
  }
  fmt::print("\n");
  std::ranges::sort(all, {}, [](const outcome_there& o) { return -o.speedup.mean; });
  const outcome_there &first = all.front(), &last = all.back();
  if (first.speedup.least <= last.speedup.most)
    return fmt::format("{} on {}: the policies cannot be told apart, single seeds differ by more.", name, m.title);
  return fmt::format(
      "{} on {}: {} is {:.1f} times as fast as {}, for every seed, and moves {:.2f} GB between nodes, not "
      "{:.2f} (simulated).",
      name, m.title, first.policy, first.speedup.mean / last.speedup.mean, last.policy, first.remote_gb.mean,
      last.remote_gb.mean);
}

}  // namespace kith::tools
