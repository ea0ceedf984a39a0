#include "machine/slurm.hpp"

#include "machine/text.hpp"

#include <algorithm>

namespace kith {

namespace {

constexpr std::int64_t plausible = 1 << 20;

std::optional<int> positive(const variables& lookup, const char* name, std::vector<std::string>& notes) {
  const std::optional<std::string> set = lookup(name);
  if (!set) return std::nullopt;
  const std::optional<std::int64_t> value = text::number(*set);
  if (value && *value > 0 && *value <= plausible) return static_cast<int>(*value);
  notes.push_back(std::string(name) + "=" + *set + ": expected a positive number, as Slurm sets it; ignored");
  return std::nullopt;
}

/// The entry for the node with this number in Slurm's run-length list, such as "2(x3),1".
std::optional<int> entry(const std::string& list, std::int64_t node) {
  for (const std::string& item : text::split(list, ',')) {
    const std::size_t open = item.find("(x");
    const std::optional<std::int64_t> value = text::number(item.substr(0, open));
    std::optional<std::int64_t> times = 1;
    if (open != std::string::npos) {
      times = item.ends_with(')') ? text::number(item.substr(open + 2, item.size() - open - 3)) : std::nullopt;
    }
    if (!value || *value <= 0 || *value > plausible || !times || *times <= 0) return std::nullopt;
    if (node < *times) return static_cast<int>(*value);
    node -= *times;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> slurm_tasks_here(const variables& lookup) {
  const std::optional<std::string> list = lookup("SLURM_STEP_TASKS_PER_NODE");
  const std::optional<std::int64_t> node = text::number(lookup("SLURM_NODEID").value_or("0"));
  return list && node && *node >= 0 ? entry(*list, *node) : std::nullopt;
}

std::optional<slurm_allotment> read_slurm(const variables& lookup, std::vector<std::string>& notes) {
  if (const std::optional<int> cpus = positive(lookup, "SLURM_CPUS_PER_TASK", notes)) {
    return slurm_allotment{*cpus, "SLURM_CPUS_PER_TASK"};
  }
  const std::optional<int> cpus = positive(lookup, "SLURM_CPUS_ON_NODE", notes);
  if (!cpus) return std::nullopt;
  // Set only under srun, where the tasks of the step share the node's CPUs. A batch script has them to itself.
  const std::optional<std::string> list = lookup("SLURM_STEP_TASKS_PER_NODE");
  if (!list) return slurm_allotment{*cpus, "SLURM_CPUS_ON_NODE"};
  const std::optional<int> tasks = slurm_tasks_here(lookup);
  if (!tasks) {
    notes.push_back("SLURM_STEP_TASKS_PER_NODE=" + *list + ": no number of tasks for node " +
                    lookup("SLURM_NODEID").value_or("0") + "; taken as one task");
  }
  return slurm_allotment{std::max(1, *cpus / tasks.value_or(1)), "SLURM_CPUS_ON_NODE / SLURM_STEP_TASKS_PER_NODE"};
}

}  // namespace kith
