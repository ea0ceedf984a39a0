#include "machine/memory_left.hpp"

#include "machine/cgroup.hpp"
#include "machine/text.hpp"

#include <sstream>

namespace kith {

std::optional<memory_left> read_memory_left(const std::filesystem::path& root) {
  std::optional<memory_left> least;
  const std::string file = "/proc/meminfo";
  std::istringstream lines(text::contents(root, file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") least = memory_left{kib * 1024, file};
  }
  const std::optional<group_memory> group = cgroup_memory(root);
  if (group && (!least || group->left < least->bytes)) least = memory_left{group->left, group->from};
  return least;
}

}  // namespace kith
