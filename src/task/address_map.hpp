// From an address to its dependence state, for one scope. The owner of the scope alone uses it.
//
// Open addressing, linear probing, Fibonacci hashing; 48-byte entries. Beside it, an ordered index of the ranges,
// consulted only when an address is first seen, or longer than before (since the last completed wait): a range that
// overlaps another partially is an error.
#pragma once

#include <kith/access.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace kith {

class address_map {
 public:
  /// The state of the region that starts at `a.address`; fresh if it was never seen, or not since the last wait.
  /// `type` names the task in the error. Throws kith::error for an address of more than 48 bits, or a partial overlap
  /// with another region. A shorter range at a known address is that region. The reference holds until the next call.
  detail::tracker& find(const detail::access_record& a, std::uint16_t type) {
    const std::uint64_t key = key_of(a.address);
    if (mask_ != 0) {
      for (std::uint64_t i = hash(key);; i = (i + 1) & mask_) {
        entry& e = entries_[i];
        if (e.key == key) {
          if (a.bytes > e.bytes) [[unlikely]] {
            check_overlap(a, type);
            e.bytes = a.bytes;
          }
          return e;
        }
        if (e.key == 0) break;
      }
    }
    return first_seen(a, type);
  }

  /// Where overlaps of handles are checked as well: throws kith::error if the handle's range overlaps another one, or is
  /// that of another handle or of raw memory. Called when a scope first uses the handle since the last wait.
  void check_handle(const detail::access_record& a, std::uint16_t type) { check_overlap(a, type); }

  /// After a completed wait: all entries count as never seen; ranges may be cut anew.
  void next_epoch();
  /// Forgets everything; keeps a table of moderate size for the next scope.
  void clear() noexcept;

 private:
  static constexpr unsigned address_bits = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;

  struct entry : detail::tracker {
    std::uint64_t bytes = 0;  // the longest range seen
  };
  struct range {
    std::uintptr_t end;
    const detail::handle_base* by;  // null: raw memory
    mode how;
    std::uint16_t type;
    std::uint16_t epoch;
  };

  std::uint64_t key_of(const void* p) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(p) & address_mask) | std::uint64_t{epoch_} << address_bits;
  }
  std::uint64_t hash(std::uint64_t key) const noexcept {
    return ((key & address_mask) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  detail::tracker& first_seen(const detail::access_record&, std::uint16_t type);
  void check_overlap(const detail::access_record&, std::uint16_t type);
  void grow();

  std::unique_ptr<entry[]> entries_;
  std::uint64_t mask_ = 0;  // capacity - 1; 0: no table
  unsigned shift_ = 64;
  std::uint64_t used_ = 0;
  std::uint16_t epoch_ = 1;  // in every key, so that 0 is no key
  std::map<std::uintptr_t, range> ranges_;
};

}  // namespace kith
