// kith calibrate: divides the time of a program's tasks into computing and memory, or measures the scheduler's
// own work.
#include "verbs.hpp"

#include "base/printable.hpp"
#include "calibrate/calibration.hpp"
#include "child.hpp"
#include "machine/model.hpp"
#include "machine/probe.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "recording/assemble.hpp"
#include "recording/file.hpp"
#include "table.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

struct calibrate_options {
  std::string file, machine;
  bool scheduler = false;
  int samples = 64;
  std::vector<std::string> program;
};

/// Runs the program on one worker, and returns its recording.
recording recorded(const calibrate_options& o, const std::string& file, int samples, progress& bar) {
  remove_parts(file);
  std::vector<std::pair<std::string, std::string>> set{
      {"KITH_RECORD", fs::absolute(file)}, {"KITH_RECORD_PARTS", "1"}, {"KITH_WORKERS", "1"}};
  if (samples != 0) set.emplace_back("KITH_CALIBRATE", std::to_string(samples));
  if (samples != 0) bar.wait_for("running it again, with some of its tasks repeated");
  const child_result done = run_child(o.program, set, samples != 0);
  const bool there = fs::is_directory(parts_of(file));
  if (!done.clean()) {
    remove_parts(file);
    throw error(o.program.front() +
                (samples == 0 ? " failed; nothing is calibrated"
                              : " failed when some of its tasks were run again, and not before: a task writes what it "
                                "does not declare, or the run was not on one worker"));
  }
  if (!there) throw error("nothing was recorded: " + o.program.front() + " has started no runtime of Kith");
  recording r = read_parts(parts_of(file), [&](const char* what, double share) { bar.share(what, share); });
  remove_parts(file);
  return r;
}

void print_table(const recording& r) {
  table t("type", {"samples", "bytes", "recorded\n[us]", "cold\n[us]", "warm\n[us]", "hot\n[us]", "GB/s"});
  for (const recorded_calibration& c : r.calibrations) {
    const auto mean = [&](std::uint64_t sum) { return static_cast<double>(sum) / static_cast<double>(c.samples); };
    const auto us = [&](std::uint64_t sum) { return fmt::format("{:.2f}", mean(sum) / 1e3); };
    const std::string rate =
        c.cold_ns > c.hot_ns
            ? fmt::format("{:.2f}", static_cast<double>(c.bytes) / static_cast<double>(c.cold_ns - c.hot_ns))
            : "-";
    t.row(r.types[c.type], {std::to_string(c.samples), fmt::format("{:.0f}", mean(c.bytes)), us(c.plain_ns),
                            us(c.cold_ns), us(c.warm_ns), us(c.hot_ns), rate});
  }
  fmt::print("{}", t.text());
}

outcome calibrate_program(const calibrate_options& o) {
  const std::string file = o.file.empty() ? "kith.rec" : o.file;
  refuse_output("--output", file, {o.machine});
  refuse_to_replace(file);
  if (!o.machine.empty()) core_rates_of(o.machine);  // refuses a wrong machine before anything runs
  progress bar;
  recording plain = recorded(o, file, 0, bar);
  if (plain.meta_or("workers", "") != "1")
    throw error(o.program.front() + " ran on " + plain.meta_or("workers", "?") +
                " workers; expected one: leave out what asks for more");
  const recording again = recorded(o, file + ".again", o.samples, bar);
  bar.stage("memory");
  const core_rates rates = o.machine.empty() ? measure_core_rates() : core_rates_of(o.machine);
  const std::size_t used = add_calibration(plain, again, rates);
  write_recording(plain, file, [&](const char* what, double share) { bar.share(what, share); });
  bar.clear();
  if (used == 0) {
    fmt::print(
        stderr,
        "kith calibrate: {}: recorded, but not calibrated: no task has accesses that can be saved and restored\n",
        file);
    return outcome::limited;
  }
  print_table(plain);
  fmt::print(stderr, "kith calibrate: {}: {} tasks, {} of them run again\n", file, plain.tasks.size(), used);
  return outcome::fine;
}

/// Throws unless `file` is a description, whose table can be replaced: before anything is measured.
void refuse_no_description(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw error("--output " + file +
                ": there is no such file, and only its table [scheduler] would be measured; make it by `kith machine "
                "--probe -o " +
                file + "`, or from a copy of another machine's description");
  refuse_output("--output", file, {});
  model_from_file(file);
}

outcome calibrate_scheduler(const calibrate_options& o) {
  if (!o.file.empty()) refuse_no_description(o.file);
  progress bar;
  const std::string text = scheduler_table(bar);
  bar.clear();
  if (o.file.empty()) {
    fmt::print("{}", text);
    return outcome::fine;
  }
  put_scheduler_table(o.file, text);
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_calibrate(CLI::App& command) {
  auto o = std::make_shared<calibrate_options>();
  command
      .add_option("-o,--output", o->file,
                  "the recording to make (kith.rec), or with --scheduler the machine's description to change (none: "
                  "the table is printed)")
      ->type_name("FILE");
  CLI::Option* const scheduler =
      command.add_flag("--scheduler", o->scheduler, "measure what the scheduler's own work costs on this machine");
  command.add_option("--samples", o->samples, "tasks of each type and size that are run again (64)")
      ->check(whole_number(1, 1 << 20))
      ->excludes(scheduler);
  command
      .add_option("--machine", o->machine, "this machine's description, from `kith machine --probe` (measured anew)")
      ->excludes(scheduler)
      ->type_name("MACHINE|FILE");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->excludes(scheduler)
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith calibrate [-o FILE] -- PROGRAM ARGS     PROGRAM may be `kith app NAME ...`\n"
      "usage: kith calibrate --scheduler [-o MACHINE.toml]\n"
      "PROGRAM is recorded on one worker, and run a second time, in which some of its tasks are repeated: with their "
      "data out of the caches (cold), and in them (hot). `kith sim` takes hot times for computing, and what cold ones "
      "take longer for memory. What a repeated task has declared to write is restored; what it writes beside that is "
      "not. Tasks without accesses, with concurrent ones, with a function that changes itself, or that create tasks "
      "are not repeated.\n"
      "Exit code: 0; 1 if no task could be calibrated (the recording is there); 2 for a wrong command line, or a "
      "program that fails.");
  return [o] {
    if (o->scheduler) return calibrate_scheduler(*o);
    if (o->program.empty()) throw error("what is to be calibrated? expected -- PROGRAM ARGS, or --scheduler");
    return calibrate_program(*o);
  };
}

}  // namespace kith::tools
