#include "app/report.hpp"

#include "base/printable.hpp"
#include "json_text.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace kith::tools {

namespace {

using json = nlohmann::ordered_json;

json to_json_value(std::int64_t n) { return n; }
json to_json_value(double x) { return x; }
json to_json_value(const std::string& text) { return text; }
json to_json_value(const apps::ranking& best) {
  json all = json::array();
  for (const auto& [name, value] : best) all.push_back({{"name", name}, {"value", value}});
  return all;
}

std::string to_text_value(std::int64_t n) { return std::to_string(n); }
std::string to_text_value(double x) { return fmt::format("{:.6g}", x); }
std::string to_text_value(const std::string& text) { return printable(text); }
std::string to_text_value(const apps::ranking& best) {
  std::string lines;
  int place = 0;
  for (const auto& [name, value] : best)
    lines += fmt::format("\n    {:>3}. {:<40} {:.6f}", ++place, printable(name), value);
  return lines;
}

json seconds_or_null(double seconds) { return seconds < 0 ? json() : json(seconds); }

std::string row(const char* name, const std::string& value) { return fmt::format("  {:<16} {}\n", name, value); }

}  // namespace

std::string to_json(const app_report& r) {
  const statistics& s = r.result.statistics;
  json all = {{"app", r.app},
              {"policy", r.policy},
              {"machine", r.machine},
              {"pretended", s.pretended},
              {"workers", r.workers},
              {"verified", r.result.check.verified},
              {"what_was_checked", r.result.check.what},
              {"seconds", r.result.seconds},
              {"memory_bytes", r.memory_bytes},
              {"tasks", s.total.tasks},
              {"steals", s.total.steals},
              {"steal_attempts", s.total.steal_attempts},
              {"colored_steals", s.total.colored_steals},
              {"colored_attempts", s.total.colored_attempts},
              {"remote_access_percent", s.remote_access_percent},
              {"homes_asked", s.homes_asked},
              {"homes_elsewhere", s.homes_elsewhere},
              {"busy_seconds", s.total.busy_seconds},
              {"idle_seconds", s.total.idle_seconds},
              {"first_steal_s", seconds_or_null(s.total.first_steal_seconds)},
              {"load_balance_percent", s.load_balance_percent},
              {"windows", s.windows},
              {"partitioned_tasks", s.partitioned_tasks},
              {"partition_seconds", s.partition_seconds},
              {"parks", s.total.parks},
              {"throttled", s.throttled}};
  for (const worker_statistics& w : s.workers) {
    all["per_worker"].push_back({{"tasks", w.tasks},
                                 {"steals", w.steals},
                                 {"steal_attempts", w.steal_attempts},
                                 {"colored_steals", w.colored_steals},
                                 {"colored_attempts", w.colored_attempts},
                                 {"first_steal_s", seconds_or_null(w.first_steal_seconds)},
                                 {"busy_seconds", w.busy_seconds},
                                 {"idle_seconds", w.idle_seconds}});
  }
  for (const apps::figure& f : r.result.figures) {
    all["figures"][f.name] = std::visit([](const auto& v) { return to_json_value(v); }, f.value);
  }
  return json_text(all, 1) + "\n";
}

std::string to_text(const app_report& r) {
  const statistics& s = r.result.statistics;
  const char* pretended = s.pretended ? "  (pretended)" : "";
  const apps::verdict& check = r.result.check;
  std::string text = fmt::format("{} under {}, {} workers on {}{}\n", styled(r.app, tone::strong), r.policy, r.workers,
                                 printable(r.machine), pretended);
  text += row("result", styled(check.verified ? "verified" : "WRONG", check.verified ? tone::good : tone::bad) + ": " +
                            folded(check.what, 19));
  text +=
      row("seconds",
          fmt::format("{:.4f}{}", r.result.seconds,
                      s.pretended ? "  (of this machine, which has fewer cores: says nothing about that one)" : ""));
  text += row("tasks", std::to_string(s.total.tasks));
  text += row("steals", fmt::format("{} in {} attempts{}", s.total.steals, s.total.steal_attempts, pretended));
  if (s.total.colored_attempts != 0) {
    text += row("colored steals",
                fmt::format("{} in {} attempts{}", s.total.colored_steals, s.total.colored_attempts, pretended));
  }
  if (s.total.first_steal_seconds >= 0)
    text += row("first steal", fmt::format("after {:.6f} s in the mean", s.total.first_steal_seconds));
  text += row("remote accesses", fmt::format("{:.1f} %{}", s.remote_access_percent, pretended));
  if (s.homes_elsewhere != 0)
    text += row("homes",
                fmt::format("{} of {} that were asked for were on another node", s.homes_elsewhere, s.homes_asked));
  text += row("load balance", fmt::format("{:.1f} %{}", s.load_balance_percent, pretended));
  if (s.windows != 0) {
    text += row("partitioning", fmt::format("{:.6f} s for {} windows; {} tasks placed by it", s.partition_seconds,
                                            s.windows, s.partitioned_tasks));
  }
  text += row("idle", fmt::format("{:.4f} s of all workers together", s.total.idle_seconds));
  for (const apps::figure& f : r.result.figures) {
    std::string name = f.name;
    for (char& c : name) c = c == '_' ? ' ' : c;
    text += row(name.c_str(), std::visit([](const auto& v) { return to_text_value(v); }, f.value));
  }
  return text;
}

}  // namespace kith::tools
