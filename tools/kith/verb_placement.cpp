// kith placement: pictures of the placement of a program's data, recorded or simulated.
#include "verbs.hpp"

#include "analysis/place_counts.hpp"
#include "base/printable.hpp"
#include "command_line/command_line.hpp"
#include "engine/sim/recorded_places.hpp"
#include "json_text.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "placement/draw_graph.hpp"
#include "progress.hpp"
#include "recording/file.hpp"
#include "sim/runs.hpp"
#include "svg.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace kith::tools {

namespace {

struct placement_options {
  std::string file, machine, policies, picture, grid, title;
  int array = 0, tasks = 0;
  sim::run_options run;
  bool json = false;
};

constexpr std::size_t most_runs = 4;

/// The runs to draw, and the array and the machine that they have in common.
struct shown {
  std::string machine;
  std::vector<analysis::place_count> places;  // of the recorded run
  std::vector<placed_run> runs;
  std::vector<analysis::block_array> arrays;
  analysis::block_array array;
  analysis::block_shape shape;
  analysis::task_graph graph;  // empty: not requested

  void add(const std::string& policy, const recording& r, double seconds) {
    runs.push_back({policy, analysis::place_array(r, array), seconds, analysis::where_it_ran(r, graph)});
  }
};

analysis::block_array array_of_number(const std::vector<analysis::block_array>& all, int number) {
  if (all.empty()) throw error("the recording has no regions: no task says what data it uses");
  if (static_cast<std::size_t>(number) >= all.size())
    throw error("--array " + std::to_string(number) + ": expected a number below " + std::to_string(all.size()) +
                ", how many arrays were found");
  return all[static_cast<std::size_t>(number)];
}

shown look_at(const recording& r, const placement_options& o) {
  shown s;
  s.places = analysis::counts_of_places(r);
  s.arrays = analysis::arrays_of(r);
  if (s.arrays.empty() && !s.places.empty() && o.policies.empty()) return s;  // the places alone
  s.array = array_of_number(s.arrays, o.array);
  s.shape = o.grid.empty() ? analysis::find_shape(s.array.regions.size(), analysis::links_of(r, s.array))
                           : analysis::given_shape(s.array.regions.size(), o.grid);
  if (o.tasks != 0) s.graph = analysis::graph_of(r, s.array, s.shape, static_cast<std::size_t>(o.tasks));
  return s;
}

void simulate(shown& s, recording r, const placement_options& o, progress& bar) {
  const machine_model m = model_by_name(o.machine.empty() ? "bullion-s16-8" : o.machine);
  s.machine = m.title;
  const std::vector<std::string> policies = split_choices(o.policies);
  if (policies.size() > most_runs)
    throw error("--policy names " + std::to_string(policies.size()) + " policies; expected up to " +
                std::to_string(most_runs) + " side by side");
  const sim::program p = sim::program_of(std::move(r));
  std::vector<sim::run_options> runs;
  for (const std::string& policy : policies) {
    sim::run_options one = o.run;
    one.policy = policy;
    one.keep_schedule = true;
    sim::use_recorded_places(one, p, one.workers);
    one.throttle = static_cast<std::uint32_t>(p.recorded.meta_number("throttle", 2048));
    runs.push_back(std::move(one));
  }
  const std::vector<sim::result> results = simulate_all(p, m, runs, [&](std::size_t done, std::size_t all) {
    bar.share(fmt::format("{} of {} runs", done, all), static_cast<double>(done) / static_cast<double>(all));
  });
  for (std::size_t i = 0; i < results.size(); ++i) s.add(policies[i], results[i].schedule, results[i].seconds);
}

void take_recorded(shown& s, const recording& r) {
  s.machine = r.meta_or("machine", "");
  if (s.arrays.empty()) return;
  s.add(r.meta_or("policy", "the recorded run"), r, 0);
  const bool anything = std::ranges::any_of(s.runs.front().where.bytes, [](std::uint64_t b) { return b != 0; });
  if (!anything && !s.places.empty()) {
    s.runs.clear();
    return;
  }
  if (!anything)
    throw error(
        "the recorded run has no homes of its data (of a dry run nothing is anywhere); expected --policy A,B --machine "
        "NAME, to simulate some");
}

nlohmann::ordered_json to_json(const shown& s) {
  using json = nlohmann::ordered_json;
  static constexpr const char* shapes[] = {"line", "grid", "triangle"};
  json runs = json::array();
  for (const placed_run& r : s.runs) {
    json cells = json::array();
    for (std::size_t i = 0; i < r.where.blocks.size(); ++i) {
      const analysis::placed_block& b = r.where.blocks[i];
      const auto [row, column] = s.shape.at(static_cast<std::int32_t>(i));
      cells.push_back({{"row", row},
                       {"column", column},
                       {"region", b.region},
                       {"home", b.home < 0 ? json() : json(b.home)},
                       {"spread", b.spread},
                       {"ran", b.ran < 0 ? json() : json(b.ran)},
                       {"tasks", b.tasks},
                       {"tasks_at_home", b.tasks_at_home}});
    }
    runs.push_back({{"policy", r.policy},
                    {"seconds", r.seconds == 0 ? json() : json(r.seconds)},
                    {"bytes_by_node", r.where.bytes},
                    {"tasks_by_node", r.where.tasks},
                    {"nowhere_bytes", r.where.nowhere},
                    {"balance", r.where.balance},
                    {"cut_percent", r.where.cut_percent},
                    {"tasks_at_home_percent", tasks_at_home_percent(r.where)},
                    {"edges_apart_percent", s.graph.edges.empty() ? json() : json(edges_apart_percent(s.graph, r.ran))},
                    {"cells", std::move(cells)}});
  }
  json places = json::array();
  for (const analysis::place_count& p : s.places)
    places.push_back({{"host", p.host},
                      {"workers", p.workers},
                      {"nodes", p.nodes},
                      {"tasks", p.tasks},
                      {"came", p.came},
                      {"work_ns", p.work_ns},
                      {"messages", p.messages},
                      {"message_bytes", p.bytes},
                      {"travelled_ns", p.travelled_ns},
                      {"clock_error_ns", p.error_ns}});
  return {{"machine", s.machine},
          {"places", std::move(places)},
          {"arrays", s.arrays.size()},
          {"blocks", s.array.regions.size()},
          {"block_bytes", s.array.block_bytes},
          {"shape", shapes[s.shape.what]},
          {"rows", s.shape.rows},
          {"columns", s.shape.columns},
          {"told", s.shape.given},
          {"graph", {{"tasks", s.graph.vertices.size()}, {"edges", s.graph.edges.size()}}},
          {"runs", std::move(runs)}};
}

void print_places(const shown& s) {
  table t("place", {"workers", "nodes", "tasks", "from others", "work [s]", "messages", "bytes", "travelled", "clock"});
  for (std::size_t p = 0; p < s.places.size(); ++p) {
    const analysis::place_count& c = s.places[p];
    std::string nodes;
    for (const std::int32_t n : c.nodes) nodes += (nodes.empty() ? "" : " ") + std::to_string(n);
    t.row(fmt::format("{} {}", p, printable(c.host)),
          {std::to_string(c.workers), nodes, std::to_string(c.tasks), std::to_string(c.came),
           fmt::format("{:.4g}", static_cast<double>(c.work_ns) * 1e-9), std::to_string(c.messages), in_bytes(c.bytes),
           fmt::format("{:.1f} us", static_cast<double>(c.travelled_ns) * 1e-3),
           fmt::format("+-{:.1f} us", static_cast<double>(c.error_ns) * 1e-3)});
  }
  fmt::print(
      "\n{}  {}\n", t.text(),
      folded("from others: tasks that other places spawned there; travelled: the median of the messages it sent", 2));
}

void print(const shown& s, const placement_options& o) {
  fmt::print("{} on {}\n", printable(o.file), styled(printable(s.machine), tone::strong));
  if (!s.places.empty()) print_places(s);
  if (s.runs.empty()) {
    fmt::print("\n{}\n", folded("where data was is not known: its tasks name no data, or nobody has touched it", 0));
    return;
  }
  fmt::print("{}\n", folded(described(s.shape, s.array), 0));
  if (s.arrays.size() > 1) {
    std::string others;
    constexpr std::size_t most = 6;
    for (std::size_t i = 0; i < s.arrays.size() && i < most; ++i) {
      if (static_cast<int>(i) != o.array)
        others += fmt::format("{}{}: {} x {}", others.empty() ? "" : "; ", i, s.arrays[i].regions.size(),
                              in_bytes(s.arrays[i].bytes / s.arrays[i].regions.size()));
    }
    if (s.arrays.size() > most) others += fmt::format("; and {} more", s.arrays.size() - most);
    fmt::print("{}\n", folded("other arrays (--array K): " + others, 2));
  }
  table t("policy", {"time [s]", "balance", "neighbours apart", "tasks at home"});
  for (const placed_run& r : s.runs)
    t.row(r.policy,
          {r.seconds == 0 ? "-" : fmt::format("{:.4g}", r.seconds), fmt::format("{:.3f}", r.where.balance),
           fmt::format("{:.1f} %", r.where.cut_percent), fmt::format("{:.1f} %", tasks_at_home_percent(r.where))});
  fmt::print("\n{}", t.text());
  for (const placed_run& r : s.runs) {
    if (const std::string text = as_text(s.shape, r.where); !text.empty())
      fmt::print("\n{}\n{}", styled(printable(r.policy), tone::strong), text);
  }
}

outcome run_placement(const placement_options& o) {
  if (!o.picture.empty() && !o.picture.ends_with(".svg") && !o.picture.ends_with(".png"))
    throw error("--output '" + o.picture + "': expected a name that ends in .svg or .png");
  std::vector<std::string> inputs = files_of(split_choices(o.policies));
  inputs.insert(inputs.end(), {o.file, o.machine});
  if (!o.picture.empty()) refuse_output("--output", o.picture, inputs);
  if (o.policies.empty() && !o.machine.empty())
    throw error("--machine is of simulated runs: expected --policy A,B as well");
  progress bar;
  recording r = read_recording(o.file, [&](const char* what, double share) { bar.share(what, share); });
  bar.wait_for("finding the blocks of the data");
  shown s = look_at(r, o);
  if (o.policies.empty()) {
    take_recorded(s, r);
  } else {
    simulate(s, std::move(r), o, bar);
  }
  bar.clear();
  if (!o.picture.empty() && s.runs.empty())
    throw error("--output: the recording says nothing of where data was, so there is nothing to draw");
  const std::string title =
      o.title.empty() ? std::filesystem::path(o.file).stem().string() + " on " + s.machine : o.title;
  if (!o.picture.empty())
    write_picture(o.tasks != 0 ? draw_graph(title, s.graph, s.runs) : draw(title, s.shape, s.runs), o.picture);
  if (o.json) {
    fmt::print("{}\n", json_text(to_json(s), 1));
  } else {
    print(s, o);
  }
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_placement(CLI::App& command) {
  auto o = std::make_shared<placement_options>();
  command.add_option("file", o->file, "the recording")->required()->type_name("FILE");
  command.add_option("--policy", o->policies, "simulate it under up to four policies, and show those runs instead")
      ->check(some_text())
      ->type_name("POLICY,...");
  command.add_option("--machine", o->machine, "where they run, one of `kith machines` or a file (bullion-s16-8)")
      ->type_name("MACHINE|FILE");
  command.add_option("--seed", o->run.seed, "the seed of the simulated runs (1)")
      ->check(whole_number(1, std::int64_t{1} << 40));
  command.add_option("--workers", o->run.workers, "use the first cores only (all)")->check(whole_number(1, 4096));
  command.add_option("--array", o->array, "which array of blocks is shown, by size (0)")
      ->check(whole_number(0, 1 << 30));
  command.add_option("--grid", o->grid, "how its blocks lie (found from the dependences)")
      ->type_name("ROWSxCOLUMNS|triangle|line");
  command.add_option("--tasks", o->tasks, "draw the graph of the first N tasks that write the array, not its blocks")
      ->check(whole_number(1, 20000))
      ->type_name("N");
  command.add_option("--title", o->title, "the picture's title (the file and the machine)");
  command.add_option("-o,--output", o->picture, "write a picture")->type_name("FILE.svg|png");
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "A cell is a block of an array (regions of equal size at equal distances), coloured by the node that is its home "
      "at the end of the run. A spot in it is the node that ran most of the tasks that write it, where that is "
      "another.\n"
      "balance: bytes of the fullest node over the mean. neighbours apart: of blocks that depend on each other, those "
      "on two nodes. tasks at home: of those that write blocks. PNG needs rsvg-convert (Debian: librsvg2-bin).\n"
      "--tasks: depth goes down; red lines are dependences between two nodes.\n"
      "Of a program with places, there is a row for each place as well (docs/places.md).\n"
      "JSON: {\"machine\", \"places\": [{\"host\", \"workers\", \"nodes\", \"tasks\", \"came\" (from other places), "
      "\"work_ns\", \"messages\", \"message_bytes\" (sent), \"travelled_ns\", \"clock_error_ns\"}], \"blocks\", "
      "\"block_bytes\", \"shape\" (line, grid, triangle), \"rows\", \"columns\", "
      "\"runs\": [{\"policy\", \"seconds\", \"bytes_by_node\", \"tasks_by_node\", \"balance\", \"cut_percent\", "
      "\"tasks_at_home_percent\", \"cells\": [{\"row\", \"column\", \"region\", \"home\" (null: nobody touched it), "
      "\"ran\", \"tasks\", ...}]}]}\n"
      "Exit code: 0, or 2 for a wrong command line, recording or machine, and if there is nothing to show.");
  return [o] { return run_placement(*o); };
}

}  // namespace kith::tools
