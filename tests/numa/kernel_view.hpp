// What the kernel says about nodes, pages and threads, asked without Kith: what the tests compare Kith with.
#pragma once

#include "machine/machine.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <memory>
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

/// "0-2,5" of a file in the folder of nodes, or of one node.
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

/// The node, by the kernel's number, that the page is on; negative: an error's number.
inline int node_of_page(const void* address) {
  void* page = const_cast<void*>(address);
  int status = -1;
  if (syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0) != 0) return -errno;
  return status;
}

struct place {
  unsigned cpu = 0, node = 0;
};
/// Where the calling thread runs, by the kernel's numbers.
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
/// Pages that nobody has touched, each placed by itself.
using pages = std::unique_ptr<std::byte[], unmap_pages>;
inline pages untouched_pages(std::size_t count) {
  void* p = mmap(nullptr, count * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  madvise(p, count * page_bytes(), MADV_NOHUGEPAGE);
  return {static_cast<std::byte*>(p), unmap_pages{count}};
}

/// The kernel's number of a node of Kith's.
inline int os_node(const machine& m, node_id n) { return m.nodes[n.index()].os_index; }
/// Kith's node of the kernel's number.
inline node_id node_by_os(const machine& m, int os) {
  const auto found = std::ranges::find(m.nodes, os, &machine::node::os_index);
  return found == m.nodes.end() ? node_id() : found->id;
}

}  // namespace kith::test

/// Ends the test as skipped unless the machine has that many nodes.
#define KITH_NEEDS_NODES(count)                    \
  if (kith::test::nodes_online().size() < (count)) \
  GTEST_SKIP() << "this machine has " << kith::test::nodes_online().size() << " memory nodes, not " << (count)
