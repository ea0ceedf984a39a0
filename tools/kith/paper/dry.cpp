#include "paper/dry.hpp"

#include "child.hpp"
#include "recording/file.hpp"

#include <kith/error.hpp>

#include <unistd.h>
#include <filesystem>

namespace kith::tools {

namespace fs = std::filesystem;

sim::program record_dry(const std::vector<std::string>& program, const std::string& machine, int workers,
                        const std::string& policy) {
  const fs::path file = fs::temp_directory_path() / ("kith-" + std::to_string(::getpid()) + ".rec");
  std::vector<std::string> words{"kith", "app"};
  words.insert(words.end(), program.begin(), program.end());
  for (const std::string& w :
       {std::string("--machine"), machine, std::string("--workers"), std::string("1"), std::string("--owners"),
        std::to_string(workers), std::string("--policy"), policy, std::string("--json")})
    words.push_back(w);
  const child_result done = run_child(words, {{"KITH_RECORD", file.string()}, {"KITH_DRY", "1"}}, true);
  if (!done.clean()) throw error("recording " + program.front() + " failed: kith app " + program.front());
  recording r = read_recording(file.string());
  std::error_code ignored;
  fs::remove(file, ignored);
  r.worker_node.resize(static_cast<std::size_t>(workers));  // colors are shares of these workers
  return sim::program_of(std::move(r));
}

}  // namespace kith::tools
