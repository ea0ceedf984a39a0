// The rules that turn accesses into dependences among siblings, for every store that keeps tasks and makes edges.
//
// A tracker remembers, for one range of bytes, the task that later accesses wait for (the writer), and the group of
// tasks that run side by side after it: readers, concurrent or commutative ones. Ranges may contain others (an array,
// its tiles, and their tiles). The state that orders a byte is then spread over all ranges that contain it. Accesses
// to such ranges get ascending stamps, and a newer stamp on one range says what is out of date on another:
//  R1  `written` is the stamp of the newest access that is the writer's own, or that the writer comes after. On
//      the range's bytes, the writer comes after every access up to that stamp, on this range and on all ranges
//      that contain it or lie in it.
//  R2  `joined` is the stamp of the newest member of the group. The group matters to a range inside while
//      `joined` is newer than `written` of that range and of every range between.
//  R3  Groups that matter to the same byte are compatible: they are of one kind, and a commutative group is the
//      only one.
//  R4  `changed` is the stamp of the newest access inside that made a new writer or began a group. 0: the
//      range's own writer comes after every access inside.
// Called by the owner of the scope, and by code that finds the dependences of a recording again.
#pragma once

#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// A range that contains others, or lies in one.
struct nested_range {
  detail::tracker tracker;
  std::uintptr_t begin = 0, end = 0;
  nested_range* around = nullptr;  // the smallest range that contains it
  std::uint64_t written = 0, joined = 0, changed = 0;
  /// Fences made for one task and reused by later ones: one after the group, one after all writers inside.
  struct kept_fence {
    std::uint64_t task = 0, made = 0;
  };
  kept_fence group, inside;
  std::uint64_t inside_for = 0;  // the kind of group that `inside` was made for
};

/// Members of a group beyond the second.
struct member_block {
  static constexpr std::uint32_t room = 7;
  std::uint64_t members[room];
  std::uint32_t next;
  std::uint32_t count;
};

/// The accesses of one task. A `Store` derives from it and has:
///   after(task, bytes)         the task starts after that one, and reads up to that many bytes of what it wrote
///   block_at(index), take_block(), give_block(index)    where members of groups are listed; 0 is no block
///   adopt(store)               takes over the state of a copy that has done the work
///   keep_members(block)        may drop members that no later task must wait for, but must keep one
/// and for access_plainly():
///   has_room(n), plainly_after(task, bytes)    if has_room(n), n such calls do what after() does, for another task
///                              than its own, and call nothing; after() may be called for the same task again
///   take_spare_block()         a block that was given back; 0: there is none
/// Task names are 64-bit numbers in which bits 28 to 31 are 0; 0 is no task. `fence(for_each)` must create an internal
/// task that ends after every task that `for_each(callback)` passes to its callback, and return its reference.
template <class Store>
class sibling_rules {
 public:
  /// Adds the dependences that access `how` to the range of `k` requires, and records the task in `k`.
  template <class Fence>
  [[gnu::always_inline]] void access(detail::tracker& k, mode how, Fence&& fence) {
    if (is_write(how)) {
      if (k.member == 0) {
        after(k.writer, flow(how));
      } else {
        with_copy([&](Store& rules) { rules.follow_group(k, how); });
      }
      k.writer = me_;
      return;
    }
    const std::uint64_t kind = kind_for(how);
    if (k.member != 0 && kind_of(k) != kind) with_copy([&](Store& rules) { rules.seal_group(k, fence); });
    if (k.writer != me_) after(k.writer, all);
    if (k.member == 0) {
      k.member = me_ | kind;
    } else if (k.second == 0) {
      if ((k.member & ~kind_mask) != me_) k.second = me_;
    } else if (k.second != me_) {
      with_copy([&](Store& rules) { rules.join_block(k); });
    }
  }

