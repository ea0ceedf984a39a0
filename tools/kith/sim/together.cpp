#include "sim/together.hpp"

#include "base/printable.hpp"
#include "sim/runs.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace kith::tools {

multiprogram_figures multiprogram_figures_of(const sim::result& together, const std::vector<sim::picoseconds>& alone) {
  constexpr double picosecond = 1e-12;
  multiprogram_figures all;
  double sum = 0, least = 0, most = 0;
  for (std::size_t k = 0; k < alone.size(); ++k) {
    const sim::program_times& t = together.programs[k];
    program_slowdown& p = all.programs.emplace_back();
    p.start_seconds = static_cast<double>(t.started) * picosecond;
    p.seconds = static_cast<double>(t.took()) * picosecond;
    p.alone_seconds = static_cast<double>(alone[k]) * picosecond;
    if (alone[k] != 0 && t.took() != 0) p.slowdown = p.seconds / p.alone_seconds;
    sum += p.slowdown;
    all.stp += 1 / p.slowdown;
    least = k == 0 ? p.slowdown : std::min(least, p.slowdown);
    most = std::max(most, p.slowdown);
  }
  all.antt = sum / static_cast<double>(alone.size());
  all.fairness = least / most;
  return all;
}

nlohmann::json multiprogram_row(const multiprogram_figures& f, const std::vector<std::string>& files,
                                const std::vector<std::size_t>& tasks) {
  nlohmann::json programs = nlohmann::json::array();
  for (std::size_t k = 0; k < f.programs.size(); ++k) {
    const program_slowdown& p = f.programs[k];
    programs.push_back({{"file", files[k]},
                        {"tasks", tasks[k]},
                        {"start_s", p.start_seconds},
                        {"time_s", p.seconds},
                        {"alone_s", p.alone_seconds},
                        {"slowdown", p.slowdown}});
  }
  return {{"programs", std::move(programs)}, {"antt", f.antt}, {"stp", f.stp}, {"fairness", f.fairness}};
}

void print_multiprogram(const std::vector<std::string>& policies, const std::vector<std::string>& files,
                        const std::vector<multiprogram_figures>& all, std::size_t seeds) {
  using figures = multiprogram_figures;
  table t("policy", {"program\n", "time\n[s]", "alone\n[s]", "slow-\ndown", "ANTT\n", "STP\n", "fairness\n"});
  t.left(0);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const auto mean = [&](const std::function<double(const figures&)>& value) {
      std::vector<double> values;
      for (std::size_t s = 0; s < seeds; ++s) values.push_back(value(all[p * seeds + s]));
      return sample_of(values).mean;
    };
    for (std::size_t k = 0; k < files.size(); ++k) {
      std::vector<std::string> cells = {
          printable(files[k]), fmt::format("{:.4g}", mean([&](const figures& f) { return f.programs[k].seconds; })),
          fmt::format("{:.4g}", mean([&](const figures& f) { return f.programs[k].alone_seconds; })),
          fmt::format("{:.2f}", mean([&](const figures& f) { return f.programs[k].slowdown; }))};
      if (k == 0) {
        for (double figures::* figure : {&figures::antt, &figures::stp, &figures::fairness})
          cells.push_back(fmt::format("{:.2f}", mean([&](const figures& f) { return f.*figure; })));
      }
      t.row(k == 0 ? policies[p] : "", std::move(cells));
    }
  }
  fmt::print("\n{}", t.text());
}

}  // namespace kith::tools
