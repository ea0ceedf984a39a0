// Finds tables: regions that are most of a task's data, and that tasks on several workers only read.
//
// A table is in a node's caches once, whatever the number of tasks that read it.
#pragma once

#include "policy/auto/balanced_placement.hpp"
#include "policy/contract/policy.hpp"

#include <array>
#include <cstdint>

namespace kith {

/// All workers share it and update it without synchronisation: a table may be recognised one task late. It keeps the
/// last region for each of 256 remainders, so it may miss a table. It writes only if a region has a new reader.
template <class World>
class shared_reads {
 public:
  using worker = typename World::worker;

  /// The bytes of the task's data that can have a home, without its table. `self` runs the task.
  std::uint64_t own_bytes(const task& t, const worker& self) {
    const std::uint64_t all = placed_bytes(t);
    for (kept_access a : t.access_list()) {
      if (a.how == mode::in && has_home(a) && 2 * a.bytes() > all) return all - (is_table(a, self) ? a.bytes() : 0);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t several = ~std::uint32_t{0};

  bool is_table(const kept_access& a, const worker& self) {
    auto& last = readers_[a.region % readers_.size()];
    const std::uint64_t region = std::uint64_t{a.region} << 32, before = last.load(relaxed);
    const std::uint64_t mine = region | static_cast<std::uint32_t>(self.id.value);
    if (before == mine) return false;
    const bool others = before >> 32 == a.region;
    const std::uint64_t now = others ? region | several : mine;
    if (now != before) last.store(now, relaxed);
    return others;
  }

  std::array<typename World::template shared<std::uint64_t>, 256>
      readers_{};  // the region, and its reader, or `several`
};

}  // namespace kith
