// Data moves to where the tasks that use it run, if they use it from another node again and again.
//
// RIP paper, section 6.5, moves the pages of all written data to the task that writes them. Not in the paper: here a
// region moves only with the third remote use in a row. If one task has initialised everything, everything is at one
// node; the other nodes steal the tasks that use it, and one memory serves all. By the rule of the ski rental problem
// (delayed_theft.hpp) data is to move when remote uses have cost as much as moving it: its bytes are read there and
// written here, and its pages change. A stolen task is a remote use. So is one that continues a chain away from home,
// if the chains that run at the node have more data than its caches hold; else the data is there, and the task counts
// as neither remote nor local. Data moves only from a node that has clearly more than the other. Where data is dealt
// evenly, thefts even out tasks that take unequally long; to move their data would tear neighbours apart.
//
// A region moves also if tasks at their own node, which is another one, overwrite it for the second time in a row: to
// write it far away and to fetch it from there costs nearly as much as moving it. So both ends of a transposition meet
// at one node. It moves only if it has been most of the data of a task, because then tasks follow it, and not to a node
// that has clearly more than the other.
//
// What kith::allocate was told to place stays there, as do tables and regions in which others begin.
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
             "data moves after this many uses in a row by tasks that run at other nodes, to the last of these; or to a "
             "node that has overwritten it twice in a row; 0: it never moves"),
  };

  moved_data(const policy_context& context, const policy_options& given, const shared_tables<World>& tables,
             balanced_placement<World>& placement)
      : memory_(context.memory),
        tables_(tables),
        placement_(placement),
        most_remote_uses_(static_cast<std::uint8_t>(given.number("moves"))) {}

  /// Called before a task runs, wherever that is. Notes which of its regions leads: is most of what placement counts.
  void begins(const task& t) const {
    if (most_remote_uses_ == 0) return;
    std::uint64_t all = 0;
    for (kept_access a : t.access_list()) all += counts(a) ? weight_of(a.how) * a.bytes() : 0;
    for (kept_access a : t.access_list()) {
      if (a.how == mode::out || !counts(a) || 2 * weight_of(a.how) * a.bytes() <= all) continue;
      region& r = memory_.region_of(a);
      note_overwritten(r, r.overwritten.load(relaxed) | leads);
      return;
    }
  }
  /// Called before a task of node `home` runs at node `user`, and reads its data from there.
  void used_remotely(const task& t, node_id home, node_id user) const {
    if (most_remote_uses_ == 0) return;
    for (kept_access a : t.access_list()) {
      if (home_of(a) != home || tables_.is_table(a)) continue;
      region& r = memory_.region_of(a);
      const auto uses = static_cast<std::uint8_t>(r.remote_uses.load(relaxed) + 1);
      r.remote_uses.store(uses % most_remote_uses_, relaxed);
      if (uses >= most_remote_uses_ && placement_.has_more(home, user, a.bytes())) move(r, a.bytes(), home, user);
    }
  }
  /// Called before a task runs at `here`, its own node.
  void used_locally(const task& t, node_id here) const {
    if (most_remote_uses_ == 0) return;
    for (kept_access a : t.access_list()) {
      const node_id home = home_of(a);
      if (!home) continue;
      region& r = memory_.region_of(a);
      if (home != here) {
        if (a.how == mode::out) overwritten(r, a.bytes(), home, here);
        continue;
      }
      if (r.remote_uses.load(relaxed) != 0) r.remote_uses.store(0, relaxed);
      if (a.how == mode::out) note_overwritten(r, region::not_overwritten | leads_bit(r));
      r.take_move_request();  // of a task that began elsewhere, but never ran
    }
  }

 private:
  static constexpr int leads = 1;  // the lowest bit of region::overwritten; a lost update delays a move

  static int leads_bit(const region& r) { return r.overwritten.load(relaxed) & leads; }
  static void note_overwritten(region& r, int value) {
    if (r.overwritten.load(relaxed) != value) r.overwritten.store(static_cast<std::int16_t>(value), relaxed);
  }
  /// Whether placement counts the access's data: it does not count tables.
  bool counts(const kept_access& a) const { return has_home(a) && !tables_.is_table(a); }
  /// The node whose tasks use the access's data at home; none if the data cannot move.
  node_id home_of(const kept_access& a) const {
    if (!has_home(a)) return {};
    const region& r = memory_.region_of(a);
    const node_id at = r.home_node();
    if (!at || r.block.load(relaxed) != nullptr || r.promised.load(relaxed) ||
        r.remote_uses.load(relaxed) == region::stays)
      return {};
    return memory_.serving(at);
  }
  /// A task at node `user` writes the region's first `bytes` bytes without reading them.
  void overwritten(region& r, std::uint64_t bytes, node_id home, node_id user) const {
    if (bytes != r.bytes.load(relaxed)) return;
    const int now = 2 * user.value | leads_bit(r);
    if (r.overwritten.load(relaxed) != now) {
      note_overwritten(r, now);
    } else if ((now & leads) != 0 && !placement_.has_more(user, home, bytes)) {
      move(r, bytes, home, user);
    }
  }
  /// The engine moves the region's pages with the task that begins now, or soon after.
  void move(region& r, std::uint64_t bytes, node_id home, node_id user) const {
    r.remote_uses.store(0, relaxed);
    note_overwritten(r, region::not_overwritten | leads_bit(r));
    if (!memory_.is_in_one_piece(r)) return;
    r.move_asked.store(true, relaxed);
    placement_.note_moved(home, user, bytes);
  }

  const memory_view memory_;
  const shared_tables<World>& tables_;
  balanced_placement<World>& placement_;
  const std::uint8_t most_remote_uses_;
};

}  // namespace kith
