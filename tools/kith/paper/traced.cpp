#include "paper/traced.hpp"

#include "addresses/sources.hpp"
#include "child.hpp"
#include "engine/sim/line_memory.hpp"
#include "recording/assemble.hpp"

#include <kith/error.hpp>

#include <unistd.h>
#include <filesystem>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

fs::path folder_of_this() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string traced_programs() {
  if (const std::optional<std::string> found = find_traced_programs()) return *found;
  throw error("this build has no programs that record their addresses (kith-traced is not beside " +
              folder_of_this().string() + "/kith); build them: ninja kith_traced_programs, without a sanitizer");
}

}  // namespace

std::optional<std::string> find_traced_programs() {
  const fs::path here = folder_of_this();
  for (const fs::path& folder : {here, here.parent_path() / KITH_LIBRARIES / "kith"}) {
    if (fs::exists(folder / "kith-traced")) return folder / "kith-traced";
  }
  return std::nullopt;
}

sim::program record_traced(const std::vector<std::string>& program, const machine_model& m) {
  const std::string file = fs::temp_directory_path() / ("kith-traced-" + std::to_string(::getpid()));
  std::vector<std::string> words{traced_programs()};
  words.insert(words.end(), program.begin(), program.end());
  remove_parts(file);
  const child_result done = run_child(words,
                                      {{"KITH_RECORD", file},
                                       {"KITH_RECORD_PARTS", "1"},
                                       {"KITH_RECORD_ADDRESSES", "1"},
                                       {"KITH_WORKERS", "1"},
                                       {"KITH_POLICY", "fifo"}},
                                      true);
  if (!done.clean()) throw error("recording the addresses of " + program.front() + " failed");
  recording r = read_parts(parts_of(file));
  add_sources(r);
  remove_parts(file);
  sim::program p = sim::program_of(std::move(r));
  p.lines = sim::line_streams_on(p.recorded, m);
  p.recorded.streams.clear();  // the lines replace them, without accesses that surely hit
  return p;
}

}  // namespace kith::tools
