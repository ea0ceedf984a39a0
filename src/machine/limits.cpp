#include "machine/limits.hpp"

#include "base/made_once.hpp"
#include "machine/cgroup.hpp"
#include "machine/local_rank.hpp"
#include "machine/slurm.hpp"
#include "machine/text.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

namespace kith {

namespace {

constexpr std::int64_t most_cpus = 1 << 20;

/// Reads the kernel's notation of a set: "0-3,8,10-11".
std::optional<std::vector<int>> cpu_list(const std::string& list) {
  std::vector<int> cpus;
  for (const std::string& range : text::split(list, ',')) {
    const std::size_t dash = range.find('-');
    const std::optional<std::int64_t> first = text::number(range.substr(0, dash));
    const std::optional<std::int64_t> last = dash == std::string::npos ? first : text::number(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= most_cpus) return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

std::optional<std::vector<int>> affinity(const std::filesystem::path& root, std::vector<std::string>& notes) {
  const std::optional<std::string> status = text::contents(root, "/proc/self/status");
  constexpr std::string_view key = "Cpus_allowed_list:";
  for (const std::string& line : text::split(status.value_or(""), '\n')) {
    if (!line.starts_with(key)) continue;
    const std::string list = text::trimmed(line.substr(key.size()));
    const std::optional<std::vector<int>> cpus = cpu_list(list);
    if (!cpus) notes.push_back("/proc/self/status: '" + list + "' is no list of CPUs; the affinity mask is not known");
    return cpus;
  }
  notes.emplace_back("/proc/self/status: no line 'Cpus_allowed_list'; the affinity mask is not known");
  return std::nullopt;
}

}  // namespace

limits read_limits(const std::filesystem::path& root, const variables& lookup) {
  limits found;
  found.affinity = affinity(root, found.notes);
  if (const std::optional<cpu_quota> quota = cgroup_quota(root, found.notes)) {
    found.quota = quota->cpus;
    found.quota_from = quota->from;
  }
  if (const std::optional<slurm_allotment> slurm = read_slurm(lookup, found.notes)) {
    found.slurm = slurm->cpus;
    found.slurm_from = slurm->from;
  }
  found.rank = read_local_rank(lookup, found.notes);
  return found;
}

const limits& process_limits() {
  static constinit made_once<limits> found;
  return found.get([] { return read_limits("/"); });
}

int usable_cpus(const limits& l) noexcept {
  int cpus = l.affinity ? static_cast<int>(l.affinity->size()) : static_cast<int>(std::thread::hardware_concurrency());
  if (l.quota) cpus = std::min(cpus, static_cast<int>(std::ceil(*l.quota)));
  return std::max(1, cpus);
}

std::optional<int> workers_setting(std::optional<int> option) {
  if (option && (*option < 1 || *option > most_workers)) {
    throw error(
        "workers = " + std::to_string(*option) + ": expected a number from 1 to " + std::to_string(most_workers),
        error_kind::setting);
  }
  if (option) return option;
  const std::optional<std::int64_t> variable = number_of(var::workers);
  return variable ? std::optional<int>(static_cast<int>(*variable)) : std::nullopt;
}

bool oversubscribe_setting(std::optional<bool> option) {
  return option ? *option : number_of(var::oversubscribe).value_or(0) == 1;
}

}  // namespace kith
