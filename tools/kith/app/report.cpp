#include "app/report.hpp"

#include "base/printable.hpp"
#include "json_text.hpp"
#include "numbers.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

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

/// Sums over all places.
struct place_sums {
  std::uint64_t messages = 0, bytes = 0, spawns = 0, taken = 0, refused = 0, peak = 0;
  std::uint64_t largest_spawn = 0, most_edges = 0;
  double mean = 0;  // over the arrivals at all places
  struct of_kind {
    const char* name;
    std::uint64_t place_statistics::* messages;
    std::uint64_t place_statistics::* bytes;
  };
  static constexpr of_kind kinds[] = {
      {"spawn", &place_statistics::spawns_sent, &place_statistics::spawn_bytes},
      {"answer", &place_statistics::answers_sent, &place_statistics::answer_bytes},
      {"result", &place_statistics::results_sent, &place_statistics::result_bytes},
      {"done", &place_statistics::dones_sent, &place_statistics::done_bytes},
      {"credit", &place_statistics::credits_sent, &place_statistics::credit_bytes},
  };

  explicit place_sums(const std::vector<place_statistics>& all) {
    for (const place_statistics& p : all) {
      messages += p.messages;
      bytes += p.message_bytes;
      spawns += p.spawns_sent;
      taken += p.spawns_accepted;
      refused += p.spawns_refused;
      peak = std::max(peak, p.fab_peak);
      largest_spawn = std::max(largest_spawn, p.largest_spawn);
      most_edges = std::max(most_edges, p.most_edges);
      mean += p.fab_mean * static_cast<double>(p.spawns_accepted);
    }
    if (taken != 0) mean /= static_cast<double>(taken);
  }
  /// c of the ADS paper's Theorem 4.6: all bytes are c I (S_max + n_d). REQUIRES: activities were sent.
  double bytes_factor() const {
    return static_cast<double>(bytes) / (static_cast<double>(taken) * static_cast<double>(largest_spawn + most_edges));
  }
};

json by_kind(const std::vector<place_statistics>& all) {
  json kinds;
  for (const place_sums::of_kind& k : place_sums::kinds) {
    std::uint64_t messages = 0, bytes = 0;
    for (const place_statistics& p : all) {
      messages += p.*k.messages;
      bytes += p.*k.bytes;
    }
    kinds[k.name] = {{"messages", messages}, {"bytes", bytes}};
  }
  return kinds;
}

json mean_or_null(const place_statistics& p) { return p.spawns_accepted == 0 ? json() : json(p.fab_mean); }

/// The figures of workers that the paper counts. Most of them only `ads` counts, and programs that run without Kith
/// count none. Figures are null where they do not apply.
class of_workers {
 public:
  of_workers(bool ads, bool buffers, bool counted) : ads_(ads), buffers_(ads && buffers), counted_(counted) {}

  void add(json& all, const worker_statistics& w) const {
    const auto count = [](bool applies, const auto& value) { return applies ? json(value) : json(); };
    all.update({{"fab_attempts", count(buffers_, w.arrival_attempts)},
                {"fab_seconds", count(buffers_, w.arrival_seconds)},
                {"steal_seconds", count(ads_, w.steal_seconds)},
                {"stalled", count(counted_, w.stalled)},
                {"deque_mean", count(ads_ && w.deque_samples != 0, w.deque_mean)},
                {"deque_peak", count(ads_, w.deque_peak)}});
  }

 private:
  bool ads_, buffers_, counted_;
};

