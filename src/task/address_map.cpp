#include "task/address_map.hpp"

#include "base/address.hpp"
#include "task/type_names.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

namespace kith {

namespace {

const char* name_of(mode m) {
  static constexpr const char* names[] = {"in", "out", "inout", "concurrent", "commutative"};
  return names[static_cast<int>(m)];
}

std::string describe(mode how, std::uintptr_t begin, std::uintptr_t end, std::uint16_t type) {
  char text[96];
  std::snprintf(text, sizeof text, "[%#zx, %#zx) (%zu bytes)", begin, end, end - begin);
  return std::string(name_of(how)) + " " + text + " of a task of type '" + task_type_name(type) + "'";
}

}  // namespace

address_map::found address_map::find_in_index(const detail::access_record& a, std::uint16_t type) {
  const auto begin = reinterpret_cast<std::uintptr_t>(a.address);
  if (a.bytes == 0) return {&nowhere(), nullptr};
  if ((begin & ~address_mask) != 0 || a.bytes > address_mask - begin)
    throw error("an access of a task of type '" + task_type_name(type) + "' names " + std::to_string(a.bytes) +
                " bytes, or an address, beyond the 48 bits that addresses have: check the pointer and the count");
  if (mask_ != 0) {
    const entry& e = entry_at(key_of(a.address));
    if (e.key == key_of(a.address) && (e.bytes & points) != 0) {
      auto* const n = static_cast<nested_range*>(at_address(e.bytes & ~points));
      if (n->end - n->begin == a.bytes) return {&n->tracker, n};
    }
  }
  return add(a, type);
}

/// Adds a range that was not seen since the last wait, or finds one of several that begin at the same address.
address_map::found address_map::add(const detail::access_record& a, std::uint16_t type) {
  const auto begin = reinterpret_cast<std::uintptr_t>(a.address);
  const extent self{begin, begin + a.bytes};
  insertion_point where = look_around(self, a, type);
  if (where.next != ranges_.end() && where.next->second.epoch == epoch_ && !(self < where.next->first)) {
    nested_range* const n = where.next->second.nested.get();
    return {&n->tracker, n};
  }
  const bool nested = where.alone != ranges_.end() || where.around != nullptr || where.contains;
  if (nested) {
    if (where.alone != ranges_.end()) where.around = &nest(where.alone);
    for (auto i = where.next; where.contains && i != ranges_.end() && i->first.begin < self.end; ++i) {
      if (i->second.epoch == epoch_) nest(i);
    }
  }
  const std::uint64_t key = key_of(a.address);
  if (mask_ == 0 || is_full()) make_room();
  auto fresh = nested ? std::make_unique<nested_range>() : nullptr;
  const auto at = put(where, self, a, type);
  // Nothing throws from here on. An entry of an earlier epoch with the same address is reused, with its region.
  entry& e = entry_at(key);
  const bool first = e.key != key;
  used_ += e.key == 0;
  if (first) e = entry{{key, 0, 0, 0, 0, e.region}, a.bytes};
  if (!nested) return {&e, nullptr};
  nested_range& n = *fresh;
  at->second.nested = std::move(fresh);
  n.begin = self.begin;
  n.end = self.end;
  n.around = where.around;
  n.tracker.region = e.region;
  if (first) e.bytes = reinterpret_cast<std::uint64_t>(&n) | points;
  for_each_inside(n, [&](nested_range& d) {
    if (d.around == n.around) d.around = &n;
    n.changed = stamps_;
  });
  return {&n.tracker, &n};
}

/// Throws if the range crosses another one, or if it overlaps another one and either is a handle's.
address_map::insertion_point address_map::look_around(const extent& self, const detail::access_record& a,
                                                      std::uint16_t type) {
  const auto refuse = [&](index::iterator with) {
    const range& r = with->second;
    const std::string both = describe(a.how, self.begin, self.end, type) + " and " +
                             describe(r.how, with->first.begin, with->first.end, r.type);
    if (r.handle != nullptr || a.handle != nullptr)
      throw error("partial overlap of handles: " + both +
                  " have bytes in common, but nothing orders what is named by a handle against another name: let both "
                  "use the same handle, or both the address");
    throw error("partial overlap of accesses: " + both +
                " have bytes in common, and neither contains the other. A range may lie in another one (a tile in its "
                "array): cut the data so that ranges contain each other or have nothing in common, and give a task "
                "several accesses; or wait() between the two, after which ranges may be cut anew");
  };
  insertion_point p{lower_bound(self), ranges_.end()};
  const auto is_new = [&](index::iterator i) { return i->second.epoch == epoch_; };
  if (p.next != ranges_.end() && is_new(p.next) && !(self < p.next->first) && p.next->second.handle == a.handle)
    return p;
  const bool is_first = p.next == ranges_.begin();
  const bool is_behind = p.next == behind_last_ && last_ != ranges_.end();
  const auto before = is_first ? ranges_.end() : is_behind ? last_ : std::prev(p.next);
  if (!is_first && is_new(before)) {
    if (before->first.end > self.begin) {
      if (before->first.end < self.end || before->second.handle != nullptr || a.handle != nullptr) refuse(before);
      p.alone = before;
    } else if (before->second.nested != nullptr) {
      p.around = before->second.nested->around;
      while (p.around != nullptr && p.around->end <= self.begin) p.around = p.around->around;
      if (p.around != nullptr && (p.around->end < self.end || a.handle != nullptr))
        refuse(ranges_.find({p.around->begin, p.around->end}));
    }
  }
  for (auto i = p.next; i != ranges_.end() && i->first.begin < self.end; ++i) {
    if (!is_new(i)) continue;
    if (i->first.end > self.end || i->second.handle != nullptr || a.handle != nullptr) refuse(i);
    p.contains = true;
  }
  return p;
}

/// Puts the range into the index. Removes ranges of earlier epochs that begin inside it, because they order nothing.
address_map::index::iterator address_map::put(const insertion_point& where, const extent& self,
                                              const detail::access_record& a, std::uint16_t type) {
  index::iterator at = where.next, behind = where.next;
  if (at == ranges_.end() || self < at->first) {
    at = ranges_.emplace_hint(where.next, self, range{});
  } else {
    ++behind;
  }
  at->second = range{a.handle, a.how, type, epoch_, nullptr};
  ++named_;
  while (behind != ranges_.end() && behind->first.begin < self.end && behind->second.epoch != epoch_)
    behind = ranges_.erase(behind);
  last_ = at;
  behind_last_ = behind;
  if (behind == ranges_.end() || behind->first.begin >= self.end) return at;
  for (auto i = std::next(behind); i != ranges_.end() && i->first.begin < self.end;)
    i = i->second.epoch == epoch_ ? std::next(i) : ranges_.erase(i);
  return at;
}

void address_map::check_handle(const detail::access_record& a, std::uint16_t type) {
  const auto begin = reinterpret_cast<std::uintptr_t>(a.address);
  const extent self{begin, begin + a.bytes};
  put(look_around(self, a, type), self, a, type);
}

/// Moves the state of a range from its entry to a nested_range. No other range had bytes in common with it
/// before, so its accesses can be stamped as the newest.
nested_range& address_map::nest(index::iterator at) {
  if (at->second.nested != nullptr) return *at->second.nested;
  auto fresh = std::make_unique<nested_range>();
  nested_range& n = *fresh;
  n.begin = at->first.begin;
  n.end = at->first.end;
  entry& e = entry_at(n.begin | std::uint64_t{epoch_} << address_bits);
  n.tracker = e;
  if (n.tracker.writer != 0) n.written = tick();
  if (n.tracker.member != 0) n.joined = tick();
  e.bytes = reinterpret_cast<std::uint64_t>(&n) | points;
  at->second.nested = std::move(fresh);
  return n;
}

address_map::entry& address_map::entry_at(std::uint64_t key) {
  std::uint64_t i = hash(key & address_mask);
  while (entries_[i].key != 0 && ((entries_[i].key ^ key) & address_mask) != 0) i = (i + 1) & mask_;
  return entries_[i];
}

void address_map::make_room() {
  const std::uint64_t old_capacity = capacity();
  const std::uint64_t larger =
      named_ * 3 >= old_capacity ? std::max<std::uint64_t>(least_, old_capacity * 2) : old_capacity;
  // All zeros is an empty entry.
  std::unique_ptr<entry[], freed> fresh(static_cast<entry*>(allocate_zeros(larger * sizeof(entry))));
  if (fresh == nullptr) throw std::bad_alloc();
  const std::unique_ptr<entry[], freed> old = std::exchange(entries_, std::move(fresh));
  mask_ = larger - 1;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(larger));
  used_ = 0;
  for (std::uint64_t k = 0; k < old_capacity; ++k) {
    if (old[k].key >> address_bits != epoch_) continue;
    std::uint64_t i = hash(old[k].key & address_mask);
    while (entries_[i].key != 0) i = (i + 1) & mask_;
    entries_[i] = old[k];
    ++used_;
  }
}

