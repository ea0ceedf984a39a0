// The memory of one runtime: allocates by distribution, and tells regions where their bytes are.
//
// Thread-safe. Only two functions are on a task's path: settle(), once for each new region, and bind(), once
// for each region of deferred memory. Invariants:
//  S1  A region in a block refers to it before any thread finds the region (settle), or from the allocation on if the
//      region existed before (allocate), and again when more of its bytes are named (region_table::find).
//  S2  Before the pages of released memory are unmapped, its regions have no home and no block in any runtime (forget).
//      A worker that still places an ended task may then give such a region a home. That home is a wrong guess for
//      later data there, until memory is allocated there or forgotten again.
#pragma once

#include "machine/machine.hpp"
#include "memory/block_table.hpp"
#include "memory/node_memory.hpp"
#include "memory/page_edges.hpp"
#include "memory/view.hpp"
#include "task/region.hpp"

#include <kith/memory.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "base/atomic.hpp"

namespace kith {

/// The nodes of a machine that memory can come from.
class memory_nodes {
 public:
  /// `serving` are the nodes that host a worker, that of worker 0 first.
  memory_nodes(const machine& on, std::span<const node_id> serving);

  /// The node itself, or the nearest that has memory.
  node_id nearest(node_id n) const noexcept { return nearest_[n.index()]; }
  /// The nearest() nodes of those that host a worker, each once; in the order of the hosts' numbers, from
  /// worker 0's on.
  const std::vector<node_id>& in_turn() const noexcept { return in_turn_; }
  /// The same, in the order in which the system deals pages to them.
  const std::vector<node_id>& dealt() const noexcept { return dealt_; }

 private:
  std::vector<node_id> nearest_, in_turn_, dealt_;
};

class memory_space final : private memory_listener {
 public:
  struct options {
    distribution standard = distribution::system;  // what distribution::standard stands for
    bool dry = false;                              // nothing will be touched: only addresses are needed
  };
  /// `worker_nodes` has the node of each worker; `serving` is as for memory_view. `on` and `regions` must outlive it.
  memory_space(const machine& on, std::span<const node_id> worker_nodes, std::vector<node_id> serving,
               region_table& regions, options);
  ~memory_space();
  memory_space(const memory_space&) = delete;
  memory_space& operator=(const memory_space&) = delete;

  /// As kith::allocate. `by` is the node of the calling worker; none if the caller is no worker.
  memory_block allocate(std::size_t bytes, distribution how, node_id caller_node);
  void reset() noexcept { next_coarse_.store(0, relaxed); }
  /// `note` is called for each block of this runtime that is given back, before its pages are unmapped. Must be set
  /// before the first allocation. Null ends the calls; after this returns, none is running.
  void when_released(std::function<void(const memory_block&)> note);

  /// Binds the pages of a deferred region to its home, if it has one and they are not bound yet.
  void bind(region& r) const noexcept;

  /// As kith::known_bytes_on_nodes().
  std::vector<std::uint64_t> known_bytes(const void* memory, std::size_t bytes);
  /// As kith::count_pages().
  std::optional<page_census> count(const void* memory, std::size_t bytes) const;

  /// True if there are several nodes and the system lets us place pages.
  bool places() const noexcept { return places_; }
  /// True if pages of this machine can be located and moved between nodes.
  bool moves() const noexcept;
  bool pretended() const noexcept { return on_.pretended; }
  /// True if nothing will be touched.
  bool dry() const noexcept { return options_.dry; }
  int nodes() const noexcept { return static_cast<int>(on_.nodes.size()); }
  int system_node(node_id n) const noexcept { return on_.nodes[n.index()].os_index; }
  /// The node itself, or the nearest that has memory.
  node_id nearest(node_id n) const noexcept { return nodes_.nearest(n); }
  const memory_view& view() const noexcept { return view_; }
  /// The home of regions whose pages are on the node with this system number; none if the machine has no such node.
  node_id home_of_page_on(int os_index) const noexcept {
    const node_id n = node_of_system(os_index);
    return n ? view_.serving(n) : node_id();
  }
  /// By node: the memory for what the runtime itself keeps at that node. Empty on a machine with one node or a
  /// pretended one; the heap is then used.
  std::span<std::pmr::memory_resource* const> own() const noexcept { return own_of_; }

 private:
  void keep_own();
  void keep_apart(const region& r, const memory_block* b);
  page_map decide(std::size_t bytes, distribution& how, node_id caller_node);
  void carry_out(const page_map& p) const noexcept;
  void settle(region& r) noexcept;
  void settle(region& r, const memory_block& b) noexcept;
  void forget(const void* begin, std::uint64_t bytes, const memory_block* block) override;
  node_id node_of_system(int os_index) const noexcept;
  node_id node_of_caller() const noexcept;

  const machine& on_;
  region_table& regions_;
  const options options_;
  memory_nodes nodes_;
  memory_view view_;
  const std::uint64_t space_, owner_;
  bool places_ = false;
  atomic<std::size_t> next_coarse_{0};
  const bool huge_unasked_;  // the system gives huge pages without a request
  page_edges edges_;
  std::function<void(const memory_block&)> released_;
  std::vector<std::unique_ptr<node_memory>> own_;   // one for each node that has memory
  std::vector<std::pmr::memory_resource*> own_of_;  // by node: its own, or that of the nearest node
};

/// As kith::allocate without a runtime.
memory_block allocate_alone(std::size_t bytes, distribution how);
/// Gives back a block (kith::deallocate()).
void release_block(void* memory);

}  // namespace kith
