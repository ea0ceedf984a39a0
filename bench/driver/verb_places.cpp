// kith-bench places: messages between two processes, with Kith and with MPI alone. Neither this program nor Kith is
// linked to an MPI: each sample is a job, which `kith launch` starts with the mpirun of the chosen MPI.
#include "verbs.hpp"

#include "job.hpp"
#include "rows.hpp"
#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace kith::bench {

namespace {

namespace fs = std::filesystem;

struct places_options {
  options shared;  // rounds, quick, json
  std::string mpi;
};

struct places_case {
  const char* name;
  const char* peer;       // the system that it is compared with
  const char* peer_case;  // of the peer's program
  const char* unit;
  bool more_is_better;
  std::int64_t kith_count, peer_count;  // messages of a sample; of heat: steps
};
constexpr places_case places_cases[] = {{"rate-8", "mpi", "rate-8", "messages/s", true, 20'000'000, 2'000'000},
                                        {"rate-1k", "mpi", "rate-1k", "messages/s", true, 1'000'000, 1'000'000},
                                        {"bandwidth-1m", "mpi", "bandwidth-1m", "GB/s", true, 4'000, 4'000},
                                        {"spawn", "mpi", "spawn", "us", false, 10'000, 10'000},
                                        {"heat", "custom", "", "s", false, 200, 200},
                                        {"activity-8", "mpi", "rate-8", "messages/s", true, 200'000, 2'000'000}};

fs::path folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// The MPI that was asked for, or the first one whose peer was built and whose jobs can be started.
std::string choose(const std::string& asked) {
  std::string missing;
  for (const std::string mpi : {"openmpi", "mpich"}) {
    if (!asked.empty() && asked != mpi) continue;
    const fs::path peer = folder() / ("kith-bench-places-" + mpi);
    if (!fs::exists(peer)) {
      missing += fmt::format("; {} was not built", peer.string());
      continue;
    }
    try {
      output_of({folder() / "kith", "launch", "-n", "1", "--mpi", mpi, "--", "/bin/true"});
      return mpi;
    } catch (const std::runtime_error& e) {
      missing += std::string("; ") + e.what();
    }
  }
  throw std::runtime_error(
      fmt::format("places: no MPI to measure with{}. Install one (Debian: libopenmpi-dev openmpi-bin, or "
                  "libmpich-dev mpich) and build again",
                  missing));
}

/// One system in one case.
struct places_contender {
  const places_case* on;
  bool kith;
  std::vector<double> samples = {};

  const char* system() const { return kith ? "kith" : on->peer; }
};

class places_jobs {
 public:
  places_jobs(std::string mpi, bool quick) : mpi_(std::move(mpi)), quick_(quick) {}

  double sample(const places_contender& c) {
    const std::int64_t full = c.kith ? c.on->kith_count : c.on->peer_count;
    const std::string count = std::to_string(quick_ ? std::max<std::int64_t>(10, full / 50) : full);
    std::vector<std::string> words{folder() / "kith", "launch", "-n", "2", "--workers", "1", "--mpi", mpi_, "--"};
    if (c.on->name == std::string_view("heat")) return heat(c, std::move(words), count);
    words.push_back(folder() / ("kith-bench-places-" + (c.kith ? "kith" : mpi_)));
    words.insert(words.end(), {c.kith ? c.on->name : c.on->peer_case, count});
    const std::string text = output_of(words);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || value <= 0) throw std::runtime_error("places: " + words.back() + " printed no value");
    if (!c.kith) version_ = first_words(end);
    return value;
  }
  /// The MPI's name of itself.
  const std::string& version() const { return version_; }

 private:
  /// Runs heat with Kith or by hand. Both are verified, and report in the same form.
  double heat(const places_contender& c, std::vector<std::string> words, const std::string& steps) const {
    words.insert(words.end(), {folder() / "kith", "app", "places_heat", "--json", "--iterations", steps, "--as"});
    words.push_back(c.kith ? "ads" : "custom");
    words.insert(words.end(), {"--leaf", "2048"});  // one task: no smaller ones are needed for one worker
    if (quick_) words.push_back("--small");
    return nlohmann::json::parse(output_of(words)).at("seconds").get<double>();
  }
  /// The version: Open MPI's line up to a comma, or MPICH's "name: number".
  static std::string first_words(std::string text) {
    text.erase(0, text.find_first_not_of('\n'));
    text.erase(std::min(text.find_first_of("\n,"), text.size()));
    const std::string named = "MPICH Version:";
    if (text.starts_with(named)) text = "MPICH " + text.substr(text.find_first_not_of(" \t", named.size()));
    return text;
  }

  std::string mpi_;
  bool quick_;
  std::string version_;
};

nlohmann::ordered_json row_of(const places_contender& c, const std::string& mpi, const options& o) {
  const summary s = summary_of(c.samples);
  return {{"system", c.system()}, {"case", c.on->name},    {"median", s.median}, {"min", s.min},
          {"max", s.max},         {"unit", c.on->unit},    {"rounds", o.rounds}, {"mpi", mpi},
          {"quick", o.quick},     {"realtime", o.realtime}};
}

void print_table(const std::vector<places_contender>& all, const std::string& mpi, const options& o) {
  fmt::print("{}; 2 processes with 1 worker each, median of {} rounds [min, max]; real-time scheduling {}\n\n", mpi,
             o.rounds, o.realtime ? "on" : "off");
  fmt::print("{:<14} {:>12}   {:<38} {:<42} {}\n", "case", "kith / peer", "kith", "peer", "unit");
  const auto text = [](const summary& s) { return fmt::format("{:.4g} [{:.4g}, {:.4g}]", s.median, s.min, s.max); };
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    const summary ours = summary_of(all[i].samples), other = summary_of(all[i + 1].samples);
    fmt::print("{:<14} {:>12.3f}   {:<38} {:<42} {}, {} is better\n", all[i].on->name, ours.median / other.median,
               text(ours), fmt::format("{} {}", all[i + 1].system(), text(other)), all[i].on->unit,
               all[i].on->more_is_better ? "more" : "less");
  }
}

void measure_places(const places_options& chosen) {
  const options& o = chosen.shared;
  const std::string mpi = choose(chosen.mpi);
  places_jobs jobs(mpi, o.quick);
  std::vector<places_contender> all;
  for (const places_case& c : places_cases) all.insert(all.end(), {{&c, true}, {&c, false}});
  for (int round = 0; round < o.rounds; ++round) {
    for (places_contender& c : all) {
      show_progress(fmt::format("round {} of {}: {} {}", round + 1, o.rounds, c.system(), c.on->name));
      c.samples.push_back(jobs.sample(c));
    }
  }
  end_progress();
  if (!o.json) return print_table(all, jobs.version(), o);
  std::vector<nlohmann::ordered_json> rows;
  for (const places_contender& c : all) rows.push_back(row_of(c, jobs.version(), o));
  print(rows, o);
}

}  // namespace

