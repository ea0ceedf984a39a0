// May this process place memory? Each answer comes from trying it, not from a version number.
#include "doctor/checks.hpp"
#include "doctor/files.hpp"

#include "machine/machine.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace kith::tools {

namespace {

// The kernel wants room for every node it was built for; MAX_NUMNODES is at most 1024.
constexpr unsigned long most_nodes = 1024;
using node_mask = std::array<unsigned long, most_nodes / (CHAR_BIT * sizeof(unsigned long))>;

const char* mode_name(int mode) {
  switch (mode & ~MPOL_MODE_FLAGS) {
    case MPOL_DEFAULT: return "default";
    case MPOL_PREFERRED: return "preferred";
    case MPOL_BIND: return "bind";
    case MPOL_INTERLEAVE: return "interleave";
    case MPOL_LOCAL: return "local";
    default: return "other";
  }
}

struct memory_rights {
  int mode = MPOL_DEFAULT;
  int get = 0, set = 0, bind = 0, where = 0;  // errno of each; 0: allowed
};

int failure(long result) { return result >= 0 ? 0 : errno; }

memory_rights try_memory_policy() {
  memory_rights r;
  node_mask mask{};
  r.get = failure(syscall(SYS_get_mempolicy, &r.mode, mask.data(), most_nodes, nullptr, 0));
  // Set again what holds already, so that the question changes nothing.
  const bool known = r.get == 0 && r.mode != MPOL_DEFAULT;
  r.set = failure(
      syscall(SYS_set_mempolicy, known ? r.mode : MPOL_DEFAULT, known ? mask.data() : nullptr, known ? most_nodes : 0));

  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    r.bind = r.where = errno;
    return r;
  }
  node_mask allowed{};
  if (syscall(SYS_get_mempolicy, nullptr, allowed.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
    allowed[0] = 1;
  r.bind = failure(syscall(SYS_mbind, page, bytes, MPOL_BIND, allowed.data(), most_nodes, 0));
  std::memset(page, 1, bytes);
  int node = -1;
  r.where = failure(syscall(SYS_get_mempolicy, &node, nullptr, 0, page, MPOL_F_NODE | MPOL_F_ADDR));
  munmap(page, bytes);
  return r;
}

std::string answer(int error) { return error == 0 ? "allowed" : std::string("refused: ") + std::strerror(error); }

}  // namespace

finding check_memory_policy(const machine& here) {
  const memory_rights r = try_memory_policy();
  finding f{.key = "memory_policy"};
  const bool all = r.get == 0 && r.set == 0 && r.bind == 0 && r.where == 0;
  f.details = {{"mode", r.get == 0 ? mode_name(r.mode) : "unknown"},
               {"get_mempolicy", answer(r.get)},
               {"set_mempolicy", answer(r.set)},
               {"mbind", answer(r.bind)},
               {"page_lookup", answer(r.where)}};
  if (all) {
    f.fact =
        fmt::format("memory can be placed and looked up by node; this process's policy is '{}'", mode_name(r.mode));
  } else {
    f.fact = fmt::format(
        "the system does not let this process place memory (get_mempolicy {}, set_mempolicy {}, mbind {}, "
        "page lookup {})",
        answer(r.get), answer(r.set), answer(r.bind), answer(r.where));
  }
  const bool foreign =
      r.get == 0 && (r.mode & ~MPOL_MODE_FLAGS) != MPOL_DEFAULT && (r.mode & ~MPOL_MODE_FLAGS) != MPOL_LOCAL;
  f.effect = here.nodes.size() > 1 && !here.pretended
                 ? "a region's home is the node of the worker that first uses it, as the system's first touch has it"
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
    f.effect = "large data gets huge pages; first touch decides the home of 2 MiB at a time";
  } else {
    f.effect = "a program gets huge pages where it asks for them with madvise; Kith does not ask";
  }
  return f;
}

}  // namespace kith::tools
