// Maps a range of addresses to its dependence state, for one scope. Only the scope's owner uses it.
//
// Open addressing by the first address, linear probing, Fibonacci hashing; 48-byte entries. There is also an ordered
// index of the ranges. It is used only if a range is not the one in the entry of its address. Ranges may contain
// others, at any depth; a range that crosses another one (since the last completed wait) is an error. A range that
// contains others, or lies in one, has its state in a nested_range (sibling_rules.hpp), and its entry points there. In
// the index no range of an earlier epoch begins inside a range of this epoch, so every range found there counts.
#pragma once

#include "task/large_memory.hpp"
#include "task/sibling_rules.hpp"

#include <kith/access.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

namespace kith {

/// Memory for the nodes of one container, which all have one size. What is given back is used again.
class index_memory : public std::pmr::memory_resource {
 public:
  /// Gives all of it back.
  void release() noexcept {
    free_ = nullptr;
    memory_.release();
  }

 private:
  struct free_node {
    free_node* next;
  };
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (free_ == nullptr) return memory_.allocate(bytes, align);
    return std::exchange(free_, free_->next);
  }
  void do_deallocate(void* node, std::size_t, std::size_t) override { free_ = ::new (node) free_node{free_}; }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::monotonic_buffer_resource memory_{256, large_memory()};
  free_node* free_ = nullptr;
};

class address_map {
 public:
  /// `least` is the number of entries of the smallest table: a power of two, at least 4.
  explicit address_map(std::uint64_t least = 16) : least_(least) {}

  /// The state of the range, if it was seen since the last wait, and contains no others and lies in none; else null.
  [[gnu::always_inline]] detail::tracker* find_plain(const detail::access_record& a) noexcept {
    const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(a.address) & address_mask;
    const std::uint64_t key = bits | std::uint64_t{epoch_} << address_bits;
    if (mask_ == 0) return nullptr;
    for (std::uint64_t i = hash(bits);; i = (i + 1) & mask_) {
      entry& e = entries_[i];
      if (e.key == key) return e.bytes == a.bytes ? &e : nullptr;
      if (e.key == 0) return nullptr;
    }
  }
  /// The state of the range; a fresh one if the range was not seen since the last wait. For a range that
  /// contains others, or lies in one, meet(nested_range&) is called first. An empty range gets a state that it
  /// shares with no other. `type` names the task in errors. Throws kith::error for addresses of more than 48
  /// bits, and for a range that crosses another one. The reference is valid until the next call.
  template <class Meet>
  detail::tracker& find(const detail::access_record& a, std::uint16_t type, Meet&& meet) {
    if (detail::tracker* const known = find_plain(a)) return *known;
    const found f = find_in_index(a, type);
    if (f.nested != nullptr) meet(*f.nested);
    return *f.tracker;
  }

  /// If overlaps of handles are checked: throws kith::error if the handle's range overlaps another one, or equals that
  /// of another handle or of raw memory. Called when a scope first uses the handle since the last wait.
  void check_handle(const detail::access_record& a, std::uint16_t type);
  /// A fresh, unshared state; valid until the next call.
  detail::tracker& nowhere() noexcept { return nowhere_ = {}; }

  /// Whether the next range may need a table that is larger than one of moderate size.
  bool is_about_to_grow() const noexcept { return capacity() >= kept_capacity && is_full(); }
  /// Forgets ranges that has_ended(tracker) says nothing has to wait for any more. So a scope that names ever new
  /// ranges and does not wait needs memory for its unfinished tasks alone. Keeps ranges that contain others, or lie in
  /// one. Takes time in proportion to the table, and makes room in it: call it if is_about_to_grow(). Throws
  /// std::bad_alloc.
  template <class HasEnded>
  void forget_ended(const HasEnded& has_ended) {
    for (std::uint64_t k = 0; k < capacity(); ++k) {
      entry& e = entries_[k];
      const std::uint64_t bits = e.key & address_mask;
      if (e.key >> address_bits != epoch_ || bits == 0 || (e.bytes & points) != 0 || !has_ended(e)) continue;
      e.key = bits | std::uint64_t{no_epoch} << address_bits;
      forget_range({bits, bits + e.bytes});
    }
    make_room();
  }

