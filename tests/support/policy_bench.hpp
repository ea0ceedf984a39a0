// A policy in the sequential world, with one thread, so that every decision can be checked.
#pragma once

#include "policy/list.hpp"
#include "queue/sequential/world.hpp"
#include "task/closure_room.hpp"

#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

namespace kith::test {

using sequential::world;

/// A machine, one worker for each of its cores but the first few, and a policy.
class policy_bench {
 public:
  /// `own_memory`: as in `policy_context`. `node_cache`: bytes of a cache that all cores of a node share. `idle_cores`:
  /// so many of the first node's cores have no worker.
  policy_bench(const char* machine, const std::string& policy,
               std::span<std::pmr::memory_resource* const> own_memory = {}, std::uint64_t node_cache = 0,
               std::size_t idle_cores = 0)
      : on(with_caches(synthetic_machine(machine), node_cache)),
        workers(on, nodes(idle_cores), cores(idle_cores)),
        chosen(
            make_policy<world>(policy, {.workers = workers, .regions = regions, .seed = 1, .own_memory = own_memory})) {
    for (int w = 0; w < workers.size(); ++w) {
      by.push_back(std::make_unique<sequential::worker_view>(worker_id(w), workers.node_of(worker_id(w))));
    }
  }

  struct use {
    std::uint32_t region;
    std::uint64_t bytes;
    mode how = mode::inout;
  };
  kith::task& task(std::vector<use> uses = {}, int node = -1, std::uint16_t creator = 0) {
    made.emplace_back(new kith::task());
    kith::task& t = *made.back();
    make_room(t, {0, 1, uses.size()});
    t.node = node < 0 ? kith::task::no_node : static_cast<std::uint8_t>(node);
    t.owner = creator;
    t.sequence = static_cast<std::uint32_t>(made.size());
    std::byte* keep = t.access_bytes();
    for (const use& u : uses) {
      const kept_access a(u.region, u.bytes, u.how);
      std::memcpy(keep, &a, sizeof a);
      keep += sizeof a;
    }
    return t;
  }
  /// The worker was the last to write the region.
  void wrote(std::uint32_t region, std::int16_t worker) { regions[region].writer.store(worker, relaxed); }
  std::uint32_t region(int home = -1) {
    const std::uint32_t r = regions.find(reinterpret_cast<void*>(address += std::uintptr_t{1} << 32), 8);
    if (home >= 0) regions[r].set_home(node_id(home));
    return r;
  }
  kith::task* ready(kith::task& t, int worker = 0, ready_reason why = ready_reason::creation) {
    kith::task* one = &t;
    return chosen->ready({&one, 1}, *by[static_cast<std::size_t>(worker)], why);
  }
  /// The task that the worker finds, after repeated looks until the policy reports that there is none.
  kith::task* next(int worker) {
    poll_result l;
    do {
      l = chosen->next(*by[static_cast<std::size_t>(worker)]);
    } while (l.kind != poll_result::found && l.kind != poll_result::empty);
    return l.work;
  }

  machine on;
  region_table regions;
  team workers;
  std::unique_ptr<kith::policy<world>> chosen;
  std::vector<std::unique_ptr<sequential::worker_view>> by;
  struct free_task {
    void operator()(kith::task* t) const noexcept {
      free_room(*t);
      delete t;
    }
  };
  std::vector<std::unique_ptr<kith::task, free_task>> made;
  std::uintptr_t address = 0x1000;

 private:
  static machine with_caches(machine m, std::uint64_t bytes) {
    if (bytes == 0) return m;
    m.caches.clear();
    for (const machine::node& n : m.nodes) m.caches.push_back({3, bytes, 64, n.cores});
    return m;
  }
  std::vector<node_id> nodes(std::size_t idle) const {
    std::vector<node_id> all;
    for (const machine::core& c : std::span(on.cores).subspan(idle)) all.push_back(c.node);
    return all;
  }
  std::vector<core_id> cores(std::size_t idle) const {
    std::vector<core_id> all;
    for (const machine::core& c : std::span(on.cores).subspan(idle)) all.push_back(c.id);
    return all;
  }
};

}  // namespace kith::test