void address_map::forget_regions() noexcept {
  if (used_ != 0) std::fill_n(entries_.get(), capacity(), entry{});
  clear_index();
  used_ = named_ = 0;
  epoch_ = 1;
}

void address_map::clear_index() noexcept {
  ranges_.clear();
  memory_.release();
  last_ = behind_last_ = ranges_.end();
}

void address_map::forget_range(const extent& e) {
  const index::iterator at = ranges_.find(e);
  if (at == last_ || at == behind_last_) last_ = behind_last_ = ranges_.end();
  ranges_.erase(at);
  --named_;
}

void address_map::begin_epoch() noexcept {
  named_ = 0;
  if (++epoch_ == 0) forget_regions();  // no entry or range may seem to be of a later epoch
}

void address_map::next_epoch() {
  if (named_ == 0) return;
  // Ranges are kept, because most programs name the same ones again, unless they would fill the memory.
  constexpr std::uint64_t few = 64, kept_for_each = 4;
  if (ranges_.size() > few + kept_for_each * named_) clear_index();
  begin_epoch();
}

void address_map::clear() noexcept {
  if (!ranges_.empty()) clear_index();
  if (capacity() > kept_capacity) {
    entries_.reset();
    mask_ = used_ = 0;
    shift_ = 64;
  }
  if (named_ != 0) begin_epoch();
}

}  // namespace kith
