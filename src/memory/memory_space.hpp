// The memory of one runtime: gives it out by distribution, and tells regions where it is.
//
// Who may call what: any thread anything. No call is on a task's path but settle(), once for each new region, and bind(),
// once for each region of deferred memory. Invariants:
//  S1  A region that lies in a block says so before anybody finds it (settle), or from the allocation on if it was there
//      before (allocate), and again when more of its bytes are named (region_table::find).
//  S2  A region in memory that was given back has no home and no block, in any runtime (forget), before the pages go. A
//      late look by a worker that still places an ended task may then give it a home: a wrong guess for what comes to lie
//      there, until memory is given out there or forgotten again.
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

/// Which nodes of a machine memory can be had from.
class memory_nodes {
 public:
  /// `serving`: nodes that host a worker, that of worker 0 first.
  memory_nodes(const machine& on, std::span<const node_id> serving);

  /// The node itself, or the nearest that has memory.
  node_id nearest(node_id n) const noexcept { return nearest_[n.index()]; }
  /// For those that host a worker, each once; in the order of the nodes' numbers, from that of worker 0 on.
  const std::vector<node_id>& in_turn() const noexcept { return in_turn_; }
  /// The same in the order in which the system deals pages to them.
  const std::vector<node_id>& dealt() const noexcept { return dealt_; }

 private:
  std::vector<node_id> nearest_, in_turn_, dealt_;
};

class memory_space final : private memory_listener {
 public:
  struct options {
    distribution standard = distribution::system;  // what distribution::standard stands for
    bool dry = false;                              // nothing will be touched: address space alone
  };
  /// `worker_nodes`: of each worker. `serving`: as for memory_view. `on` and `regions` outlive it.
  memory_space(const machine& on, std::span<const node_id> worker_nodes, std::vector<node_id> serving,
               region_table& regions, options);
  ~memory_space();
  memory_space(const memory_space&) = delete;
  memory_space& operator=(const memory_space&) = delete;

  /// As kith::allocate. `by`: the node of the worker that asks; none: another thread asks.
  memory_block allocate(std::size_t bytes, distribution how, node_id by);
  void reset() noexcept { next_coarse_.store(0, relaxed); }
  /// Called for blocks of this runtime that are given back, before they are gone. Set before the first allocation; null: no
  /// more, and when this returns it is not being called.
  void when_released(std::function<void(const memory_block&)> note);

  /// The pages of a region go to its home, which was decided before it was written. The caller has cleared region::to_bind.
  void bind(region& r) const noexcept;

  /// As kith::known_bytes_on_nodes.
  std::vector<std::uint64_t> known_bytes(const void* memory, std::size_t bytes);
  /// As kith::count_pages.
  std::optional<page_census> count(const void* memory, std::size_t bytes) const;

  /// True if there is a choice of nodes and the system lets us choose.
  bool places() const noexcept { return places_; }
  /// True if pages of this machine have nodes that can be asked for, and moved between.
  bool moves() const noexcept;
  bool pretended() const noexcept { return on_.pretended; }
  /// True if nothing will be touched.
  bool dry() const noexcept { return set_.dry; }
  int nodes() const noexcept { return static_cast<int>(on_.nodes.size()); }
  int system_node(node_id n) const noexcept { return on_.nodes[n.index()].os_index; }
  /// The node itself, or the nearest that has memory.
  node_id nearest(node_id n) const noexcept { return nodes_.nearest(n); }
  const memory_view& view() const noexcept { return view_; }
  /// What regions call home whose pages are on the node with this number of the system; none if it is none of the machine's.
  node_id home_of_page_on(int os_index) const noexcept {
    const node_id n = node_of_system(os_index);
    return n ? view_.serving(n) : node_id();
  }
  /// By node: what the runtime itself keeps at a node is made of it. Empty on a machine of one node, or a pretended one: there
  /// the heap does.
  std::span<std::pmr::memory_resource* const> own() const noexcept { return own_of_; }

 private:
  void keep_own();
  void keep_apart(const region& r, const memory_block* b);
  placement decide(std::size_t bytes, distribution& how, node_id by);
  void carry_out(const placement& p) const noexcept;
  void settle(region& r) noexcept;
  void settle(region& r, const memory_block& b) noexcept;
  void forget(const void* begin, std::uint64_t bytes, const memory_block* block) override;
  node_id node_of_system(int os_index) const noexcept;
  node_id node_of_caller() const noexcept;

  const machine& on_;
  region_table& regions_;
  const options set_;
  memory_nodes nodes_;
  memory_view view_;
  const std::uint64_t space_, owner_;
  bool places_ = false;
  atomic<std::size_t> next_coarse_{0};
  const bool huge_unasked_;  // the system gives huge pages to memory that nobody has asked them for
  page_edges edges_;
  std::function<void(const memory_block&)> released_;
  std::vector<std::unique_ptr<node_memory>> own_;   // of the nodes that have memory
  std::vector<std::pmr::memory_resource*> own_of_;  // by node: the own, or the nearest's
};

/// As kith::allocate without a runtime.
memory_block allocate_alone(std::size_t bytes, distribution how);
/// As kith::deallocate.
void release_block(void* memory);

}  // namespace kith