  /// As access() in the frequent cases, in one piece without a call. In other cases it returns false and leaves `k` as
  /// it is; access() must follow, which may add the same edges again.
  [[gnu::always_inline]] bool access_plainly(detail::tracker& k, mode how) {
    if (how == mode::in) {
      if ((k.member & kind_mask) != readers || !store().has_room(1)) return false;
      if (k.second != 0) return join_block_plainly(k);
      if (k.writer != me_) store().plainly_after(k.writer, all);
      if (k.member == 0) {
        k.member = me_;
      } else if (k.member != me_) {
        k.second = me_;
      }
      return true;
    }
    if (!is_write(how) || !store().has_room(2)) return false;
    if (k.member == 0) {
      if (k.writer != me_) store().plainly_after(k.writer, flow(how));
    } else {
      const std::uint64_t bytes = flow_from(k, how);
      if (k.block != 0 && !follow_block_plainly(k, bytes)) return false;
      const std::uint64_t first = k.member & ~kind_mask;
      if (first != me_) store().plainly_after(first, bytes);
      if (k.second != me_) store().plainly_after(k.second, bytes);
      k.member = k.second = 0;
    }
    k.writer = me_;
    return true;
  }

  /// Must be called before access() to a range that contains others, or lies in one. `ranges` has tick(), which
  /// gives stamps; for_each_inside(range, callback), which visits outer ranges before those inside them; and
  /// scratch(), a vector to use.
  template <class Ranges, class Fence>
  void meet(Ranges& ranges, nested_range& r, mode how, Fence&& fence) {
    with_copy([&](Store& rules) { rules.meet_others(ranges, r, how, fence); });
  }

  /// Calls work(store). Rare work uses a copy, so that the store itself can stay in registers.
  template <class Do>
  [[gnu::always_inline]] void with_copy(Do&& work) {
    struct borrowed {
      Store& from;
      Store copy = from;
      ~borrowed() { from.adopt(copy); }  // also if the work throws
    } rules{store()};
    work(rules.copy);
  }

  /// Whether is(task) holds for the writer and all members of the range's group, of which no block may list any.
  template <class Is>
  static bool are_all(const detail::tracker& k, const Is& is) {
    return k.block == 0 && is(k.writer) && is(k.member & ~kind_mask) && is(k.second);
  }
  /// True if the task has named this range before.
  bool named_before(const detail::tracker& k) noexcept { return k.writer == me_ || holds_me(k); }

 protected:
  /// Whether readers of the range are a group of two or more.
  static bool is_read(const detail::tracker& k) noexcept { return kind_of(k) == readers && k.second != 0; }

  static constexpr std::uint64_t all = ~std::uint64_t{0};  // a number of bytes: all that the access names

  std::uint64_t me() const noexcept { return me_; }

 private:
  friend Store;
  explicit sibling_rules(std::uint64_t me) : me_(me) {}

  // The kind of a group is kept in those bits of its first member's name that no index uses.
  static constexpr unsigned kind_shift = slot_index_bits;
  static constexpr std::uint64_t kind_mask = std::uint64_t{3} << kind_shift;
  static constexpr std::uint64_t readers = std::uint64_t{0} << kind_shift;
  static constexpr std::uint64_t together = std::uint64_t{1} << kind_shift;
  static constexpr std::uint64_t one_at_a_time = std::uint64_t{2} << kind_shift;

  static bool is_write(mode how) noexcept { return how == mode::out || how == mode::inout; }
  static std::uint64_t kind_for(mode how) noexcept {
    return how == mode::in ? readers : how == mode::concurrent ? together : one_at_a_time;
  }
  static std::uint64_t kind_of(const detail::tracker& k) noexcept { return k.member & kind_mask; }
  /// Whether a group of this kind, on another range with bytes in common, is compatible with the group of `r`.
  static bool go_together(const nested_range& r, std::uint64_t kind) noexcept {
    return kind_of(r.tracker) == kind && kind != one_at_a_time;
  }
  static std::uint64_t flow(mode how) noexcept { return how == mode::out ? 0 : all; }
  static std::uint64_t flow_from(const detail::tracker& k, mode how) noexcept {
    return kind_of(k) == readers ? 0 : flow(how);
  }

