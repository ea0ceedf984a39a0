// From a range of addresses to its dependence state, for one scope. The owner of the scope alone uses it.
//
// Open addressing by the first address, linear probing, Fibonacci hashing; 48-byte entries. Beside it, an ordered index
// of the ranges, consulted only when a range is not the one that the entry of its address is for. Ranges may contain
// others, at any depth; one that crosses another (since the last completed wait) is an error. A range with others around
// or inside it has its state in a nested_range (sibling_rules.hpp), which its entry points to.
// In the index no range of an earlier epoch begins within one of this epoch: all that is found there counts.
#pragma once

#include "task/sibling_rules.hpp"

#include <kith/access.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace kith {

class address_map {
 public:
  /// `least`: entries of the smallest table; a power of two, at least 4.
  explicit address_map(std::uint64_t least = 16) : least_(least) {}

  /// The state of the range; fresh if it was never seen, or not since the last wait. For a range that contains others, or
  /// lies in one, meet(nested_range&) is called before. Of a range without bytes: a state that nobody shares.
  /// `type` names the task in errors. Throws kith::error for addresses of more than 48 bits, and for a range that crosses
  /// another one. The reference holds until the next call.
  template <class Meet>
  detail::tracker& find(const detail::access_record& a, std::uint16_t type, Meet&& meet) {
    const std::uint64_t key = key_of(a.address);
    if (mask_ != 0) {
      for (std::uint64_t i = hash(key);; i = (i + 1) & mask_) {
        entry& e = entries_[i];
        if (e.key == key) {
          if (e.bytes == a.bytes) [[likely]]
            return e;
          break;
        }
        if (e.key == 0) break;
      }
    }
    const found f = find_in_index(a, type);
    if (f.nested != nullptr) meet(*f.nested);
    return *f.state;
  }

  /// Where overlaps of handles are checked as well: throws kith::error if the handle's range overlaps another one, or is
  /// that of another handle or of raw memory. Called when a scope first uses the handle since the last wait.
  void check_handle(const detail::access_record& a, std::uint16_t type);
  /// A fresh state that nobody shares, until the next call.
  detail::tracker& nowhere() noexcept { return nowhere_ = {}; }

  /// After a completed wait: all entries count as never seen; ranges may be cut anew.
  void next_epoch();
  /// Forgets everything; keeps a table of moderate size for the next scope.
  void clear() noexcept;

  // ---- for sibling_rules::meet
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
  static constexpr std::uint64_t points = std::uint64_t{1} << 63;  // more than a range has bytes

  struct entry : detail::tracker {
    std::uint64_t bytes = 0;  // or the address of the nested_range, and `points`; nothing else is used then
  };
  struct extent {
    std::uintptr_t begin, end;
    /// What contains another range is before it.
    bool operator<(const extent& x) const noexcept { return begin != x.begin ? begin < x.begin : end > x.end; }
  };
  struct range {
    const detail::handle_base* by = nullptr;  // null: raw memory
    mode how = mode::in;                      // of the task that named it first
    std::uint16_t type = 0;                   // likewise
    std::uint16_t epoch = 0;
    std::unique_ptr<nested_range> nested;  // null: there is none around it and none inside
  };
  using index = std::map<extent, range>;
  struct found {
    detail::tracker* state;
    nested_range* nested;
  };
  /// What is around a range that is not in the index yet: a range without others, or one with others.
  struct place {
    index::iterator next;  // in the index
    index::iterator alone;
    nested_range* around = nullptr;
    bool contains = false;  // others
  };

  std::uint64_t key_of(const void* p) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(p) & address_mask) | std::uint64_t{epoch_} << address_bits;
  }
  std::uint64_t hash(std::uint64_t key) const noexcept {
    return ((key & address_mask) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  found find_in_index(const detail::access_record&, std::uint16_t type);
  found add(const detail::access_record&, std::uint16_t type);
  place look_around(const extent&, const detail::access_record&, std::uint16_t type);
  index::iterator put(const place&, const extent&, const detail::access_record&, std::uint16_t type);
  nested_range& nest(index::iterator);
  /// The entry of this address, of any epoch, or a free one.
  entry& entry_at(std::uint64_t key);
  void grow();

  std::unique_ptr<entry[]> entries_;
  std::uint64_t mask_ = 0;  // capacity - 1; 0: no table
  unsigned shift_ = 64;
  std::uint16_t epoch_ = 1;  // in every key, so that 0 is no key
  std::uint64_t used_ = 0;
  std::uint64_t least_;
  std::uint64_t stamps_ = 0;
  index ranges_;
  detail::tracker nowhere_;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace kith
