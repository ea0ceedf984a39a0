// kith run: runs an OpenMP program that GCC has compiled, on Kith.
#include "verbs.hpp"

#include "base/nearest.hpp"
#include "base/variables.hpp"
#include "child.hpp"
#include "output.hpp"
#include "placeholders.hpp"
#include "run/openmp_program.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

struct openmp_options {
  std::string policy, record, library;
  std::optional<int> threads;
  std::vector<std::string> program;
};

/// The library that is loaded in front of libgomp: from the build folder, or else from where it was installed.
std::string find_gomp_library(const std::string& named) {
  namespace fs = std::filesystem;
  std::string file = named;
  if (named.empty()) {
    for (const char* known : {KITH_BUILT_GOMP, KITH_INSTALLED_GOMP}) {
      if (file.empty() && fs::exists(known)) file = known;
    }
    if (file.empty()) {
      // An installed tree may have been moved.
      const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / KITH_LIBRARIES;
      if (fs::exists(beside / "libkith_gomp.so")) file = (beside / "libkith_gomp.so").string();
    }
    if (file.empty())
      throw error(std::string("libkith_gomp.so is neither at ") + KITH_BUILT_GOMP + " nor at " + KITH_INSTALLED_GOMP +
                  "; build it by `cmake --build build/release --target kith_gomp` (x86-64 Linux), or name it by "
                  "--library PATH");
  } else if (!fs::is_regular_file(named)) {
    throw error("--library " + named + ": no such file; expected the path of libkith_gomp.so");
  } else {
    refuse_other_library(named);
  }
  file = fs::absolute(file).string();
  // The dynamic linker splits LD_PRELOAD at the first two, replaces names after the third, and knows no quotes.
  if (file.find_first_of(" :$") != std::string::npos)
    throw error(
        file +
        ": a library with a space, a colon or a dollar sign in its path cannot be loaded in front of others; copy it "
        "elsewhere, and name the copy by --library PATH");
  return file;
}

/// Throws for a policy that is not known. Its options are read by the runtime that gets them.
void refuse_unknown_policy(const std::string& policy) {
  const std::vector<std::string> names = policy_names();
  const std::string name = policy.substr(0, policy.find(':'));
  if (std::ranges::find(names, name) == names.end()) throw error(no_such("policy", name, names));
}

outcome run_openmp(const openmp_options& o) {
  if (!o.policy.empty()) refuse_unknown_policy(o.policy);
  std::string library = find_gomp_library(o.library);
  const std::string& name = o.program.front();
  if (name != "kith") refuse_other_programs(file_of_program(name));
  std::vector<std::pair<std::string, std::string>> set;
  if (const char* const before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0')
    library += std::string(":") + before;
  set.emplace_back("LD_PRELOAD", library);
  if (!o.policy.empty()) set.emplace_back(var::policy.name, o.policy);
  if (o.threads) set.emplace_back("OMP_NUM_THREADS", std::to_string(*o.threads));
  if (!o.record.empty()) {
    refuse_output("--record", o.record, {name});
    set.emplace_back(var::record.name, std::filesystem::absolute(o.record).string());
  }
  const child_result done = run_child(o.program, set, false, true);
  if (!o.record.empty() && !std::filesystem::exists(o.record))
    fmt::print(
        stderr,
        "kith run: {} was not made: {} ended inside of a parallel region, or had none on Kith (it uses no OpenMP, or "
        "cleared its environment)\n",
        o.record, name);
  if (const int signal = done.signal(); signal != 0) {
    fmt::print(stderr, "kith run: {} was ended by signal {} ({})\n", name, signal, strsignal(signal));
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
  command.add_option("--threads", o->threads, "threads of a parallel region (OMP_NUM_THREADS, as many as cores)")
      ->check(whole_number(1, var::workers.most));
  command.add_option("--record", o->record, "record the run in this file, for `kith report`, `kith sim` and others")
      ->check(some_text())
      ->type_name("FILE");
  command
      .add_option("--library", o->library, "the library to load in front of libgomp; default: Kith's libkith_gomp.so")
      ->check(some_text())
      ->type_name("PATH");
  command.add_option("program", o->program, "what to run, and its arguments, after --")
      ->required()
      ->type_name("PROGRAM ARGS");
  command.footer(
      "usage: kith run [--policy POLICY] [--threads N] [--record FILE] -- PROGRAM ARGS\n"
      "PROGRAM is an OpenMP program that GCC has compiled (-fopenmp) and linked with the shared libgomp; it need not "
      "be built again. docs/openmp.md says what is supported. The same without this command: "
      "LD_PRELOAD=.../libkith_gomp.so KITH_POLICY=... PROGRAM ARGS.\n"
      "Programs that PROGRAM starts run on Kith, too, if they use OpenMP: PROGRAM may be a script.\n"
      "Exit code: that of PROGRAM; 128 and the signal's number if a signal ended it; 2 for a wrong command line, or if "
      "PROGRAM cannot run on Kith.");
  return [o] { return run_openmp(*o); };
}

}  // namespace kith::tools
