// kith run: runs an OpenMP program on Kith.
#include "verbs.hpp"

#include "base/environment.hpp"
#include "base/variables.hpp"
#include "child.hpp"
#include "named.hpp"
#include "output.hpp"
#include "placeholders.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/list.hpp"
#include "recorded_run.hpp"
#include "recording/file.hpp"
#include "recording/parts.hpp"
#include "run/openmp_program.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

struct openmp_options {
  std::string policy, record, library;
  std::optional<int> threads;
  std::vector<std::string> program;
};

/// From the build folder, or else from where it was installed.
std::string find_replacement(const std::string& name) {
  namespace fs = std::filesystem;
  // An installed tree may have been moved.
  const fs::path moved = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / KITH_LIBRARIES;
  for (const fs::path& folder : {fs::path(KITH_BUILT_LIBRARIES), fs::path(KITH_INSTALLED_LIBRARIES), moved}) {
    if (fs::exists(folder / name)) return (folder / name).string();
  }
  throw error(name + " is neither in " + KITH_BUILT_LIBRARIES + " nor in " + KITH_INSTALLED_LIBRARIES +
              "; build it by `cmake --build build/release` (x86-64 Linux), or name it by --library PATH");
}

/// The libraries to load in front of the program's own, as LD_PRELOAD has them.
std::string libraries_for(const std::string& program, const std::string& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (named.empty()) {
    // Names without a version are found in the first one.
    for (const char* const name : replacements_for(program)) files.push_back(find_replacement(name));
  } else {
    if (!fs::is_regular_file(named))
      throw error("--library " + named + ": no such file; expected the path of libkith_gomp.so or libkith_omp.so");
    refuse_other_library(named);
    files.push_back(named);
  }
  std::string all;
  for (const std::string& file : files) {
    const std::string whole = fs::absolute(file).string();
    // The dynamic linker splits LD_PRELOAD at the first two, replaces names after the third, and knows no quotes.
    if (whole.find_first_of(" :$") != std::string::npos)
      throw error(
          whole +
          ": a library with a space, a colon or a dollar sign in its path cannot be loaded in front of others; copy it "
          "elsewhere, and name the copy by --library PATH");
    all += (all.empty() ? "" : ":") + whole;
  }
  return all;
}

/// Throws for a policy, or an option of one, that is not known: the program would otherwise fail only at its first
/// region.
void refuse_unknown_policy(std::string text) {
  take_migration(text);
  const std::string name = text.substr(0, text.find(':'));
  const std::vector<policy_entry> all = policy_list();
  const std::vector<std::string> names = names_of(all, &policy_entry::name);
  if (std::ranges::count(names, name) == 0 && std::ranges::count(policy_names(), name) != 0)
    throw error(
        fmt::format("policy '{}': it imposes an order of tasks that members of an OpenMP team do not have; there are: "
                    "{}",
                    name, fmt::join(names, ", ")));
  const policy_entry found = chosen("policy", all, &policy_entry::name, {name}).front();
  const policy_options checked(text, found.options);
}

outcome run_openmp(const openmp_options& o) {
  if (!o.policy.empty()) refuse_unknown_policy(o.policy);
  const std::string& name = o.program.front();
  const std::string file = name == "kith" ? "/proc/self/exe" : file_of_program(name);
  refuse_other_programs(file);
  std::string library = libraries_for(file, o.library);
  std::vector<std::pair<std::string, std::string>> set;
  if (const char* const before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0')
    library += std::string(":") + before;
  set.emplace_back("LD_PRELOAD", library);
  if (!o.policy.empty()) set.emplace_back(var::policy.name, o.policy);
  if (o.threads) set.emplace_back("OMP_NUM_THREADS", std::to_string(*o.threads));
  if (!o.record.empty()) {
    if (value_of(var::record_parts))
      throw error("--record " + o.record + ": `kith record` records this run; give the file to one of the two");
    refuse_output("--record", o.record, {name});
    refuse_to_replace(o.record);
    remove_parts(o.record);
    for (auto& s : settings_that_record(o.record)) set.push_back(std::move(s));
  }
  const child_result done = run_child(o.program, set, false, true);
  bool told = false;  // of a signal
  if (!o.record.empty()) {
    try {
      make_recordings("kith run", o.record, name, done, false);
      told = true;
    } catch (const std::exception& e) {
      fmt::print(stderr, "kith run: --record {}: {}\n", o.record, e.what());
    }
  }
  if (const int signal = done.signal(); signal != 0) {
    if (!told) fmt::print(stderr, "kith run: {} was ended by signal {} ({})\n", name, signal, strsignal(signal));
    return static_cast<outcome>(128 + signal);
  }
  return static_cast<outcome>(WEXITSTATUS(done.status));
}

}  // namespace

std::function<outcome()> add_run(CLI::App& command) {
  auto o = std::make_shared<openmp_options>();
  command.add_option("--policy", o->policy, "the policy, with options (KITH_POLICY, \"auto\"); see `kith policies`")
      ->check(some_text())
      ->type_name("POLICY");
  command
      .add_option("--threads", o->threads,
                  "threads of a parallel region, instead of OMP_NUM_THREADS with all its levels (as many as cores)")
      ->check(whole_number(1, var::workers.most));
  command
      .add_option(
          "--record", o->record,
          "record the run in this file, for `kith report`, `kith sim` and others; of more programs, or sizes of "
          "teams: FILE-2, ...")
      ->check(some_text())
      ->type_name("FILE");
  command
      .add_option(
          "--library", o->library,
          "the only library to load in front of the program's own; default: Kith's libkith_gomp.so and libkith_omp.so")
      ->check(some_text())
      ->type_name("PATH");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith run [--policy POLICY] [--threads N] [--record FILE] -- PROGRAM ARGS\n"
      "PROGRAM is an OpenMP program that GCC or Clang has compiled (-fopenmp) and linked with the shared libgomp or "
      "libomp; it need not be built again. docs/openmp.md says what is supported. The same without this command: "
      "LD_PRELOAD=.../libkith_gomp.so KITH_POLICY=... PROGRAM ARGS (GCC), or libkith_omp.so (Clang).\n"
      "Programs that PROGRAM starts run on Kith, too, if they use OpenMP: PROGRAM may be a script.\n"
      "Exit code: that of PROGRAM; 128 and the signal's number if a signal ended it; 2 for a wrong command line, or if "
      "PROGRAM cannot run on Kith.");
  return [o] { return run_openmp(*o); };
}

}  // namespace kith::tools
