// kith paper: results of the papers beside those of the simulator.
#include "verbs.hpp"

#include "base/nearest.hpp"
#include "machine/model.hpp"
#include "paper/plot.hpp"
#include "progress.hpp"
#include "svg.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <memory>

namespace kith::tools {

namespace {

struct paper_options {
  std::string id, plot, metric;
  std::vector<std::string> only;
  int seeds = 0;  // 0: as many as the reproduction has
  bool json = false;
};

const reproduction& find(const std::string& id) {
  for (const reproduction& r : reproductions()) {
    if (id == r.id) return r;
  }
  throw error(no_such("reproduction", id, paper_names()));
}

/// The same reproduction with only some of its parts, in its order.
reproduction of_parts(reproduction r, const std::vector<std::string>& only) {
  if (only.empty()) return r;
  for (const std::string& name : only) {
    if (std::ranges::find(r.parts, name) != r.parts.end()) continue;
    throw error(std::string(r.id) + " has no part '" + name +
                "'; expected some of: " + (r.parts.empty() ? "(none)" : fmt::format("{}", fmt::join(r.parts, ", "))));
  }
  std::erase_if(r.parts, [&](const std::string& p) { return std::ranges::find(only, p) == only.end(); });
  return r;
}

/// A JSON number if the text is one: {"x": 80}.
nlohmann::json number_or_text(const std::string& text) {
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc() && end == text.data() + text.size()) return value;
  return text;
}

nlohmann::json to_json(const reproduced& r) {
  nlohmann::json rows = nlohmann::json::array();
  for (const paper_row& row : r.rows) {
    nlohmann::json j{{"series", row.series},
                     {"metric", row.metric},
                     {"x", number_or_text(row.x)},
                     {"paper", row.paper ? nlohmann::json(*row.paper) : nlohmann::json()},
                     {"kith", row.kith}};
    if (!row.program.empty()) j["program"] = row.program;
    if (!row.paper_says.empty()) j["paper_says"] = row.paper_says;
    rows.push_back(std::move(j));
  }
  return rows;
}

void print(const reproduction& about, const reproduced& r) {
  fmt::print("{}  {} ({} paper)\n\n", styled(about.id, tone::strong), about.what, about.paper);
  table t("series", {"metric", "x", "kith", "paper"});
  t.left(0);
  for (const paper_row& row : r.rows) {
    t.row(row.program.empty() ? row.series : row.program + ", " + row.series,
          {row.metric, row.x, fmt::format("{:.4g}", row.kith), row.paper ? fmt::format("{:g}", *row.paper) : "-"},
          row.paper_says);
  }
  fmt::print("{}", t.text());
  fmt::print("\n");
  for (const std::string& n : r.notes) fmt::print("* {}\n", folded(n, 2));
  for (const auto& [key, text] : model_by_name(r.machine).sources) {
    if (text.starts_with("fitted")) fmt::print("* {}\n", folded(fmt::format("{}: {} {}", r.machine, key, text), 2));
  }
}

outcome run_paper(const paper_options& o) {
  if (o.id.empty()) {
    nlohmann::json all = nlohmann::json::array();
    for (const reproduction& r : reproductions()) {
      if (o.json) {
        all.push_back({{"id", r.id}, {"paper", r.paper}, {"what", r.what}});
      } else {
        fmt::print("{:<24} {:<8} {}\n", r.id, r.paper, r.what);
      }
    }
    if (o.json) fmt::print("{}\n", all.dump(2));
    return outcome::fine;
  }
  const reproduction about = of_parts(find(o.id), o.only);
  reproduced r;
  {
    progress bar;
    r = about.make(about, o.seeds == 0 ? about.seeds : o.seeds,
                   [&](const std::string& what, double share) { bar.share(what, share); });
  }
  if (!o.plot.empty()) write_picture(draw_paper(about, r, o.metric), o.plot);
  if (o.json) {
    fmt::print("{}\n", to_json(r).dump(2));
  } else {
    print(about, r);
  }
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_paper(CLI::App& command) {
  auto o = std::make_shared<paper_options>();
  command.add_option("id", o->id, "which result; without it, the list")->type_name("RESULT");
  command.add_option("--seeds", o->seeds, "runs of each point (5; for RIP 24 or 8, HW 3, ADS and mir-tilepro 1)")
      ->check(whole_number(1, 1000));
  one_value_each_time(command.add_option("--only", o->only, "these programs alone, of those that have several"))
      ->delimiter(',')
      ->type_name("A,B");
  command.add_option("--plot", o->plot, "write a picture of one metric, with the paper's own values")
      ->type_name("FILE.svg|png");
  command.add_option("--metric", o->metric, "which one (the speed-up, or the first)");
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "The programs run on the paper's machine, as it is modelled; values that were fitted to results are named below "
      "each table. They are recorded dry at the paper's sizes, or for ADS constructed. For HW and mir-tilepro they are "
      "recorded with the addresses that they touch, for HW at sizes that Kith chose. docs/papers/ keeps the tables, "
      "with what is not met and why.\n"
      "JSON: rows {\"series\", \"metric\", \"x\", \"paper\" (null: not printed), \"kith\", \"paper_says\" (a "
      "statement), \"program\" (if there are several for one x)}\n"
      "Exit code: 0, or 2 for a wrong command line or if a program cannot be recorded.");
  return [o] { return run_paper(*o); };
}

}  // namespace kith::tools
