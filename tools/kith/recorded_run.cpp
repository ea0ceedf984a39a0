#include "recorded_run.hpp"

#include "addresses/sources.hpp"
#include "progress.hpp"
#include "recording/assemble.hpp"
#include "recording/file.hpp"
#include "recording/job_parts.hpp"
#include "recording/parts.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

/// Makes a recording of the parts of a runtime, or of the places of a job, and prints a summary.
void put_together(const char* verb, const std::vector<std::string>& parts, bool dry) {
  {
    progress bar;
    assemble_places(parts, [&](const char* what, double share) { bar.share(what, share); }, add_sources);
  }
  const std::string& file = parts.front();
  const recording r = read_recording(file);
  std::uint64_t touches = 0;
  for (const recorded_stream& s : r.streams) touches += s.touches;
  std::string of_places;
  if (!r.places.empty()) {
    std::uint64_t error = 0;
    for (const recorded_place& p : r.places) error = std::max(error, p.error_ns);
    of_places = fmt::format("{} places with {} messages, clocks within {:.1f} us, ", r.places.size(), r.messages.size(),
                            static_cast<double>(error) * 1e-3);
  }
  fmt::print(stderr, "{}: {}: {}{} tasks, {} accesses, {} dependences, {}{:.1f} MB{}\n", verb, file, of_places,
             r.tasks.size(), r.accesses.size(), r.dependences.size(),
             r.blocks.empty() ? "" : fmt::format("{} touches, ", touches),
             static_cast<double>(fs::file_size(file)) / 1e6, dry ? ", dry" : "");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_that_record(const std::string& file) {
  return {{"KITH_RECORD", fs::absolute(file)}, {"KITH_RECORD_PARTS", "1"}};
}

std::vector<std::string> make_recordings(const char* verb, const std::string& file, const std::string& program,
                                         const child_result& done, bool dry) {
  const std::vector<std::string> all_parts = files_with_parts(file);  // of several runtimes or programs
  if (all_parts.empty())
    throw error("nothing was recorded: " + program +
                (done.clean()
                     ? " has started no runtime of Kith; an OpenMP program is recorded by `kith run --record FILE -- "
                       "PROGRAM`"
                     : " failed before it started a runtime of Kith, or refused to record; its own message says why"));
  if (done.signal() != 0)
    fmt::print(stderr, "{}: {} was ended by signal {}; what it did until then is there\n", verb, program,
               done.signal());
  std::string failures;
  std::vector<std::string> files;
  for (const std::vector<std::string>& parts : by_job(all_parts)) {
    files.push_back(parts.front());
    try {
      refuse_to_replace(parts.front());  // FILE-2 and so on
      put_together(verb, parts, dry);
    } catch (const std::exception& e) {
      failures += std::string(failures.empty() ? "" : "; ") + e.what() + " (later: kith repair " + files.back() + ")";
    }
  }
  if (!failures.empty()) throw error(failures);
  return files;
}

}  // namespace kith::tools
