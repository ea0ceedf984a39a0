#include "recording/job_parts.hpp"

#include "recording/gather.hpp"
#include "recording/parts.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

namespace kith {

std::vector<std::vector<std::string>> by_job(const std::vector<std::string>& files) {
  std::vector<std::vector<std::string>> all;
  std::unordered_map<std::uint64_t, std::size_t> of_job;
  for (const std::string& f : files) {
    const std::uint64_t job = job_of_parts(parts_of(f));
    const auto [at, fresh] = of_job.try_emplace(job, all.size());
    if (fresh || job == 0) {
      all.push_back({f});
    } else {
      all[at->second].push_back(f);
    }
  }
  return all;
}

std::vector<std::string> parts_of_job(const std::string& file) {
  const std::uint64_t job = job_of_parts(parts_of(file));
  if (job == 0) return {file};
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
  const std::string suffix = parts_of("");
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(suffix) || !entry.is_directory() || job_of_parts(entry.path().string()) != job) continue;
    const std::string other = name.substr(0, name.size() - suffix.size());
    all.push_back(fs::path(file).has_parent_path() ? (folder / other).string() : other);
  }
  std::ranges::sort(all, {}, [](const std::string& f) { return std::pair(f.size(), f); });
  return all;
}

}  // namespace kith
