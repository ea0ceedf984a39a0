#include "fork_systems.hpp"

#include "systems.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#ifndef KITH_BENCH_RUST  // the crate's folder; the build names it from the root of the file system
#define KITH_BENCH_RUST "bench/forkjoin/rust"
#endif

namespace kith::bench {

namespace {

std::filesystem::path own_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

/// Runs cargo once, which builds nothing if all is up to date. Throws with the end of cargo's output.
void build_with_cargo() {
  static const std::string failure = [] {
    const std::string command = "cargo build --release --locked --quiet --manifest-path '" KITH_BENCH_RUST
                                "/Cargo.toml' --target-dir '" +
                                (own_folder() / "rust").string() + "' 2>&1";
    std::FILE* const out = popen(command.c_str(), "r");
    if (out == nullptr) return std::string("cargo cannot be started");
    std::string said;
    for (int c; (c = std::fgetc(out)) != EOF;) said += static_cast<char>(c);
    if (pclose(out) == 0) return std::string();
    return "cargo cannot build it: " + (said.size() > 300 ? said.substr(said.size() - 300) : said);
  }();
  if (!failure.empty()) throw std::runtime_error(failure);
}

}  // namespace

const std::vector<fork_system>& all_fork_systems() {
  static const std::vector<fork_system> all{{"kith-join", {}},
                                            {"kith-coroutine", {}},
                                            {"kith-spawn", {}},
                                            {"serial", {}},
                                            {"onetbb", {}},
                                            {"libgomp", bound_openmp()},
                                            {"libomp", bound_openmp()},
                                            {"rayon", {}},
                                            {"chili", {}},
                                            {"lace", {}},
                                            {"libfork", {}}};
  return all;
}

std::filesystem::path program_of_fork(const std::string& system) {
  const std::string name = "kith-bench-fork-" + system;
  const bool by_cargo = system == "rayon" || system == "chili";
  if (by_cargo) build_with_cargo();
  const std::filesystem::path program = by_cargo ? own_folder() / "rust" / "release" / name : own_folder() / name;
  if (std::filesystem::exists(program)) return program;
  throw std::runtime_error(program.string() + " was not built; " + remedy_for(system));
}

}  // namespace kith::bench
