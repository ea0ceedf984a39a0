// What the tests of this folder share: fixtures that need real nodes, and the kernel's answers in Kith's node numbers.
#pragma once

#include "kernel_view.hpp"

#include "machine/machine.hpp"
#include "memory/numa_calls.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

/// The kernel's number of a node of Kith.
inline int os_node(const machine& m, node_id n) { return m.nodes[n.index()].os_index; }
/// Kith's node for a number of the kernel.
inline node_id node_by_os(const machine& m, int os) {
  const auto found = std::ranges::find(m.nodes, os, &machine::node::os_index);
  return found == m.nodes.end() ? node_id() : found->id;
}
inline int first_cpu(const machine& m, const machine::node& n) { return m.cores[n.cores.front().index()].cpus.front(); }

/// Skips the test if there is only one node, or if nodes are pretended.
class several_nodes : public testing::Test {
 protected:
  void SetUp() override {
    if (here.pretended) GTEST_SKIP() << "KITH_MACHINE is set: the nodes are pretended";
    if (here.nodes.size() < 2) GTEST_SKIP() << "this machine has one memory node";
  }

  const machine here = current_machine();
  const std::size_t page = page_bytes();

  /// The node of the page at an address; -1: untouched.
  int node_of(const void* p) const { return node_by_os(here, node_of_page(p)).value; }
  /// The node that the calling thread runs on.
  int node_here() const { return node_by_os(here, static_cast<int>(test::here().node)).value; }
  /// Nodes with both cores and memory, in their order.
  std::vector<int> hosts() const {
    std::vector<int> all;
    for (const machine::node& n : here.nodes) {
      if (!n.cores.empty() && n.memory_bytes != 0) all.push_back(n.id.value);
    }
    return all;
  }
  /// True if each node has cores and memory: then every node is a host.
  bool regular() const { return hosts().size() == here.nodes.size(); }
  /// By node: where the kernel puts what the node's first core touches; -1 for nodes without cores.
  std::vector<int> first_touch() const {
    std::vector<int> all;
    for (const machine::node& n : here.nodes) {
      all.push_back(-1);
      if (n.cores.empty()) continue;
      const on_cpu bound(first_cpu(here, n));
      const pages fresh = untouched_pages(1);
      fresh[0] = std::byte{1};
      all.back() = node_of(&fresh[0]);
    }
    return all;
  }
  /// The nodes on which memory of workers on all nodes can be, each once, in order.
  std::vector<int> homes() const {
    std::set<int> all;
    for (int n : first_touch()) {
      if (n >= 0) all.insert(n);
    }
    return {all.begin(), all.end()};
  }
};

/// Also skips the test if pages cannot be placed.
class placing_nodes : public several_nodes {
 protected:
  void SetUp() override {
    several_nodes::SetUp();
    if (!IsSkipped() && !numa::process_rights().can_place()) GTEST_SKIP() << "the system refuses to place pages";
  }
};

/// Also skips the test if fewer than two nodes have both cores and memory.
class two_hosts : public placing_nodes {
 protected:
  void SetUp() override {
    placing_nodes::SetUp();
    if (!IsSkipped() && hosts().size() < 2) GTEST_SKIP() << "one node alone has both cores and memory";
  }
};

inline runtime_options with_policy(const std::string& policy) {
  runtime_options o;
  o.policy = policy;
  return o;
}

/// Memory that is released at the end of the test.
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
    for (std::size_t i = 0; i < bytes_; i += page_bytes()) p_[i] = std::byte{1};
    return *this;
  }
  page_census count(runtime& rt) const { return count_pages(rt, p_, bytes_).value(); }

 private:
  std::byte* p_;
  std::size_t bytes_;
};

}  // namespace kith::test