  template <class Ranges, class Fence>
  [[gnu::noinline]] void meet_others(Ranges& ranges, nested_range& r, mode how, Fence&& fence) {
    const std::uint64_t now = ranges.tick();
    if (is_write(how)) {
      write(ranges, r, how, now, fence);
    } else {
      join(ranges, r, kind_for(how), now, fence);
    }
  }

  Store& store() noexcept { return static_cast<Store&>(*this); }
  [[gnu::always_inline]] void after(std::uint64_t task, std::uint64_t bytes) { store().after(task, bytes); }
  /// As after(), for rare paths; not inlined, so that only frequent paths have a copy of it.
  [[gnu::noinline]] void after_cold(std::uint64_t task, std::uint64_t bytes) { after(task, bytes); }

  template <class Each>
  void for_each_member(const detail::tracker& k, Each&& each) {
    each(k.member & ~kind_mask);
    if (k.second == 0) return;
    each(k.second);
    for (std::uint32_t b = k.block; b != 0; b = store().block_at(b).next) {
      const member_block& block = store().block_at(b);
      for (std::uint32_t i = 0; i < block.count; ++i) each(block.members[i]);
    }
  }

  /// Whether the task being declared is a member. If so, it is the last one, because it joined last.
  bool holds_me(const detail::tracker& k) {
    if (k.block == 0) return (k.second != 0 ? k.second : k.member & ~kind_mask) == me_;
    const member_block& newest = store().block_at(k.block);
    return newest.members[newest.count - 1] == me_;
  }

  void drop_group(detail::tracker& k) {
    for (std::uint32_t b = k.block; b != 0;) {
      const std::uint32_t next = store().block_at(b).next;
      store().give_block(b);
      b = next;
    }
    k.member = 0;
    k.second = 0;
    k.block = 0;
  }

  /// Replaces the whole group (and the task `besides`) by one task, which becomes the writer: the only member,
  /// or a fence. If the task being declared is itself a member, it becomes the writer and waits for the others.
  template <class Fence>
  [[gnu::noinline]] void seal_group(detail::tracker& k, Fence&& fence, std::uint64_t besides = 0) {
    if (holds_me(k) || besides == me_) {
      for_each_member(k, [&](std::uint64_t r) { after_cold(r, 0); });
      after_cold(besides, 0);
      k.writer = me_;
    } else if (k.second == 0 && besides == 0) {
      k.writer = k.member & ~kind_mask;
    } else {
      k.writer = made(fence([&](auto&& each) {
        for_each_member(k, [&](std::uint64_t r) { each(reference::from({r})); });
        if (besides != 0) each(reference::from({besides}));
      }));
    }
    drop_group(k);
  }
  static std::uint64_t made(reference fence) noexcept { return fence.packed().value; }

  template <class Fence>
  static std::uint64_t fence_after(const std::vector<std::uint64_t>& tasks, Fence&& fence) {
    return made(fence([&](auto&& each) {
      for (std::uint64_t r : tasks) each(reference::from({r}));
    }));
  }

  /// Called when the task writes: it comes after the whole group.
  [[gnu::noinline]] void follow_group(detail::tracker& k, mode how) {
    // What a member had written before it joined flows from that member.
    for_each_member(k, [&](std::uint64_t r) { after(r, r == k.writer ? flow(how) : flow_from(k, how)); });
    drop_group(k);
  }

  /// Joins a group of two or more readers, if there is room in its newest block, or it has none and one is spare.
  [[gnu::always_inline]] bool join_block_plainly(detail::tracker& k) {
    if (k.second != me_) {
      if (k.block == 0) return begin_block_plainly(k);
      member_block& newest = store().block_at(k.block);
      if (newest.count == member_block::room) return false;
      if (newest.members[newest.count - 1] != me_) newest.members[newest.count++] = me_;
    }
    if (k.writer != me_) store().plainly_after(k.writer, all);
    return true;
  }
  [[gnu::always_inline]] bool begin_block_plainly(detail::tracker& k) {
    const std::uint32_t fresh = store().take_spare_block();
    if (fresh == 0) return false;
    member_block& block = store().block_at(fresh);
    block.members[0] = me_;
    block.next = 0;
    block.count = 1;
    k.block = fresh;
    if (k.writer != me_) store().plainly_after(k.writer, all);
    return true;
  }

