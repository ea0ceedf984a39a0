// Data moves to where the tasks that use it run, if they read it from another node again and again.
//
// RIP paper, section 6.5, moves the pages of all written data to the task that writes them. Not in the paper: here a
// region moves only with the third remote use in a row. If one task has initialised everything, everything is at one
// node; the other nodes steal the tasks that use it, and one memory serves all. By the rule of the ski rental problem
// (delayed_theft.hpp) data is to move when remote uses have cost as much as moving it: its bytes are read there and
// written here, and its pages change. A stolen task is a remote use. So is one that continues a chain away from home,
// if the chains that run at the node have more data than its caches hold; else the data is there, and the task counts
// as neither remote nor local.
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

/// Any worker may call anything. Two workers that count a use of the same data at once may count one.
template <class World>
class moved_data {
 public:
  static constexpr std::array options{
      number("moves", 3, 0, 100,
             "data moves to another node after tasks there have read it this many times in a row; 0: it never moves"),
  };

  moved_data(const policy_context& context, const policy_options& given, const shared_tables<World>& tables,
             balanced_placement<World>& placement)
      : memory_(context.memory),
        tables_(tables),
        placement_(placement),
        most_remote_uses_(static_cast<std::uint8_t>(given.number("moves"))) {}

  /// Called before a task of node `home` runs at node `user`, and reads its data from there.
  void used_remotely(const task& t, node_id home, node_id user) const {
    if (most_remote_uses_ == 0) return;
    for (kept_access a : t.access_list()) {
      if (!may_move(a, home) || tables_.is_table(a)) continue;
      region& r = memory_.region_of(a);
      const auto uses = static_cast<std::uint8_t>(r.remote_uses.load(relaxed) + 1);
      r.remote_uses.store(uses % most_remote_uses_, relaxed);
      if (uses < most_remote_uses_ || !placement_.has_more(home, user, a.bytes()) || !memory_.is_in_one_piece(r))
        continue;
      r.move_asked.store(true, relaxed);
      placement_.note_moved(home, user, a.bytes());
    }
  }
  /// Called before a task runs at `home`, its own node.
  void used_locally(const task& t, node_id home) const {
    if (most_remote_uses_ == 0) return;
    for (kept_access a : t.access_list()) {
      if (!may_move(a, home)) continue;
      region& r = memory_.region_of(a);
      if (r.remote_uses.load(relaxed) != 0) r.remote_uses.store(0, relaxed);
      r.take_move_request();  // of a task that was stolen, but never ran
    }
  }

 private:
  bool may_move(const kept_access& a, node_id home) const {
    if (!has_home(a)) return false;
    const region& r = memory_.region_of(a);
    const node_id at = r.home_node();
    return at && memory_.serving(at) == home && r.block.load(relaxed) == nullptr && !r.promised.load(relaxed) &&
           r.remote_uses.load(relaxed) != region::stays;
  }

  const memory_view memory_;
  const shared_tables<World>& tables_;
  balanced_placement<World>& placement_;
  const std::uint8_t most_remote_uses_;
};

}  // namespace kith
