// What the kernel reports about nodes, pages and threads, without Kith. Tests compare Kith with it.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace kith::test {

inline std::string line_of(const std::string& path) {
  std::string text;
  std::ifstream file(path);
  std::getline(file, text);
  return text;
}

/// Reads "0-2,5" from a file in the folder of nodes, or of one node.
inline std::set<int> listed(const std::string& name) {
  std::set<int> found;
  std::istringstream ranges(line_of("/sys/devices/system/node/" + name));
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::stoi(range);
    const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
    for (int n = first; n <= last; ++n) found.insert(n);
  }
  return found;
}
inline std::set<int> nodes_online() { return listed("online"); }
inline std::set<int> nodes_with_cpus() { return listed("has_cpu"); }
inline std::set<int> nodes_with_memory() { return listed("has_memory"); }
inline std::set<int> cpus_of_node(int node) { return listed("node" + std::to_string(node) + "/cpulist"); }

/// The kernel's number of the node that the page is on; negative: an error number.
inline int node_of_page(const void* address) {
  void* page = const_cast<void*>(address);
  int status = -1;
  if (syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0) != 0) return -errno;
  return status;
}

struct place {
  unsigned cpu = 0, node = 0;
};
/// Where the calling thread runs, in the kernel's numbers.
inline place here() {
  place p;
  syscall(SYS_getcpu, &p.cpu, &p.node, nullptr);
  return p;
}

inline std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

struct unmap_pages {
  std::size_t count;
  void operator()(std::byte* p) const noexcept { munmap(p, count * page_bytes()); }
};
/// Untouched pages. As with any program's memory, the system may give huge pages for them.
using pages = std::unique_ptr<std::byte[], unmap_pages>;
inline pages untouched_pages(std::size_t count) {
  void* p = mmap(nullptr, count * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(p), unmap_pages{count}};
}

/// While it lives, the calling thread runs only on this CPU.
class on_cpu {
 public:
  explicit on_cpu(int cpu) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~on_cpu() { sched_setaffinity(0, sizeof before_, &before_); }
  on_cpu(const on_cpu&) = delete;
  on_cpu& operator=(const on_cpu&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace kith::test