  /// Called when the task writes: it comes after the members that a group's only block lists, which is given back. If
  /// there are several blocks, or the store has no room for the block's members and the first two, returns false: the
  /// group stays as it is, but some edges may have been added.
  [[gnu::always_inline]] bool follow_block_plainly(detail::tracker& k, std::uint64_t bytes) {
    const member_block& block = store().block_at(k.block);
    if (block.next != 0) return false;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      if (!store().has_room(3)) return false;
      if (block.members[i] != me_) store().plainly_after(block.members[i], bytes);
    }
    store().give_block(std::exchange(k.block, 0));
    return true;
  }

  /// Joins a group of two or more members.
  [[gnu::noinline]] void join_block(detail::tracker& k) {
    std::uint32_t b = k.block;
    if (b != 0) {
      member_block& newest = store().block_at(b);
      if (newest.members[newest.count - 1] == me_) return;
      if (newest.count == member_block::room) store().keep_members(newest);
    }
    if (b == 0 || store().block_at(b).count == member_block::room) {
      const std::uint32_t fresh = store().take_block();
      store().block_at(fresh).next = b;
      store().block_at(fresh).count = 0;
      k.block = b = fresh;
    }
    member_block& block = store().block_at(b);
    block.members[block.count++] = me_;
  }

  // ---- ranges that have bytes in common

  /// Calls each(range) for the ranges around `r` whose groups matter to it.
  template <class Each>
  static void for_each_group_around(const nested_range& r, Each&& each) {
    std::uint64_t written = r.written;
    for (nested_range* a = r.around; a != nullptr; a = a->around) {
      if (a->tracker.member != 0 && a->joined > written) each(*a);
      written = std::max(written, a->written);
    }
  }
  static void note_change(nested_range& r, std::uint64_t now) noexcept {
    for (nested_range* a = r.around; a != nullptr; a = a->around) a->changed = now;
  }

  /// Adds to `to` the names of tasks that end no earlier than the group: the only member, or a fence that later
  /// tasks can reuse; all members if the task itself is one of them.
  template <class Fence>
  void add_group(nested_range& a, std::vector<std::uint64_t>& to, Fence&& fence) {
    if (a.tracker.second == 0) {
      to.push_back(a.tracker.member & ~kind_mask);
    } else if (holds_me(a.tracker)) {
      for_each_member(a.tracker, [&](std::uint64_t r) { to.push_back(r); });
    } else {
      if (a.group.made != a.joined) {
        a.group.task = made(fence(
            [&](auto&& each) { for_each_member(a.tracker, [&](std::uint64_t r) { each(reference::from({r})); }); }));
        a.group.made = a.joined;
      }
      to.push_back(a.group.task);
    }
  }

  template <class Ranges, class Fence>
  void write(Ranges& ranges, nested_range& r, mode how, std::uint64_t now, Fence&& fence) {
    std::vector<std::uint64_t>& before = ranges.scratch();
    std::uint64_t written = r.written;
    for (nested_range* a = r.around; a != nullptr; a = a->around) {
      if (a->tracker.member != 0 && a->joined > written) {
        before.clear();
        add_group(*a, before, fence);
        for (std::uint64_t t : before) after_cold(t, flow_from(a->tracker, how));
      } else if (a->written > written) {
        after_cold(a->tracker.writer, flow(how));
      }
      written = std::max(written, a->written);
    }
    if (r.changed != 0) {
      std::uint64_t last = 0;
      const auto once = [&](std::uint64_t t, std::uint64_t bytes) {
        if (t != last) after_cold(t, bytes);
        last = t;
      };
      ranges.for_each_inside(r, [&](nested_range& d) {
        const std::uint64_t part = how == mode::out ? 0 : d.end - d.begin;
        if (d.tracker.member == 0) {
          once(d.tracker.writer, part);
        } else {
          for_each_member(d.tracker, [&](std::uint64_t t) { once(t, kind_of(d.tracker) == readers ? 0 : part); });
        }
      });
      ranges.for_each_inside(r, [&](nested_range& d) {  // nothing throws from here on
        drop_group(d.tracker);
        d.tracker.writer = 0;
        d.written = d.joined = d.changed = 0;
        d.group = d.inside = {};
      });
      r.changed = 0;
    }
    r.written = now;
    note_change(r, now);
  }

  template <class Ranges, class Fence>
  void join(Ranges& ranges, nested_range& r, std::uint64_t kind, std::uint64_t now, Fence&& fence) {
    const bool sealed = order_behind_around(ranges, r, kind, fence);
    if (sealed || r.tracker.member == 0) note_change(r, now);
    if (r.changed != 0) {
      if (r.inside.made < r.changed || r.inside_for != kind) seal_inside(ranges, r, kind, now, fence);
      after_cold(r.inside.task, all);
    }
    r.joined = now;
  }

  /// Makes the writer of `r` come after all accesses to `r` and to the ranges around it that a member of this kind must
  /// wait for, and the group of `r` empty or of this kind. True if `r` has a new writer.
  template <class Ranges, class Fence>
  bool order_behind_around(Ranges& ranges, nested_range& r, std::uint64_t kind, Fence&& fence) {
    std::vector<std::uint64_t>& others = ranges.scratch();
    others.clear();
    std::uint64_t newest = 0;
    bool mine = false;
    const bool own = r.tracker.member != 0 && kind_of(r.tracker) != kind;
    for_each_group_around(r, [&](nested_range& a) {
      if (go_together(a, kind)) return;
      newest = std::max(newest, a.joined);
      mine |= holds_me(a.tracker);
      add_group(a, others, fence);
    });
    if (own) {
      newest = std::max(newest, r.joined);
      mine |= holds_me(r.tracker);
      for_each_member(r.tracker, [&](std::uint64_t t) { others.push_back(t); });
    }
    if (others.empty()) {
      for (const nested_range* a = r.around; a != nullptr; a = a->around) {
        if (a->written <= r.written) continue;
        r.written = a->written;
        r.tracker.writer = a->tracker.writer;
      }
      return false;
    }
    if (mine) {
      for (std::uint64_t t : others) after_cold(t, 0);
      r.tracker.writer = me_;
    } else {
      r.tracker.writer = others.size() == 1 ? others.front() : fence_after(others, fence);
    }
    if (own) drop_group(r.tracker);
    r.written = newest;
    return true;
  }

  /// Replaces the groups inside that are not compatible with this kind by writers. r.inside then comes after all
  /// writers there.
  template <class Ranges, class Fence>
  void seal_inside(Ranges& ranges, nested_range& r, std::uint64_t kind, std::uint64_t now, Fence&& fence) {
    std::vector<std::uint64_t>& writers = ranges.scratch();
    writers.clear();
    bool mine = false;
    ranges.for_each_inside(r, [&](nested_range& d) {
      const nested_range& a = *d.around;
      // Replaced a group around, beside which d's group ran; so d's group does not come after it.
      std::uint64_t sealed_writer = 0;
      if (a.written > d.written) {
        d.tracker.writer = sealed_writer = a.tracker.writer;
        d.written = a.written;
      }
      if (d.tracker.member != 0 && !go_together(d, kind)) {
        seal_group(d.tracker, fence, sealed_writer);
        d.written = std::max(d.written, d.joined);
        note_change(d, now);
      }
      const std::uint64_t w = d.tracker.writer;
      if (w == 0 || w == a.tracker.writer || (!writers.empty() && writers.back() == w)) return;
      writers.push_back(w);
      mine |= w == me_;
    });
    r.inside = {};
    r.inside_for = kind;
    if (mine) {  // a fence cannot wait for a task that waits for it; the next task makes one
      for (std::uint64_t t : writers) after_cold(t, all);
      return;
    }
    if (!writers.empty()) r.inside.task = writers.size() == 1 ? writers.front() : fence_after(writers, fence);
    r.inside.made = now;
  }

  const std::uint64_t me_;
};

}  // namespace kith