std::function<tools::outcome()> add_places(CLI::App& command) {
  auto o = std::make_shared<places_options>();
  CLI::Option* const rounds =
      command.add_option("--rounds", o->shared.rounds, "samples of each figure (default 5; with --quick 2)")
          ->check(tools::whole_number(1, 1000));
  command.add_option("--mpi", o->mpi, "openmpi or mpich (default: the first that is there)")
      ->check(CLI::IsMember({"openmpi", "mpich"}))
      ->type_name("MPI");
  command.add_flag("--quick", o->shared.quick, "a few seconds, with the smallest samples: shows that it works");
  CLI::Option* const realtime = add_realtime(command, o->shared);
  command.add_flag("--json", o->shared.json, "rows as JSON");
  command.footer(
      "Two processes on this machine, one worker each. rate-8, rate-1k, bandwidth-1m: messages of 8 bytes, 1 KiB and "
      "1 MiB (more is better). MPI's are windows of MPI_Isend and MPI_Irecv, each message by itself; of Kith's the "
      "small ones are aggregated, some KiB in one activity, and that is the difference. activity-8: without that, "
      "each message of 8 bytes an activity. spawn: a remote spawn with its future, against a ping-pong between worker "
      "threads that hand over to a communicating thread. heat: places_heat, against the same by hand (`--as "
      "custom`).\n"
      "JSON: [{\"system\": kith, mpi or custom, \"case\", \"median\", \"min\", \"max\", \"unit\", \"rounds\", \"mpi\" "
      "(its name and version), \"quick\", \"realtime\"}, ...]");
  return [o, rounds, realtime] {
    if (o->shared.quick && rounds->count() == 0) o->shared.rounds = 2;
    prepare(o->shared, realtime->count() > 0);
    measure_places(*o);
    return tools::outcome::fine;
  };
}

}  // namespace kith::bench
