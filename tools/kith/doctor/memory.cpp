// Whether this process may place memory. Each answer comes from trying it, not from a version number.
#include "doctor/checks.hpp"
#include "doctor/files.hpp"

#include "machine/machine.hpp"
#include "memory/numa_calls.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace kith::tools {

namespace {

std::string answer(int error) { return error == 0 ? "allowed" : std::string("refused: ") + std::strerror(error); }

}  // namespace

finding check_memory_policy(const machine& here) {
  const numa::rights& r = numa::process_rights();
  const std::string mode = r.get == 0 ? numa::mode_name(r.mode) : "unknown";
  finding f{.key = "memory_policy"};
  const bool all = r.get == 0 && r.set == 0 && r.bind == 0 && r.where == 0 && r.move == 0;
  f.details = {{"mode", mode},
               {"get_mempolicy", answer(r.get)},
               {"set_mempolicy", answer(r.set)},
               {"mbind", answer(r.bind)},
               {"page_lookup", answer(r.where)},
               {"move_pages", answer(r.move)}};
  if (all) {
    f.fact = fmt::format("memory can be placed, moved and looked up by node; this process's policy is '{}'", mode);
  } else {
    f.fact = fmt::format(
        "the system does not let this process place memory (get_mempolicy {}, set_mempolicy {}, mbind {}, "
        "page lookup {}, move_pages {})",
        answer(r.get), answer(r.set), answer(r.bind), answer(r.where), answer(r.move));
  }
  const bool foreign = r.get == 0 && mode != "default" && mode != "local";
  f.effect = here.nodes.size() > 1 && !here.pretended
                 ? r.can_place()
                       ? "memory from kith::allocate is spread as it says; other data is at home where it is "
                         "first used, as the system's first touch has it"
                       : "a region's home is the node of the worker that first uses it, as the system's first "
                         "touch has it; distributions of kith::allocate have no effect"
                 : "one memory node, or pretended ones: there is nothing to place";
  if (here.nodes.size() > 1 && !here.pretended) {
    if (!all) {
      f.is = verdict::limited;
      f.advice = "in a container, add the right (docker: --cap-add SYS_NICE)";
    } else if (foreign) {
      f.is = verdict::limited;
      f.advice = "started under numactl, perhaps: without it, pages lie where they are first touched, as Kith assumes";
    }
  } else if (!all) {
    f.is = verdict::note;
  }
  return f;
}

finding check_page_migration(const machine& here) {
  finding f{.key = "numa_balancing"};
  const std::string setting = first_line("/proc/sys/kernel/numa_balancing").value_or("absent");
  const bool on = setting != "0" && setting != "absent";
  f.details = {{"setting", setting}};
  f.fact =
      on ? "the kernel moves pages between nodes by itself (numa_balancing)" : "the kernel leaves pages where they are";
  f.effect = on && here.nodes.size() > 1 ? "a region's home may become wrong in long runs"
                                         : "homes stay as they were at first touch";
  if (on && here.nodes.size() > 1 && !here.pretended) {
    f.is = verdict::note;
    f.advice = "for measurements: sysctl kernel.numa_balancing=0";
  }
  return f;
}

finding check_huge_pages() {
  finding f{.key = "huge_pages"};
  const std::string setting = chosen_word("/sys/kernel/mm/transparent_hugepage/enabled").value_or("absent");
  const std::string reserved = first_line("/proc/sys/vm/nr_hugepages").value_or("0");
  f.details = {{"transparent", setting}, {"reserved", reserved}};
  f.fact = fmt::format("transparent huge pages: {}; reserved huge pages: {}", setting, reserved);
  if (setting == "never" || setting == "absent") {
    f.is = setting == "never" ? verdict::limited : verdict::note;
    f.effect = "large data is mapped in small pages: more address translation, and first touch decides for each 4 KiB";
    if (setting == "never") f.advice = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root";
  } else if (setting == "always") {
    f.effect =
        "large data gets huge pages; on several nodes Kith asks for small ones where a huge page would have two homes";
  } else {
    f.effect =
        "a program gets huge pages where it asks for them with madvise; Kith does for memory whose distribution says "
        "huge";
  }
  return f;
}

}  // namespace kith::tools
