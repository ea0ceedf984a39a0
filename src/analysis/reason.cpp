#include "analysis/reason.hpp"

#include "policy/contract/explainer.hpp"
#include "replay/choose.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <optional>

namespace kith::analysis {

namespace {

/// The number of tasks created before `task` that windows count.
std::uint64_t created_before(const recording& r, std::int32_t task) {
  std::uint64_t count = 0;
  for (std::int32_t i = 0; i < task; ++i) {
    const recorded_task& o = r.task(i);
    const bool counts = !o.has(recorded_task::root) && !o.has(recorded_task::fence) && !o.has(recorded_task::outside) &&
                        !o.has(recorded_task::keyed) && !o.has(recorded_task::generated);
    count += counts ? 1 : 0;
  }
  return count;
}

placement_facts facts_of(const recording& r, const explanation& e, const data_costs& costs) {
  const recorded_task& t = r.task(e.task);
  placement_facts f;
  f.worker = t.worker;
  f.node_ran_on = e.node;
  if (!e.came) {  // else its creator is at another place, and no worker of this one
    f.creator_worker = e.creator_worker;
    f.creator_node = r.node_of(e.creator_worker);
  }
  f.color = t.color;
  f.color_node = r.node_of(t.color);
  f.named_node = t.node;
  f.may_be_claimed = t.has(recorded_task::listed);
  if (e.released_by >= 0) {
    f.released_by = "task " + std::to_string(e.released_by) +
                    (e.ended_by == e.released_by ? "" : ", with its last child, task " + std::to_string(e.ended_by));
    f.released_here = r.task(e.ended_by).worker == t.worker;
  }
  for (const used_region& u : e.data)
    f.data.push_back({static_cast<mode>(u.mode), u.bytes, u.homes.bytes, u.homes.nowhere});
  f.bytes = e.bytes;
  f.nowhere = e.nowhere;
  for (const alternative& n : e.nodes) f.nodes.push_back({n.workers, n.home_bytes});
  if (e.stolen)
    f.stolen = {e.stolen->victim, r.node_of(e.stolen->victim), t.started - e.stolen->at, e.first_after_steal};
  for (const recorded_job& j : r.jobs)
    f.windows.push_back({static_cast<std::uint64_t>(j.tasks), static_cast<std::uint64_t>(j.dependences), j.worker,
                         j.ended <= t.started});
  f.created_before = created_before(r, e.task);
  f.distance = [&costs](std::size_t a, std::size_t b) { return costs.distance(a, b).value_or(a == b ? 10 : 20); };
  return f;
}

/// None if the recording names a policy with options that this version of the policy does not take.
std::optional<policy_options> options_of(const std::string& text, const policy_entry& policy) {
  try {
    return policy_options(text, policy.options);
  } catch (const error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> reasons_for(const recording& r, const explanation& e, const data_costs& costs) {
  const recorded_task& t = r.task(e.task);
  if (t.has(recorded_task::fence)) return {"a fence has no code: it runs nowhere"};
  if (t.worker < 0)
    return {t.has(recorded_task::skipped) ? "it was cancelled"
                                          : "it never ran, or had not ended when the recording stopped"};
  if (t.has(recorded_task::root)) return {"it is what runtime::run was given: the thread that calls run is worker 0"};
  const std::string text = r.meta_or("policy", "");
  const placement_facts facts = facts_of(r, e, costs);
  for (const policy_entry& p : choosable_policies()) {
    if (policy_name(text) != p.name) continue;
    const std::optional<policy_options> options = options_of(text, p);
    if (!options || p.explain == nullptr) return {std::string(p.name) + ": " + p.summary};
    explainer reasons(facts, *options);
    p.explain(reasons);
    std::vector<std::string> all = reasons.take();
    if (e.came) {
      all.insert(all.begin(), "place " + std::to_string(e.came->message.source) + " spawned it at place " +
                                  std::to_string(e.came->message.destination) + ", and no task leaves its place");
    } else if (e.place >= 0) {
      all.insert(all.begin(), "it was created at place " + std::to_string(e.place) + ", and no task leaves its place");
    }
    return all;
  }
  return {"the recording does not name a policy that is known here" + (text.empty() ? "" : " ('" + text + "')")};
}

}  // namespace kith::analysis
