// kith record: runs a program that uses Kith, and keeps what it did in a file.
#include "verbs.hpp"

#include "child.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "recording/assemble.hpp"
#include "recording/file.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

struct options {
  std::string file = "kith.rec";
  bool dry = false;
  std::vector<std::string> program;
};

/// Makes a recording of its parts, and prints what is in it.
void put_together(const std::string& file, bool dry) {
  {
    progress bar;
    assemble_parts(file, [&](const char* what, double share) { bar.share(what, share); });
  }
  const recording r = read_recording(file);
  fmt::print(stderr, "kith record: {}: {} tasks, {} accesses, {} dependences, {:.1f} MB{}\n", file, r.tasks.size(),
             r.accesses.size(), r.dependences.size(), static_cast<double>(fs::file_size(file)) / 1e6,
             dry ? ", dry" : "");
}

outcome record(const options& o) {
  refuse_output("--output", o.file, {});  // before the program runs: it could not put its recording there
  remove_parts(o.file);
  std::vector<std::pair<std::string, std::string>> set{{"KITH_RECORD", fs::absolute(o.file)},
                                                       {"KITH_RECORD_PARTS", "1"}};
  if (o.dry) set.emplace_back("KITH_DRY", "1");
  const child_result done = run_child(o.program, set);
  const bool clean = done.clean();
  const std::vector<std::string> files = files_with_parts(o.file);  // of several runtimes or programs
  if (files.empty())
    throw error("nothing was recorded: " + o.program.front() +
                (clean ? " has started no runtime of Kith" : " failed before it started a runtime of Kith"));
  if (done.signal() != 0)
    fmt::print(stderr, "kith record: {} was ended by signal {}; what it did until then is there\n", o.program.front(),
               done.signal());
  std::string failures;
  for (const std::string& file : files) {
    try {
      put_together(file, o.dry);
    } catch (const std::exception& e) {
      failures += std::string(failures.empty() ? "" : "; ") + e.what() + " (later: kith repair " + file + ")";
    }
  }
  if (!failures.empty()) throw error(failures);
  return clean ? outcome::fine : outcome::limited;
}

}  // namespace

std::function<outcome()> add_record(CLI::App& command) {
  auto o = std::make_shared<options>();
  command
      .add_option("-o,--output", o->file,
                  "the recording to make (kith.rec); one that is there is replaced; of more runs: FILE-2, ...")
      ->type_name("FILE");
  command.add_flag("--dry", o->dry, "run no task that says what it costs (kith::work): only record it");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith record [--dry] [-o FILE] -- PROGRAM ARGS     PROGRAM may be `kith app NAME ...`\n"
      "PROGRAM is any program that uses Kith. The same without this command: KITH_RECORD=FILE PROGRAM ARGS. A "
      "recording is a SQLite database: docs/recording-format.md. `kith sim FILE` runs it on other machines.\n"
      "If it makes several runtimes, or starts programs that do, each has its own: FILE, FILE-2, ... Ctrl-C ends "
      "PROGRAM; what it did is kept.\n"
      "Exit code: 0; 1 if PROGRAM failed or was killed (what it did is recorded all the same); 2 for a wrong command "
      "line, or if nothing was recorded.");
  return [o] { return record(*o); };
}

}  // namespace kith::tools
