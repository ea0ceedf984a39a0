// First touch: a task that begins on a node gives the regions that it accesses a home there, unless they have one. Used
// by both engines. The rule is in memory/view.hpp, and what counts as remote in remote_count.hpp.
#pragma once

#include "engine/life/remote_count.hpp"
#include "memory/view.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <vector>

namespace kith::life {

struct first_touch {
  bool placed = false;  // this access gave the region its home
  node_id at;           // the node that the access counts for; none: several nodes
};

/// Notes access `a` to region `r`, by a task that begins on node `here`. If the region's home was decided before it was
/// written and this task is the first to write it, bind(r) places its pages. `by_node`: scratch.
template <class Bind>
[[gnu::always_inline]] inline first_touch touch(const memory_view& memory, region& r, const kept_access& a,
                                                node_id here, std::vector<std::uint64_t>& by_node, const Bind& bind) {
  first_touch t;
  t.at = r.home_node();
  // Then touch() would place nothing. So it is with most accesses.
  if (t.at && !r.promised.load(relaxed) && !r.to_bind.load(relaxed)) [[likely]]
    return t;
  t.placed = memory.touch(r, a.how, here);
  // The mode comes last: its branch cannot be predicted, and few regions are to be bound.
  if (r.to_bind.load(relaxed) && a.how != mode::in && r.to_bind.exchange(false, relaxed)) [[unlikely]]
    bind(r);
  t.at = r.home_node();
  if (!t.at) [[unlikely]]
    t.at = mostly_at(memory, r, a.bytes(), here, by_node);
  return t;
}

}  // namespace kith::life
