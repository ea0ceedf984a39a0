#include "machine/cgroup.hpp"

#include "machine/text.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace kith {

namespace {

/// A mounted hierarchy that can hold a limit.
struct hierarchy {
  bool unified = false;  // version 2
  std::string mounted_at;
  std::string shows;  // the group at the mount point (not "/" inside many containers)
};

/// Decodes the octal escapes of mount points, used for blanks and similar characters.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text.find_first_not_of("01234567", i + 1) > i + 3) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool has_item(const std::string& list, std::string_view item) {
  const std::vector<std::string> items = text::split(list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

/// Reads lines of mountinfo: "36 35 98:0 /group /at rw,... [tags] - type source options".
std::vector<hierarchy> hierarchies(const std::string& mountinfo, std::string_view controller) {
  std::vector<hierarchy> found;
  for (const std::string& line : text::split(mountinfo, '\n')) {
    const std::vector<std::string> f = text::split(line, ' ');
    const auto dash = std::find(f.begin(), f.end(), "-");
    if (f.size() < 6 || f.end() - dash < 4) continue;
    const std::string& type = dash[1];
    if (type == "cgroup2" || (type == "cgroup" && has_item(dash[3], controller))) {
      found.push_back({type == "cgroup2", unescaped(f[4]), unescaped(f[3])});
    }
  }
  return found;
}

/// The process's group in a hierarchy, from lines "id:controllers:/path" (version 2: "0::/path").
std::optional<std::string> own_group(const std::string& cgroup_file, bool unified, std::string_view controller) {
  for (const std::string& line : text::split(cgroup_file, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (unified ? line.starts_with("0::") : has_item(controllers, controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The part of the group's path below the mount point. A group outside of what is mounted (in a container that
/// sees only its own top) counts as the top.
std::string below_mount(const std::string& group, const std::string& shows) {
  if (group.find("/..") != std::string::npos) return "";
  if (shows == "/") return group == "/" ? "" : group;
  const bool inside = group == shows || group.starts_with(shows + "/");
  return inside ? group.substr(shows.size()) : "";
}

std::optional<double> quota_of(const std::string& quota, const std::string& period, const std::string& file,
                               std::vector<std::string>& notes) {
  if (quota == "max" || quota == "-1") return std::nullopt;
  const std::optional<std::int64_t> time = text::number(quota);
  const std::optional<std::int64_t> every = text::number(period);
  if (!time || !every || *time <= 0 || *every <= 0) {
    notes.push_back(file + ": '" + quota + "' of '" + period +
                    "' is no CPU quota; expected two positive numbers; ignored");
    return std::nullopt;
  }
  return static_cast<double>(*time) / static_cast<double>(*every);
}

std::optional<cpu_quota> quota_at(const std::filesystem::path& root, const std::string& group, bool unified,
                                  std::vector<std::string>& notes) {
  const std::string file = group + (unified ? "/cpu.max" : "/cpu.cfs_quota_us");
  const std::optional<std::string> found = text::contents(root, file);
  if (!found) return std::nullopt;  // no CPU controller here: no limit
  std::istringstream words(*found);
  std::string quota;
  std::string period;
  words >> quota >> period;
  if (!unified) period = text::trimmed(text::contents(root, group + "/cpu.cfs_period_us").value_or(""));
  if (unified && period.empty()) period = "100000";  // the kernel's default
  const std::optional<double> cpus = quota_of(quota, period, file, notes);
  return cpus ? std::optional<cpu_quota>({*cpus, file}) : std::nullopt;
}

/// Calls visit(folder of the group, whether version 2) for each group from the process's own up to the visible top.
template <class F>
void for_each_group(const std::filesystem::path& root, std::string_view controller, F&& visit) {
  const std::string groups = text::contents(root, "/proc/self/cgroup").value_or("");
  for (const hierarchy& h : hierarchies(text::contents(root, "/proc/self/mountinfo").value_or(""), controller)) {
    const std::optional<std::string> group = own_group(groups, h.unified, controller);
    if (!group) continue;
    for (std::string below = below_mount(*group, h.shows);; below.resize(below.rfind('/'))) {
      visit(h.mounted_at + below, h.unified);
      if (below.find('/') == std::string::npos) break;
    }
  }
}

/// The only number in a file; none for "max".
std::optional<std::uint64_t> bytes_in(const std::filesystem::path& root, const std::string& file) {
  const std::optional<std::int64_t> n = text::number(text::trimmed(text::contents(root, file).value_or("")));
  return n && *n >= 0 ? std::optional(static_cast<std::uint64_t>(*n)) : std::nullopt;
}

/// The part of a group's memory that is page cache and can be reclaimed.
std::uint64_t reclaimable(const std::filesystem::path& root, const std::string& group) {
  for (const std::string& line : text::split(text::contents(root, group + "/memory.stat").value_or(""), '\n')) {
    const std::string_view key = "inactive_file ";
    if (line.starts_with(key))
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, text::number(line.substr(key.size())).value_or(0)));
  }
  return 0;
}

}  // namespace

std::optional<cpu_quota> cgroup_quota(const std::filesystem::path& root, std::vector<std::string>& notes) {
  std::optional<cpu_quota> tightest;
  for_each_group(root, "cpu", [&](const std::string& group, bool unified) {
    const std::optional<cpu_quota> here = quota_at(root, group, unified, notes);
    if (here && (!tightest || here->cpus < tightest->cpus)) tightest = here;
  });
  return tightest;
}

std::optional<group_memory> cgroup_memory(const std::filesystem::path& root) {
  std::optional<group_memory> least;
  for_each_group(root, "memory", [&](const std::string& group, bool unified) {
    const std::string file = group + (unified ? "/memory.max" : "/memory.limit_in_bytes");
    const std::optional<std::uint64_t> limit = bytes_in(root, file);
    if (!limit) return;
    const std::uint64_t used =
        bytes_in(root, group + (unified ? "/memory.current" : "/memory.usage_in_bytes")).value_or(0);
    const std::uint64_t held = used - std::min(used, reclaimable(root, group)), left = *limit - std::min(*limit, held);
    if (!least || left < least->left) least = group_memory{left, file};
  });
  return least;
}

}  // namespace kith
