// What the tests of this folder share: they need several real nodes, and ask the system where pages are.
#pragma once

#include "machine/machine.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <sched.h>
#include <algorithm>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

/// Skips where there is one node, or where pages cannot be placed.
class real_nodes : public testing::Test {
 protected:
  void SetUp() override {
    if (here.pretended) GTEST_SKIP() << "KITH_MACHINE is set: the nodes are pretended";
    if (here.nodes.size() < 2) GTEST_SKIP() << "this machine has one memory node";
    if (!numa::process_rights().can_place()) GTEST_SKIP() << "the system refuses to place pages";
  }

  const machine here = current_machine();
  const std::size_t page = page_size();

  /// Nodes with both cores and memory, in their order.
  std::vector<int> hosts() const {
    std::vector<int> all;
    for (const machine::node& n : here.nodes) {
      if (!n.cores.empty() && n.memory_bytes != 0) all.push_back(n.id.value);
    }
    return all;
  }
  /// Where memory of workers on all nodes can be: where the system puts what each node's first core touches.
  std::vector<int> homes() const {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    std::vector<int> all;
    for (const machine::node& n : here.nodes) {
      if (n.cores.empty()) continue;
      CPU_ZERO(&one);
      CPU_SET(static_cast<std::size_t>(here.cores[n.cores.front().index()].cpus.front()), &one);
      sched_setaffinity(0, sizeof one, &one);
      void* const fresh = map_pages(page, page);
      *static_cast<char*>(fresh) = 1;
      if (const int at = node_of(fresh); std::ranges::find(all, at) == all.end()) all.push_back(at);
      unmap_pages(fresh, page);
    }
    sched_setaffinity(0, sizeof before, &before);
    std::ranges::sort(all);
    return all;
  }
  /// True if each node has cores and memory: then every node is a host.
  bool regular() const { return hosts().size() == here.nodes.size(); }

  /// The node of the page at an address, as the machine numbers them; -1: untouched.
  int node_of(const void* p) const {
    void* const pages[] = {const_cast<void*>(p)};
    int found[] = {-1};
    if (numa::where(pages, found) != 0) return -1;
    for (const machine::node& n : here.nodes) {
      if (n.os_index == found[0]) return n.id.value;
    }
    return -1;
  }
};

/// Skips also where fewer than two nodes have both cores and memory.
class two_hosts : public real_nodes {
 protected:
  void SetUp() override {
    real_nodes::SetUp();
    if (!IsSkipped() && hosts().size() < 2) GTEST_SKIP() << "one node alone has both cores and memory";
  }
};

inline runtime_options with_policy(const char* policy) {
  runtime_options o;
  o.policy = policy;
  return o;
}

/// Memory that is given back at the end of the test.
class memory {
 public:
  memory(runtime& rt, std::size_t bytes, distribution how = {})
      : p_(static_cast<std::byte*>(allocate(rt, bytes, how))), bytes_(bytes) {}
  ~memory() { deallocate(p_); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  std::byte* at(std::size_t offset = 0) const { return p_ + offset; }
  /// Writes into each page, from the calling thread.
  const memory& touch() const {
    for (std::size_t i = 0; i < bytes_; i += page_size()) p_[i] = std::byte{1};
    return *this;
  }
  page_census count(runtime& rt) const { return count_pages(rt, p_, bytes_).value(); }

 private:
  std::byte* p_;
  std::size_t bytes_;
};

}  // namespace kith::test