/// The figures are null where they do not apply.
void add_places(json& all, const places_report& r, const std::string& policy, const worker_statistics& total) {
  const place_sums sums(r.per_place);
  const bool buffers = r.as == "ads";
  const bool counted = !r.per_place.empty();
  const auto of_buffers = [buffers](const json& value) { return buffers ? value : json(); };
  const auto if_counted = [counted](const json& value) { return counted ? value : json(); };
  all.update({{"places", r.places},
              {"as", r.as},
              {"transport", r.transport},
              {"messages", if_counted(sums.messages)},
              {"message_bytes", if_counted(sums.bytes)},
              {"by_kind", if_counted(by_kind(r.per_place))},
              {"largest_spawn", sums.taken == 0 ? json() : json(sums.largest_spawn)},
              {"most_edges", sums.taken == 0 ? json() : json(sums.most_edges)},
              {"bytes_factor", sums.taken == 0 ? json() : json(sums.bytes_factor())},
              {"spawns", if_counted(sums.spawns)},
              {"fab_taken", of_buffers(sums.taken)},
              {"fab_refused", of_buffers(sums.refused)},
              {"fab_mean", of_buffers(sums.taken == 0 ? json() : json(sums.mean))},
              {"fab_peak", of_buffers(sums.peak)},
              {"graph_depth", r.depth == 0 ? json() : json(r.depth)}});
  const of_workers workers(policy.starts_with("ads"), buffers, counted);
  workers.add(all, total);
  all["per_place"] = if_counted(json::array());
  for (const place_statistics& p : r.per_place) {
    all["per_place"].push_back({{"activities", p.activities},
                                {"messages", p.messages},
                                {"message_bytes", p.message_bytes},
                                {"spawns", p.spawns_sent},
                                {"fab_taken", of_buffers(p.spawns_accepted)},
                                {"fab_refused", of_buffers(p.spawns_refused)},
                                {"fab_forced", of_buffers(p.spawns_forced)},
                                {"fab_waited", of_buffers(p.spawns_waited)},
                                {"fab_mean", of_buffers(mean_or_null(p))},
                                {"fab_peak", of_buffers(p.fab_peak)},
                                {"dones", p.dones_sent},
                                {"results", p.results_sent},
                                {"tasks", p.tasks.total.tasks},
                                {"steals", p.tasks.total.steals},
                                {"steal_attempts", p.tasks.total.steal_attempts},
                                {"busy_seconds", p.tasks.total.busy_seconds}});
    workers.add(all["per_place"].back(), p.tasks.total);
  }
}

std::string row(const char* name, const std::string& value) { return fmt::format("  {:<16} {}\n", name, value); }

}  // namespace

void tell_workers(int workers, int asked, const char* where) {
  if (asked <= workers) return;
  fmt::print(stderr,
             "kith app: {} of {} workers{}: this process may use no more cores (`kith doctor` says why); "
             "--oversubscribe starts all\n",
             workers, asked, where);
}

std::string to_json(const app_report& r) {
  const statistics& s = r.result.statistics;
  json all = {{"app", r.app},
              {"policy", r.policy},
              {"machine", r.machine},
              {"pretended", s.pretended},
              {"workers", r.workers},
              {"verified", r.result.check.checked ? nlohmann::ordered_json(r.result.check.verified) : nullptr},
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
  all["per_worker"] = s.workers.empty() ? json() : json::array();
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
  if (r.on_places) add_places(all, *r.on_places, r.policy, s.total);
  return json_text(all, 1) + "\n";
}

std::string to_text(const app_report& r) {
  const statistics& s = r.result.statistics;
  const char* pretended = s.pretended ? "  (pretended)" : "";
  const apps::verdict& check = r.result.check;
  std::string text =
      fmt::format("{} under {}, {} on {}{}\n", styled(r.app, tone::strong), r.policy,
                  counted(static_cast<std::size_t>(r.workers), "worker"), printable(r.machine), pretended);
  if (r.on_places) {
    const place_sums sums(r.on_places->per_place);
    text += row("places", fmt::format("{} ({}, {})", r.on_places->places, r.on_places->as, r.on_places->transport));
    if (!r.on_places->per_place.empty())
      text += row("messages", fmt::format("{} with {} bytes", sums.messages, sums.bytes));
    if (sums.taken != 0) {
      text += row("FAB", fmt::format("{} activities, {} refusals; {:.1f} in the mean, {} at most", sums.taken,
                                     sums.refused, sums.mean, sums.peak));
      text += row("Theorem 4.6", fmt::format("bytes are c I (Smax + nd): c {:.2f}, I {}, Smax {} bytes, nd {}",
                                             sums.bytes_factor(), sums.taken, sums.largest_spawn, sums.most_edges));
    }
  }
  const std::string found = !check.checked   ? styled("not verified", tone::faint)
                            : check.verified ? styled("verified", tone::good)
                                             : styled("WRONG", tone::bad);
  text += row("result", found + ": " + folded(check.what, 19));
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
