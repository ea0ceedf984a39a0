#include "app/on_places.hpp"

#include "app/by_hand.hpp"
#include "base/environment.hpp"
#include "engine/life/figures.hpp"
#include "machine/machine.hpp"
#include "progress.hpp"

#include <algorithm>

namespace kith::tools {

namespace {

/// Sums up the counts of all places' runtimes, over a run of that length.
statistics of_all(const std::vector<place_statistics>& places, double seconds) {
  statistics all;
  for (const place_statistics& p : places) {
    const statistics& s = p.tasks;
    for (const worker_statistics& w : s.workers) {
      all.workers.push_back(w);
      all.workers.back().idle_seconds = std::max(0.0, seconds - w.busy_seconds);
    }
    all.throttled += s.throttled;
    all.local_accesses += s.local_accesses;
    all.remote_accesses += s.remote_accesses;
    all.homes_asked += s.homes_asked;
    all.homes_elsewhere += s.homes_elsewhere;
    all.windows += s.windows;
    all.partitioned_tasks += s.partitioned_tasks;
    all.partition_seconds += s.partition_seconds;
    all.pretended = all.pretended || s.pretended;
  }
  life::sum_up(all);
  return all;
}

}  // namespace

std::optional<app_report> run_on_places(const apps::places_entry& e, const apps::arguments& arguments,
                                        std::optional<int> places, const runtime_options& each) {
  if (arguments.text("as") == "custom") return run_by_hand(e, arguments, places, each);
  const std::string name = e.about.name;
  place_options o;
  o.places = places;
  o.each = each;
  apps::read_parameters(o, arguments);
  const std::unique_ptr<apps::places_app> program = e.make(arguments);
  progress bar;
  bar.wait_for(name);
  place_runtime rt(o);
  if (!rt.has_place(0)) {
    bar.clear();
    rt.serve();
    return {};
  }
  const bool one_group = o.scheduling == place_scheduling::cws;
  const int asked = each.workers.value_or(0) * (one_group ? rt.places() : 1);
  tell_workers(rt.workers(), asked, one_group ? "" : " at each place");
  apps::places_result got = apps::run(*program, rt);
  bar.clear();
  const places_report on{one_group ? "cws" : "ads", rt.transport(), rt.places(), program->depth(), got.places};
  return app_report{name,
                    rt.policy(),
                    current_machine(each.machine).name,
                    rt.workers(),
                    0,
                    {got.seconds, of_all(got.places, got.seconds), std::move(got.check),
                     rt.dry() ? std::vector<apps::figure>{} : program->figures()},
                    on};
}

}  // namespace kith::tools
