// kith record: runs a program that uses Kith, and records it in a file.
#include "verbs.hpp"

#include "addresses/sources.hpp"
#include "analysis/counts_of_run.hpp"
#include "base/counters.hpp"
#include "base/printable.hpp"
#include "child.hpp"
#include "output.hpp"
#include "recorded_run.hpp"
#include "recording/counts.hpp"
#include "recording/file.hpp"
#include "recording/parts.hpp"
#include "second_run.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

struct record_options {
  std::string file = "kith.rec";
  bool dry = false, addresses = false;
  std::string counters, counted;
  std::vector<std::string> program;
};

/// Runs the program that counts, and adds the instructions of tasks to the recordings of the first run.
void add_instructions(const record_options& o, const std::vector<std::string>& files) {
  std::vector<std::string> program = o.program;
  program.front() = o.counted;
  further_run counts(o.file);
  const child_result done = counts.run("counting instructions", program, {"KITH_RECORD_COUNTERS", "mix"});
  std::vector<recording> counted;
  for (const std::string& folder : counts.folders()) counted.push_back(read_parts(folder));
  counts.remove();
  const std::string begins = "--counted " + o.counted + ": ", ends = "; " + o.file + " has no instructions";
  if (!done.clean()) throw error(begins + "it failed, and " + o.program.front() + " did not" + ends);
  for (const std::string& file : files) {
    recording first = read_recording(file);
    std::size_t least_others = first.tasks.size();
    const auto same = std::ranges::find_if(counted, [&](const recording& r) {
      const std::size_t others = analysis::take_counts(first, r);
      least_others = std::min(least_others, others);
      return others == 0;
    });
    if (same == counted.end())
      throw error(begins + std::to_string(least_others) +
                  " of the tasks are in one of the two runs alone; expected the same "
                  "program, built to count" +
                  ends);
    const std::uint64_t instructions = instructions_of(first.counts);
    if (instructions == 0)
      throw error(begins + "it counted no instructions; build it with kith::count_instructions (docs/check.md)" + ends);
    write_recording(first, file);
    counted.erase(same);
    fmt::print(stderr, "kith record: {}: {} instructions\n", file, instructions);
  }
}

/// Throws for options that exclude each other.
void refuse_wrong(const record_options& o) {
  if (o.dry && o.addresses)
    throw error("--dry and --addresses: what is not run touches nothing; leave out one of them");
  if (!o.counters.empty() && (o.dry || o.addresses))
    throw error(std::string("--counters and ") +
                (o.dry ? "--dry: what is not run counts nothing"
                       : "--addresses: the counts would be of what records addresses") +
                "; leave out one of them");
  if (!o.counted.empty() && !o.addresses)
    throw error(
        "--counted: its instructions are for a recording of addresses; expected --addresses, or --counters alone");
  if (!counter_set::parse(o.counters))
    throw error("--counters '" + printable(o.counters, 200) + "': expected " + counter_set::expected());
}

/// Runs the program with the options' settings.
child_result run_recorded(const record_options& o) {
  std::vector<std::pair<std::string, std::string>> set = settings_that_record(o.file);
  if (o.dry) set.emplace_back("KITH_DRY", "1");
  if (o.addresses) set.emplace_back("KITH_RECORD_ADDRESSES", "1");
  if (!o.counters.empty()) set.emplace_back("KITH_RECORD_COUNTERS", o.counters);
  return run_child(o.program, set);
}

/// Keeps recordings of addresses, with the instructions, only if another schedule has the same addresses.
outcome check_addresses(const record_options& o, const child_result& done, const std::vector<std::string>& files,
                        const input_of_two& input) {
  const auto remove = [&] {
    for (const std::string& file : files) fs::remove(file);
  };
  comparison compared = comparison::stopped;
  if (done.clean()) {
    try {
      input.refuse_data();
    } catch (...) {
      remove();
      throw;
    }
    input.again();
    compared = under_another_schedule(o.file, o.program, files);
  }
  if (compared == comparison::stopped) {
    fmt::print(stderr, "kith record: {}: not compared with another schedule\n", o.file);
  } else if (compared == comparison::different) {
    remove();
    fmt::print(stderr, "kith record: {}: not kept: a simulation of its addresses would be of this one schedule\n",
               o.file);
  }
  if (compared == comparison::same && !o.counted.empty()) {
    input.again();
    add_instructions(o, files);
  }
  return compared == comparison::same ? outcome::fine : outcome::limited;
}

outcome record(const record_options& o) {
  refuse_wrong(o);
  // Before the program runs: it could not write its recording there, or would be replaced by it.
  refuse_output("--output", o.file, {o.program.front(), o.counted});
  refuse_to_replace(o.file);
  remove_parts(o.file);
  std::optional<input_of_two> input;
  if (o.addresses) input.emplace();
  const child_result done = run_recorded(o);
  const std::vector<std::string> files = make_recordings("kith record", o.file, o.program.front(), done, o.dry);
  if (o.addresses) return check_addresses(o, done, files, *input);
  return done.clean() ? outcome::fine : outcome::limited;
}

}  // namespace

std::function<outcome()> add_record(CLI::App& command) {
  auto o = std::make_shared<record_options>();
  command
      .add_option(
          "-o,--output", o->file,
          "the recording to make (kith.rec), which replaces an older one, but no other file; of more runs: FILE-2, ...")
      ->type_name("FILE");
  command.add_flag("--dry", o->dry, "run no task that says what it costs (kith::work): only record it");
  command.add_flag("--addresses", o->addresses,
                   "record what each task touches, for `kith check`; PROGRAM must be built with kith::trace_accesses");
  command
      .add_option("--counters", o->counters,
                  "record what is counted while each task runs: all, hardware, software, mix, or names with commas "
                  "between them")
      ->type_name("LIST")
      ->expected(0, 1)
      ->default_str("all");
  command
      .add_option("--counted", o->counted,
                  "with --addresses: the same program, built with kith::count_instructions; the recording gets its "
                  "instructions of each task")
      ->type_name("PROGRAM");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith record [--dry] [--counters=LIST] [--addresses [--counted PROGRAM]] [-o FILE] -- PROGRAM ARGS     "
      "PROGRAM may be `kith app NAME ...`\n"
      "PROGRAM is any program that uses Kith. The same without this command: KITH_RECORD=FILE PROGRAM ARGS. A "
      "recording is a SQLite database: docs/recording-format.md. `kith sim FILE` runs it on other machines.\n"
      "If it makes several runtimes, or starts programs that do, each has its own: FILE, FILE-2, ... The places of a "
      "job have one together, on one clock (docs/places.md). Ctrl-C ends PROGRAM; what it did is kept.\n"
      "With --counters the recording has for each task the instructions, cycles, cache misses, stalled cycles, page "
      "faults, context switches, migrations and processor time of its own code, as far as the system counts them here; "
      "a line says what it does not. docs/recording-format.md, Counters.\n"
      "With --addresses PROGRAM is run twice, the second time under the policy random on two workers, and without its "
      "output. If a task touches other addresses there, it is named, and nothing is kept. Both runs read standard "
      "input from its beginning if it is a file, and else get an empty one. docs/check.md says how to build PROGRAM. "
      "With --counted another build of it is run, too, with the same arguments.\n"
      "Exit code: 0; 1 if PROGRAM failed or was killed (what it did is recorded all the same), or if its addresses "
      "depend on the schedule or were not compared; 2 for a wrong command line, or if nothing was recorded.");
  return [o] { return record(*o); };
}

}  // namespace kith::tools
