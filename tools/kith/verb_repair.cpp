// kith repair: assembles the recording of a run that was killed.
#include "verbs.hpp"

#include "addresses/sources.hpp"
#include "progress.hpp"
#include "recording/assemble.hpp"
#include "recording/file.hpp"
#include "recording/job_parts.hpp"
#include "recording/parts.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace kith::tools {

namespace fs = std::filesystem;

std::function<outcome()> add_repair(CLI::App& command) {
  auto file = std::make_shared<std::string>();
  command.add_option("file", *file, "the recording that was to be made; its parts lie in FILE.parts")
      ->required()
      ->type_name("FILE");
  command.footer(
      "A run that is recorded writes FILE.parts, and makes FILE of it when it ends. If it was killed, the parts hold "
      "everything up to then; this makes FILE of them. Tasks that had not ended have no end there.\n"
      "Exit code: 0, or 2 if there are no parts, or they cannot be read.");
  return [file] {
    progress bar;
    std::error_code ignored;
    if (fs::is_regular_file(*file, ignored) && !fs::exists(parts_of(*file), ignored)) {
      read_recording(*file);  // throws if it is none
      fmt::print("{} has been put together already: there is no {}\n", *file, parts_of(*file));
      return outcome::fine;
    }
    const std::vector<std::string> together = parts_of_job(*file);
    assemble_places(together, [&](const char* what, double share) { bar.share(what, share); }, add_sources);
    if (together.front() != *file)
      fmt::print(stderr, "kith repair: {} is of one job with {}, which has both now\n", *file, together.front());
    fmt::print("{}: put together\n", together.front());
    return outcome::fine;
  };
}

}  // namespace kith::tools
