// kith demo: first heat on a modelled machine with eight sockets, where placement matters. Then PageRank of
// this machine's packages, and heat, under three policies: on this machine, and on a pretended one with 8
// memory nodes, where times mean nothing, and counts only if each worker has a core.
#include "verbs.hpp"

#include "apps/list.hpp"
#include "base/printable.hpp"
#include "demo/conclusion.hpp"
#include "demo/elsewhere.hpp"
#include "demo/trial.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <memory>
#include <utility>

namespace kith::tools {

namespace {

constexpr const char* eight_nodes = "node:8 core:10";
const std::vector<std::string> demo_policies = {"steal", "dfifo", "dep"};

struct job {
  std::string name;
  std::unique_ptr<apps::app> program;
};

std::unique_ptr<apps::app> make(const char* name, const apps::arguments::given& values) {
  const apps::entry& e = apps::find_app(name);
  return e.make(apps::arguments(e.name, e.parameters, values, apps::preset::standard));
}

/// Blocks are small enough that 80 workers have one each.
job pagerank_of_packages(progress& p) {
  p.stage("reading the packages that this machine knows");
  const apps::arguments::given how = {{"block", "500"}, {"iterations", "40"}};
  apps::arguments::given packages = how;
  packages.emplace_back("debian", "");
  try {
    return {"PageRank", make("pagerank", packages)};
  } catch (const error& e) {
    p.clear();
    fmt::print("No package graph: {}\nPageRank takes a generated graph instead.\n\n", e.what());
    return {"PageRank", make("pagerank", how)};
  }
}

job heat_on_a_plate() { return {"heat", make("heat", {{"size", "1024"}, {"iterations", "200"}, {"block", "8"}})}; }

/// Prints where the input comes from, its counts, and the best entries.
void print_figures(const apps::app& program) {
  const std::vector<apps::figure> figures = program.figures();
  std::string counts;
  for (const apps::figure& f : figures) {
    if (const auto* text = std::get_if<std::string>(&f.value)) fmt::print("  {}\n", printable(*text));
    if (f.name.starts_with("graph_")) continue;  // left out: for analysis
    if (const auto* n = std::get_if<std::int64_t>(&f.value))
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", *n, f.name);
  }
  for (char& c : counts) c = c == '_' ? ' ' : c;
  fmt::print("  {}\n", counts);
  for (const apps::figure& f : figures) {
    const auto* best = std::get_if<apps::ranking>(&f.value);
    if (best == nullptr) continue;
    int place = 0;
    for (const auto& [name, value] : *best) fmt::print("  {:>2}. {:<32} {:.5f}\n", ++place, printable(name), value);
  }
}

std::string in_range(const spread& s, double unit, const char* format) {
  return fmt::format(fmt::runtime(format), s.median() * unit, s.least() * unit, s.most() * unit);
}

void print_trial(const trial& t) {
  const bool nodes = t.on->nodes.size() > 1;
  if (!t.wrong.empty()) {
    fmt::print("  {}: {}\n", t.program, styled("WRONG RESULTS", tone::bad));
    for (const std::string& w : t.wrong) fmt::print("    {}\n", w);
  } else {
    fmt::print("  {}: {} tasks, {}, all results {}\n", t.program, t.policies.front().tasks,
               counted(static_cast<std::size_t>(t.workers), "worker"), styled("verified", tone::good));
    fmt::print("    {}\n", styled(folded(t.checked, 4), tone::faint));
  }
  std::vector<std::string> heads = {t.pretended ? "balance of nodes, %" : "balance, %", "steals", "remote accesses, %"};
  if (!t.pretended) heads.insert(heads.begin(), "time, ms");
  table rows("policy", heads);
  const char* const whole = "{:.0f} ({:.0f}..{:.0f})";
  const char* const tenths = "{:.1f} ({:.1f}..{:.1f})";
  for (const policy_runs& p : t.policies) {
    std::vector<std::string> cells = {in_range(p.balance_percent, 1, whole), in_range(p.steals, 1, whole),
                                      nodes ? in_range(p.remote_percent, 1, tenths) : "one node"};
    if (!t.pretended) cells.insert(cells.begin(), in_range(p.seconds, 1000, tenths));
    rows.row(p.policy, std::move(cells));
  }
  fmt::print("{}", rows.text(4));
}

std::vector<trial> try_all(std::vector<job>& jobs, const machine& on, const std::string& pretended, progress& p,
                           int rounds) {
  std::vector<trial> done;
  for (job& j : jobs) {
    p.stage(fmt::format("{} on {}", j.name, pretended.empty() ? "this machine" : "the pretended machine"));
    done.push_back(run_trial(
        *j.program, {j.name, pretended, demo_policies, rounds, 20}, on, [&](const std::string& policy, int round) {
          p.step(fmt::format("{} under {}", round == 0 ? "warming up" : fmt::format("round {} of {}", round, rounds),
                             policy));
        }));
    p.clear();
    print_trial(done.back());
  }
  fmt::print("\n");
  return done;
}

void print_lesson(const std::string& sentence) { fmt::print("  - {}\n", folded(sentence, 4)); }

outcome run_demo(int rounds, const std::string& picture) {
  const machine here = current_machine();
  if (here.pretended) {
    throw error(
        "the demo compares this machine with a pretended one, so KITH_MACHINE must not be set; unset it and try again");
  }
  progress p;
  const std::string elsewhere = run_elsewhere(picture, p);
  std::vector<job> jobs;
  jobs.push_back(pagerank_of_packages(p));
  jobs.push_back(heat_on_a_plate());

  p.clear();
  fmt::print("{}\n", styled(fmt::format("On this machine: {}", here.name), tone::strong));
  fmt::print("  medians of up to {} interleaved rounds (least..most)\n", rounds);
  const std::vector<trial> native = try_all(jobs, here, "", p, rounds);

  const machine eight = machine_by_name(eight_nodes);
  fmt::print("{}\n", styled(fmt::format("On \"{}\", pretended", eight_nodes), tone::strong));
  const std::string caution = fmt::format(
      "Counts alone: times would be this machine's. Its {} run {} workers, so few are awake at a time; whichever they "
      "are, a policy that lets any worker take any task leaves most tasks, and the data they touch first, to them.",
      counted(here.cores.size(), "core"), eight.cores.size());
  fmt::print("  {}\n", folded(caution, 2));
  const std::vector<trial> pretended = try_all(jobs, eight, eight_nodes, p, std::min(rounds, 5));

  fmt::print("{}\n", styled("The most depended upon", tone::strong));
  print_figures(*jobs.front().program);

  fmt::print("\n{}\n", styled("What was learnt", tone::strong));
  print_lesson(elsewhere);
  bool right = true;
  for (const trial& t : native) print_lesson(time_lesson(t));
  for (const trial& t : pretended) {
    if (t.workers > native.front().workers) continue;  // they share cores, so the counts say nothing about real nodes
    print_lesson(locality_lesson(t));
    print_lesson(balance_lesson(t));
  }
  for (const auto* all : {&native, &pretended}) {
    for (const trial& t : *all) right = right && t.wrong.empty();
  }
  if (!right) fmt::print(stderr, "kith demo: some results were wrong, see above\n");
  return right ? outcome::fine : outcome::limited;
}

}  // namespace

std::function<outcome()> add_demo(CLI::App& command) {
  auto rounds = std::make_shared<int>(7);
  auto picture = std::make_shared<std::string>();
  command.add_option("--picture", *picture, "write a picture of the simulated runs")->type_name("FILE.svg|png");
  command.add_option("--rounds", *rounds, "rounds that count, each policy once in each (7); fewer on a slow machine")
      ->check(whole_number(3, 1000));
  command.footer(
      "First heat on a machine with eight sockets, as it is modelled: time, and what is moved between nodes, under "
      "four policies. Then PageRank of this machine's packages, and heat, under three policies: here, and on a "
      "pretended machine with 8 memory nodes. Two minutes at most.\n"
      "Exit code: 0 if all results were verified, 1 if one was wrong, 2 if it could not run.");
  return [rounds, picture] { return run_demo(*rounds, *picture); };
}

}  // namespace kith::tools
