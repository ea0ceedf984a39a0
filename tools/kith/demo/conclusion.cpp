#include "demo/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::tools {

namespace {

using chosen = std::vector<const policy_runs*>;

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  }
  return text;
}

std::string names(const chosen& all) {
  std::vector<std::string> items;
  for (const policy_runs* p : all) items.push_back(p->policy);
  return listed(items);
}

/// Sorted by the figure's median, least first.
chosen in_order(const trial& t, spread policy_runs::* figure) {
  chosen all;
  for (const policy_runs& p : t.policies) all.push_back(&p);
  // Equal ones keep the order of the trial.
  std::ranges::sort(all, {}, [figure](const policy_runs* p) { return std::pair((p->*figure).median(), p); });
  return all;
}

/// The first of `all` that is clearly below `p`, or all.end().
chosen::const_iterator clearly_below(const chosen& all, const policy_runs& p, spread policy_runs::* figure) {
  return std::ranges::find_if(all, [&](const policy_runs* q) { return (q->*figure).clearly_below(p.*figure); });
}

/// Takes those that none is clearly below, so that no two of them can be told apart; the others remain in `all`. The
/// first may be too scattered to be told apart from one that is clearly above the second.
chosen take_best(chosen& all, spread policy_runs::* figure) {
  const auto beaten = [&](const policy_runs* p) { return clearly_below(all, *p, figure) != all.end(); };
  chosen taken, left;
  for (const policy_runs* p : all) (beaten(p) ? left : taken).push_back(p);
  all = left;
  return taken;
}

double percent_above(double more, double less) { return less > 0 ? 100 * (more - less) / less : 0; }

}  // namespace

std::string time_lesson(const trial& t) {
  chosen others = in_order(t, &policy_runs::seconds);
  const chosen best = take_best(others, &policy_runs::seconds);
  double within = 0;
  for (const policy_runs& p : t.policies) within = std::max(within, percent_above(p.seconds.most(), p.seconds.least()));

  const double first = best.front()->seconds.median();
  std::string text = t.program + ": ";
  if (best.size() == 1) {
    text += best.front()->policy + " is fastest";
  } else {
    text += fmt::format(
        "{} cannot be told apart by time: their medians differ by {:.0f} %, runs of one policy by up to {:.0f} %",
        names(best), percent_above(best.back()->seconds.median(), first), within);
  }
  std::vector<std::string> slower;
  for (const policy_runs* p : others) {
    const policy_runs& faster = **clearly_below(best, *p, &policy_runs::seconds);
    slower.push_back(fmt::format("{} takes {:.0f} % longer{}", p->policy,
                                 percent_above(p->seconds.median(), faster.seconds.median()),
                                 best.size() == 1 ? "" : " than " + faster.policy));
  }
  if (!slower.empty()) {
    text += fmt::format("; {} (medians; {} apart in all {} rounds)", listed(slower),
                        best.size() == 1 && slower.size() == 1 ? "it stayed" : "they stayed",
                        best.front()->seconds.runs.size());
  }
  // On an undisturbed machine, runs differ by a few percent.
  if (within > 50) text += "; this machine was busy with something else, so another try may tell more";
  return text + ".";
}

std::string locality_lesson(const trial& t) {
  chosen others = in_order(t, &policy_runs::remote_percent);
  const chosen best = take_best(others, &policy_runs::remote_percent);
  std::string text = fmt::format("{} on {} nodes: ", t.program, t.on->nodes.size());
  if (others.empty()) {
    return text +
           fmt::format(
               "{} cannot be told apart by remote accesses: medians from {:.0f} % to {:.0f} %, single runs from {:.0f} "
               "% "
               "to {:.0f} %.",
               names(best), best.front()->remote_percent.median(), best.back()->remote_percent.median(),
               std::ranges::min(best, {}, [](auto* p) { return p->remote_percent.least(); })->remote_percent.least(),
               std::ranges::max(best, {}, [](auto* p) { return p->remote_percent.most(); })->remote_percent.most());
  }
  std::vector<std::string> worse;
  for (const policy_runs* p : others)
    worse.push_back(fmt::format("{:.0f} % under {}", p->remote_percent.median(), p->policy));
  text += fmt::format("{} {} fewest remote accesses, {:.0f} %{}, against {}", names(best),
                      best.size() == 1 ? "makes" : "make", best.front()->remote_percent.median(),
                      best.size() == 1 ? "" : " or so", listed(worse));
  return text + ".";
}

std::string balance_lesson(const trial& t) {
  // A policy that leaves all work on one node also has few remote accesses, so the balance belongs to the figure.
  const chosen all = in_order(t, &policy_runs::balance_percent);
  const policy_runs* best = all.back();
  const bool clear = std::ranges::all_of(
      all, [&](const policy_runs* p) { return p == best || p->balance_percent.clearly_below(best->balance_percent); });
  std::string text = fmt::format("{} on {} nodes: ", t.program, t.on->nodes.size());
  if (clear) {
    text += fmt::format("{} deals the tasks most evenly to the nodes, {:.0f} %, against", best->policy,
                        best->balance_percent.median());
  } else {
    text += "no policy deals the tasks clearly more evenly to the nodes than all others:";
  }
  for (std::size_t i = all.size() - (clear ? 1 : 0); i-- > 0;) {
    text += fmt::format(" {:.0f} % under {}{}", all[i]->balance_percent.median(), all[i]->policy, i == 0 ? "" : ",");
  }
  return text + ".";
}

}  // namespace kith::tools
