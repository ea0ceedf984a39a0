// kith-bench forkjoin: the cost of a spawn in a recursion without other work.
#include "fork_systems.hpp"
#include "rows.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace kith::bench {

namespace {

constexpr std::int64_t usual_fib = 35, smallest_fib = 22;  // of fib(n); 15 million spawns, and 30 thousand
constexpr double longest_sample = 0.5e9;                   // nanoseconds of a sample

struct recursion {
  std::unique_ptr<child> process;
  int workers;
  std::int64_t n = smallest_fib;
  std::vector<sample> samples;
};

reply ask_fib(recursion& c, std::int64_t n) {
  request q;
  q.what = verb::dag;
  q.subject = "fib";
  q.size = n;
  return c.process->ask(q);
}

/// Warms the system up, and chooses the largest n that takes at most about `longest_sample`. False, with a message, if
/// it fails.
bool warm_up(recursion& c, std::int64_t most) {
  child::turn now(*c.process);
  for (int i = 0; i < 2; ++i) {
    const reply tried = ask_fib(c, c.n);
    if (!tried.ok) {
      std::fprintf(stderr, "kith-bench: %s is left out: %s\n", c.process->system().c_str(), tried.text.c_str());
      return false;
    }
    double expected = tried.nanoseconds;
    while (i == 1 && c.n < most && (expected *= 1.618) <= longest_sample) ++c.n;
  }
  return true;
}

void take_sample(recursion& c, const std::vector<int>& cores) {
  if (!c.process->alive()) return;
  sample s{0, measure_machine(cores), {}};
  {
    child::turn now(*c.process);
    const reply r = ask_fib(c, c.n);
    if (!r.ok) {
      std::fprintf(stderr, "kith-bench: %s: %s\n", c.process->system().c_str(), r.text.c_str());
      return;
    }
    s.value = r.nanoseconds / static_cast<double>(r.tasks);
  }
  s.after = measure_machine(cores);
  c.samples.push_back(s);
}

std::vector<fork_system> chosen_forks(const options& o) {
  if (o.systems.empty()) return all_fork_systems();
  std::vector<fork_system> some;
  for (const std::string& name : o.systems) {
    const auto& all = all_fork_systems();
    const auto at = std::ranges::find_if(all, [&](const fork_system& s) { return name == s.name; });
    if (at == all.end()) {
      std::string wrong = "--systems: unknown system \"";
      wrong.append(name).append("\"; expected some of");
      for (const fork_system& s : all) wrong.append(s.name == all.front().name ? " " : ", ").append(s.name);
      throw std::runtime_error(wrong);
    }
    some.push_back(*at);
  }
  return some;
}

}  // namespace

void run_forkjoin(const options& o) {
  const std::vector<int> cores = allowed_cores();
  const std::vector<int> counts = one_and_all(o, cores.size());
  std::vector<recursion> recursions;
  for (const fork_system& s : chosen_forks(o)) {
    std::filesystem::path program;
    try {
      program = program_of_fork(s.name);
    } catch (const std::exception& missing) {
      std::fprintf(stderr, "kith-bench: %s is left out: %s\n", s.name, missing.what());
      continue;
    }
    for (const int workers : counts) {
      if (s.name == std::string("serial") && workers != counts.front()) continue;
      show_progress("checking " + std::string(s.name));
      recursion c{
          std::make_unique<child>(s.name, program, workers, o.realtime, s.environment), workers, smallest_fib, {}};
      if (warm_up(c, o.quick ? 30 : usual_fib)) recursions.push_back(std::move(c));
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (recursion& c : recursions) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ": " +
                    c.process->system());
      take_sample(c, cores);
    }
  }
  end_progress();

  std::vector<nlohmann::ordered_json> rows;
  for (const recursion& c : recursions) {
    if (c.samples.empty()) continue;
    nlohmann::ordered_json row{{"system", c.process->system()},
                               {"version", c.process->version()},
                               {"case", "fib"},
                               {"n", c.n},
                               {"workers", c.workers}};
    add_summary(row, c.samples, o);
    row["unit"] = "ns/spawn";
    rows.push_back(std::move(row));
  }
  print_with_workers(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
