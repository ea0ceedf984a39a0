#include "doctor/examination.hpp"

#include "doctor/checks.hpp"
#include "machine/cpu_claims.hpp"

#include <algorithm>

namespace kith::tools {

namespace {

const char* name_of(verdict v) {
  switch (v) {
    case verdict::fine: return "fine";
    case verdict::note: return "note";
    case verdict::limited: return "limited";
    case verdict::broken: return "error";
  }
  return "";
}

}  // namespace

verdict examination::worst() const {
  verdict worst = verdict::fine;
  for (const finding& f : findings) worst = std::max(worst, f.is);
  return worst;
}

std::size_t examination::count(verdict v) const {
  return static_cast<std::size_t>(std::ranges::count(findings, v, &finding::is));
}

examination examine() {
  const limits& allowed = process_limits();  // must be read before the trial binds a thread
  examination e;
  e.here = current_machine();
  {
    cpu_claims others;  // released at once: the plan is that of a program that starts now
    e.plan = plan_workers(e.here, allowed, workers_setting(), oversubscribe_setting(),
                          {bind_setting(), [&](int cpu, int level) { return others.take(cpu, level); }});
  }
  e.findings.push_back(check_settings());
  e.findings.push_back(check_machine(e.here));
  e.findings.push_back(check_affinity(e.here, allowed));
  e.findings.push_back(check_quota(e.here, allowed));
  e.findings.push_back(check_slurm(e.here, allowed));
  e.findings.push_back(check_ranks(e.here, allowed, e.plan));
  for (const std::string& note : allowed.notes) {
    e.findings.push_back(
        {.key = "unreadable", .is = verdict::note, .fact = note, .effect = "taken as no limit", .advice = ""});
  }
  e.findings.push_back(check_workers(e.here, e.plan));
  e.findings.push_back(check_memory_policy(e.here));
  e.findings.push_back(check_page_migration(e.here));
  e.findings.push_back(check_huge_pages());
  e.findings.push_back(check_perf_events());
  e.findings.push_back(check_membarrier());
  e.findings.push_back(check_address_space(e.plan));
  e.findings.push_back(check_places());
  e.findings.push_back(check_trial(e.plan));
  e.findings.push_back(check_homes(e.here));
  return e;
}

nlohmann::ordered_json to_json(const examination& e) {
  using json = nlohmann::ordered_json;
  const verdict worst = e.worst();
  json all{{"status", worst == verdict::note ? "fine" : name_of(worst)},
           {"workers", e.plan.workers},
           {"decided_by", e.plan.decided_by},
           {"bind", name_of(e.plan.bound)},
           {"pretended", e.here.pretended}};
  all["limits"] = json::array();
  for (const worker_plan::limit& l : e.plan.limits) {
    all["limits"].push_back({{"name", l.name}, {"value", l.value ? json(*l.value) : json()}, {"note", l.note}});
  }
  all["placement"] = json::array();
  for (std::size_t w = 0; w < e.plan.cores.size(); ++w) {
    const machine::core& c = e.here.cores[e.plan.cores[w].index()];
    const int cpu = e.plan.cpus[w];
    all["placement"].push_back({{"worker", w},
                                {"core", c.id.value},
                                {"node", c.node.value},
                                {"cpu", cpu < 0 ? json() : json(cpu)},
                                {"bound_to", e.plan.bound_to[w]}});
  }
  all["findings"] = to_json(e.findings);
  return all;
}

nlohmann::ordered_json to_json(const std::vector<finding>& findings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const finding& f : findings) {
    all.push_back({{"key", f.key},
                   {"status", name_of(f.is)},
                   {"fact", f.fact},
                   {"effect", f.effect},
                   {"advice", f.advice},
                   {"details", f.details}});
  }
  return all;
}

}  // namespace kith::tools
