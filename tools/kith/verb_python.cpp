// The verbs that are written in Python (python/kith/verbs): their command lines are declared here, for help, man pages
// and completion, and passed on as they were read.
#include "verbs.hpp"

#include "child.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <sys/wait.h>
#include <filesystem>
#include <memory>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

/// Asks an interpreter whether it has the package. -P excludes a folder kith in the current directory.
const std::vector<std::string> is_it_there = {"-P", "-c",
                                              "from importlib.util import find_spec as f; import sys; sys.exit(0 if "
                                              "f('kith') and f('kith.command_line') else 1)"};

fs::path own_path() { return fs::read_symlink("/proc/self/exe"); }

/// The virtual environment that `make` builds next to this program's folder, or else the python3 in PATH. Throws
/// kith::error if neither has the package.
std::string interpreter() {
  const fs::path made = own_path().parent_path().parent_path() / "venv" / "bin" / "python3";
  std::error_code ignored;
  for (const std::string& python : {made.string(), std::string("python3")}) {
    if (python != "python3" && !fs::exists(made, ignored)) continue;
    try {
      std::vector<std::string> asked = {python};
      asked.insert(asked.end(), is_it_there.begin(), is_it_there.end());
      if (run_child(asked, {}, true).clean()) return python;
    } catch (const error&) {  // it cannot be started: tries the next one
    }
  }
  fs::path source = own_path().parent_path().parent_path().parent_path() / "python";
  if (!fs::exists(source / "pyproject.toml", ignored)) source = "./python";
  throw error(
      fmt::format("this verb is written in Python, and the package kith is not installed; install it: python3 -m "
                  "pip install {} (a folder of Kith's source), or `make python` there",
                  source.string()));
}

/// Turns the given options and arguments back into words.
std::vector<std::string> given(const CLI::App& command) {
  std::vector<std::string> words, positional;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_name() == "--help") continue;
    if (option->get_positional()) {
      positional.insert(positional.end(), option->results().begin(), option->results().end());
    } else if (option->get_items_expected_max() == 0) {
      words.push_back("--" + option->get_lnames().front());
    } else {
      for (const std::string& value : option->results())
        words.push_back("--" + option->get_lnames().front() + "=" + value);
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), positional.begin(), positional.end());
  return words;
}

std::function<outcome()> pass_on(CLI::App& command) {
  return [&command] {
    std::vector<std::string> words = {interpreter(),     "-P", "-m", "kith", "--tool=" + own_path().string(),
                                      command.get_name()};
    const std::vector<std::string> rest = given(command);
    words.insert(words.end(), rest.begin(), rest.end());
    const child_result done = run_child(words, {});
    if (!WIFEXITED(done.status)) throw error(fmt::format("python3 was ended by signal {}", done.signal()));
    return static_cast<outcome>(WEXITSTATUS(done.status));
  };
}

// CLI11 takes a const std::string as the text of an option that has no variable of its own.
CLI::Option* add_file(CLI::App& command, const char* name, const std::string& text) {
  return command.add_option(name, text)->required()->type_name("FILE")->expected(1);
}
/// Any number of files.
CLI::Option* add_files(CLI::App& command, const char* name, const std::string& text) {
  using words = std::vector<std::string>;
  return command.add_option_function<words>(name, [](const words&) {}, text)->type_name("FILE");
}
CLI::Option* add_value(CLI::App& command, const char* name, const char* type, const std::string& text) {
  return command.add_option(name, text)->type_name(type)->expected(1);
}
void add_switch(CLI::App& command, const char* name, const std::string& text) { command.add_flag(name, text); }
/// The options about a recording's tasks (python/kith/verbs/_filters.py).
void add_task_options(CLI::App& command) {
  add_value(command, "--counters", "FILE",
            "a run of the same program with counters, where FILE has none (as if it has addresses): tasks are found by "
            "lineage");
  add_value(command, "--where", "CONDITION",
            "only tasks of which this holds, such as 'depth > 0 and work > 1e-6'; of use are name, worker, depth, work "
            "(seconds), footprint (bytes) and on_critical_path; docs/report.md has all");
  add_value(
      command, "--below", "TASK",
      "only this task and those below it: its number, gemm:12 (the 13th of its type), or its lineage, such as R-0-3");
  add_value(command, "--top", "K:METRIC", "only the K tasks with the greatest values of a metric, such as 100:work");
}
void add_json(CLI::App& command) { add_switch(command, "--json", "write JSON"); }

