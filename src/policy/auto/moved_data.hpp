// Data moves to where the tasks that use it are stolen to, if that happens again and again.
//
// RIP paper, section 6.5, moves the pages of all written data to the task that writes them. Not in the paper: here a
// region moves only with the third theft in a row of tasks that use it. If one task has initialised everything,
// everything is at one node; each time that all tasks run, the other nodes steal them, and one memory serves all. By
// the rule of the ski rental problem (delayed_theft.hpp) data is to move when thefts have cost as much as moving it:
// its bytes are read there and written here, and its pages change. A task that a worker runs away from home because it
// continues a chain counts as neither.
// Data moves only from a node that has more than its share. Where data is dealt evenly, thefts even out tasks that take
// unequally long; to move their data would tear neighbours apart. What kith::allocate was told to place stays there, as
// do tables and regions in which others begin.
#pragma once

#include "policy/auto/balanced_placement.hpp"
#include "policy/auto/placed_data.hpp"
#include "policy/auto/shared_tables.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"

#include <array>
#include <cstdint>

namespace kith {

/// Any worker may call anything. Two workers that count a theft of the same data at once may count one.
template <class World>
class moved_data {
 public:
  static constexpr std::array options{
      number("moves", 3, 0, 100,
             "data moves to the thief after this many consecutive thefts of tasks that use it; 0: it never moves"),
  };

  moved_data(const policy_context& context, const policy_options& given, const shared_tables<World>& tables,
             balanced_placement<World>& placement)
      : memory_(context.memory),
        tables_(tables),
        placement_(placement),
        thefts_(static_cast<std::uint8_t>(given.number("moves"))) {}

  /// Called before a task runs at node `thief` that was stolen from node `home`.
  void stolen(const task& t, node_id home, node_id thief) const {
    if (thefts_ == 0) return;
    for (kept_access a : t.access_list()) {
      if (!may_move(a, home) || tables_.is_table(a)) continue;
      region& r = memory_.region_of(a);
      const auto thefts = static_cast<std::uint8_t>(r.thefts.load(relaxed) + 1);
      r.thefts.store(thefts % thefts_, relaxed);
      if (thefts < thefts_ || !placement_.has_more(home, thief, a.bytes()) || !memory_.is_in_one_piece(r)) continue;
      r.move_asked.store(true, relaxed);
      placement_.note_moved(home, thief, a.bytes());
    }
  }
  /// Called before a task runs at `home`, its own node.
  void kept(const task& t, node_id home) const {
    if (thefts_ == 0) return;
    for (kept_access a : t.access_list()) {
      if (!may_move(a, home)) continue;
      region& r = memory_.region_of(a);
      if (r.thefts.load(relaxed) != 0) r.thefts.store(0, relaxed);
      r.take_move_request();  // of a task that was stolen, but never ran
    }
  }

 private:
  bool may_move(const kept_access& a, node_id home) const {
    if (!has_home(a)) return false;
    const region& r = memory_.region_of(a);
    const node_id at = r.home_node();
    return at && memory_.serving(at) == home && r.block.load(relaxed) == nullptr && !r.promised.load(relaxed) &&
           r.thefts.load(relaxed) != region::stays;
  }

  const memory_view memory_;
  const shared_tables<World>& tables_;
  balanced_placement<World>& placement_;
  const std::uint8_t thefts_;
};

}  // namespace kith
