// kith why: explains why a task of a recorded run ran where it did.
#include "verbs.hpp"

#include "analysis/find_task.hpp"
#include "json_text.hpp"
#include "policy_library.hpp"
#include "progress.hpp"
#include "recording/file.hpp"
#include "why/report.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

namespace kith::tools {

namespace {

struct why_options {
  std::string file, task, machine;
  std::vector<std::string> libraries;
  bool json = false;
};

outcome run_why(const why_options& o) {
  load_policy_libraries(o.libraries);
  progress bar;
  const recording r = read_recording(o.file, [&](const char* what, double share) { bar.share(what, share); });
  bar.wait_for("asking why");
  const std::int32_t task = analysis::find_task(r, o.task);
  const analysis::data_costs costs = analysis::costs_for(r, o.machine);
  const analysis::explanation e = analysis::explain(r, task, costs);
  bar.clear();
  if (o.json) {
    fmt::print("{}\n", json_text(explanation_json(r, e, costs), 2));
  } else {
    print_explanation(r, e, costs);
  }
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_why(CLI::App& command) {
  auto o = std::make_shared<why_options>();
  command.add_option("file", o->file, "the recording: of a run (`kith record`), or of a simulated one (`kith sim -o`)")
      ->required()
      ->type_name("FILE");
  command.add_option("task", o->task, "17, its number; gemm:12, the 13th of its type; or key:42")
      ->required()
      ->type_name("TASK");
  command
      .add_option("--machine", o->machine,
                  "whose distances and rates data times are of, one of `kith machines` or a file (the recording's)")
      ->type_name("MACHINE|FILE");
  add_policy_library(command, o->libraries);
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "A recording has no decisions, but what came of them: reasons are the policy's rule, held against where the data "
      "was and who stole from whom; what the rule does not explain is said. docs/placement.md says which policy does "
      "what.\n"
      "JSON: {\"task\", \"type\", \"policy\", \"worker\", \"node\", \"place\", \"message\" (that it came by from "
      "another place: {\"source\", \"bytes\", \"sent_ns\", \"received_ns\", \"clock_error_ns\", \"refusals\"}), "
      "\"creator\", \"color_hint\", \"node_hint\" (null: none), \"created_ns\", \"ready_ns\", \"started_ns\", "
      "\"ended_ns\", \"completed_ns\" (its children as well), \"waited_ns\", \"released_by\", \"ended_by\" (that one, "
      "or its last child), \"reasons\": [text], \"last_steal\", \"meanwhile\": {\"worker\": [{\"what\", \"task\", "
      "\"begun_ns\", \"ended_ns\"}], ...}, \"data\": [{\"region\", \"access\", \"declared_bytes\", \"used_bytes\", "
      "\"home_bytes\": [by node], \"writer\", ...}], \"nodes\": [{\"node\", \"home_bytes\", \"remote_bytes\", "
      "\"data_ns\" (null: not known), ...}]}\n"
      "Exit code: 0, or 2 for a wrong command line, recording, task or machine.");
  return [o] { return run_why(*o); };
}

}  // namespace kith::tools