constexpr const char* exits =
    "Exit code: 0, or 2 for a wrong command line or recording, or without the Python package.";

}  // namespace

std::function<outcome()> add_report(CLI::App& command) {
  add_file(command, "file", "the recording");
  add_files(command, "others", "others, each compared with it; the first is the reference for work deviation");
  add_value(command, "-o,--output", "FILE.html", "the page to write")->required();
  add_value(command, "--thresholds", "FILE.toml", "limits of problems, instead of the package's thresholds.toml");
  add_value(command, "--title", "TEXT", "the page's title (the file's name)");
  add_task_options(command);
  add_value(
      command, "--machine", "MACHINE|FILE",
      "where the run is simulated with all data local, one of `kith machines` or a file (the recording's; if it is "
      "none of them, bullion-s16-8)");
  add_switch(command, "--no-replay", "do not simulate the run with all data local");
  command.footer(std::string("Writes one HTML file that needs no network. docs/report.md says what is in it.\n") +
                 exits);
  return pass_on(command);
}

std::function<outcome()> add_compare(CLI::App& command) {
  add_file(command, "a", "a recording");
  add_file(command, "b", "another one of the same program");
  add_json(command);
  command.footer(
      std::string(
          "JSON: {\"makespan_s\": [a, b], \"causes\": [{\"what\", \"a\", \"b\", \"share\"}], "
          "\"types\": [{\"name\", \"count\": [..], \"mean_s\": [..]}], \"warnings\": [..], \"notes\": [..]}\n") +
      exits);
  return pass_on(command);
}

std::function<outcome()> add_export(CLI::App& command) {
  add_file(command, "file", "the recording");
  add_value(command, "--to", KITH_EXPORT_FORMATS, "the format")->required();
  add_value(command, "-o,--output", "FILE|FOLDER", "what to write; a folder for csv, parquet, otf2 and paraver")
      ->required();
  add_task_options(command);
  command.footer(exits);
  return pass_on(command);
}

std::function<outcome()> add_import(CLI::App& command) {
  add_file(command, "file", "what to read");
  add_value(command, "--from", KITH_IMPORT_FORMATS, "its format")->required();
  add_value(command, "-o,--output", "FILE", "the recording to write")->required();
  command.footer(exits);
  return pass_on(command);
}

std::function<outcome()> add_graph(CLI::App& command) {
  add_file(command, "file", "the recording");
  add_value(command, "--reference", "FILE", "another run of the program, for work deviation");
  add_value(command, "--thresholds", "FILE.toml", "limits of problems, instead of the package's thresholds.toml");
  add_task_options(command);
  add_switch(command, "--tree", "the tree of groups of tasks, opened where most time is");
  add_value(command, "--open", "NODE", "with --tree: from this node on, such as 1.3 (--tree prints their numbers)");
  add_value(command, "--rows", "N", "with --tree: at most N nodes (40)");
  add_json(command);
  command.footer(
      std::string("Work, span and critical path of the fragment graph, and how many tasks have which problem.\n"
                  "JSON: {\"tasks\", \"edges\", \"work_s\", \"span_s\", \"parallelism\", \"critical_path\": "
                  "[{\"task\", \"name\", \"seconds\"}], \"problems\": {name: count}, ...}; with filters also "
                  "\"selected\": [tasks];\n"
                  "with --tree: {\"nodes\": [{\"node\", \"level\", \"label\", \"tasks\", \"total_s\", ...}]}\n") +
      exits);
  return pass_on(command);
}

std::function<outcome()> add_similarity(CLI::App& command) {
  add_files(command, "file", "recordings of programs, and of their inputs")->required();
  add_value(command, "-o,--output", "FOLDER", "where pictures and tables are written")->required();
  add_json(command);
  command.footer(std::string("Which programs are alike, by principal components and clusters of what characterises "
                             "their graphs and their tasks.\n"
                             "JSON: {\"features\": [...], \"rows\": [{\"file\", \"values\": [...]}], \"components\": "
                             "[[...]], \"explained\": [...], \"clusters\": {file: n}, ...}\n") +
                 exits);
  return pass_on(command);
}

std::function<outcome()> add_top(CLI::App& command) {
  add_file(command, "file", "the recording, or the one that a program is writing");
  add_switch(command, "--once", "show it once, and leave");
  add_json(command);
  command.footer(exits);
  return pass_on(command);
}

}  // namespace kith::tools