  /// Called after a completed wait: all entries count as never seen, and data may be divided into other ranges.
  void next_epoch();
  /// Clears all but the regions of addresses, for the next scope of the same engine; keeps a table of moderate size.
  /// Takes time in proportion to the ranges that were named, not to the table.
  void clear() noexcept;
  /// Clears the regions as well, which are numbers of one engine.
  void forget_regions() noexcept;
  /// The number of entries of the table.
  std::uint64_t capacity() const noexcept { return mask_ == 0 ? 0 : mask_ + 1; }

  // ---- called by sibling_rules::meet
  std::uint64_t tick() noexcept { return ++stamps_; }
  std::vector<std::uint64_t>& scratch() noexcept { return scratch_; }
  template <class Each>
  void for_each_inside(const nested_range& r, Each&& each) {
    for (auto i = ranges_.upper_bound({r.begin, r.end}); i != ranges_.end() && i->first.begin < r.end; ++i)
      each(*i->second.nested);
  }

 private:
  static constexpr unsigned address_bits = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
  static constexpr std::uint64_t points = std::uint64_t{1} << 63;  // larger than any range's bytes
  static constexpr std::uint16_t no_epoch = 0;                     // earlier than all
  static constexpr std::uint64_t kept_capacity = 1 << 12;          // moderate

  struct entry : detail::tracker {
    std::uint64_t bytes = 0;  // or the address of the nested_range plus `points`; no other member is used then
  };
  struct extent {
    std::uintptr_t begin, end;
    /// A range comes before those that it contains.
    bool operator<(const extent& x) const noexcept { return begin != x.begin ? begin < x.begin : end > x.end; }
  };
  struct range {
    const detail::handle_base* handle = nullptr;  // null: raw memory
    mode how = mode::in;                          // of the task that first named it
    std::uint16_t type = 0;                       // of the same task
    std::uint16_t epoch = 0;
    std::unique_ptr<nested_range> nested;  // null: no range contains it or lies in it
  };
  using index = std::pmr::map<extent, range>;
  struct found {
    detail::tracker* tracker;
    nested_range* nested;
  };
  /// Neighbours of a range that is not yet in the index.
  struct insertion_point {
    index::iterator next;  // the first range that does not come before it
    index::iterator alone;
    nested_range* around = nullptr;
    bool contains = false;  // it contains others
  };

  std::uint64_t key_of(const void* p) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(p) & address_mask) | std::uint64_t{epoch_} << address_bits;
  }
  /// The hash of an address, without the epoch: an address keeps its entry.
  std::uint64_t hash(std::uint64_t bits) const noexcept { return (bits * 0x9e3779b97f4a7c15u) >> shift_; }
  found find_in_index(const detail::access_record&, std::uint16_t type);
  found add(const detail::access_record&, std::uint16_t type);
  insertion_point look_around(const extent&, const detail::access_record&, std::uint16_t type);
  index::iterator put(const insertion_point&, const extent&, const detail::access_record&, std::uint16_t type);
  nested_range& nest(index::iterator);
  /// The entry of this address, from any epoch, or a free one.
  entry& entry_at(std::uint64_t key);
  /// The first range of the index that does not come before `e`. Programs name neighbours one after the other, so it
  /// looks first behind the last one.
  index::iterator lower_bound(const extent& e) {
    const bool is_behind = last_ != ranges_.end() && last_->first < e;
    if (is_behind && (behind_last_ == ranges_.end() || !(behind_last_->first < e))) return behind_last_;
    return ranges_.lower_bound(e);
  }
  void clear_index() noexcept;
  void forget_range(const extent&);
  bool is_full() const noexcept { return used_ * 3 >= capacity() * 2; }
  /// Makes room for more entries; drops those of earlier epochs.
  void make_room();
  /// Makes all entries count as never seen.
  void begin_epoch() noexcept;

  struct freed {
    void operator()(entry* table) const noexcept { std::free(table); }
  };
  std::unique_ptr<entry[], freed> entries_;
  std::uint64_t mask_ = 0;  // capacity - 1; 0: no table
  unsigned shift_ = 64;
  std::uint16_t epoch_ = 1;  // part of every key, so that 0 is no key
  std::uint64_t used_ = 0;   // entries, of any epoch
  std::uint64_t named_ = 0;  // ranges of this epoch: at least its entries
  std::uint64_t least_;
  std::uint64_t stamps_ = 0;
  index_memory memory_;  // of the index; given back when that is cleared
  index ranges_{&memory_};
  index::iterator last_ = ranges_.end(), behind_last_ = ranges_.end();  // the range that was put last, and the next one
  detail::tracker nowhere_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace kith
