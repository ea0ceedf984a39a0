#include "task/address_map.hpp"

#include "task/type_names.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>

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

constexpr std::uint64_t kept_capacity = 1 << 12;

}  // namespace

void address_map::check_overlap(const detail::access_record& a, std::uint16_t type) {
  const auto begin = reinterpret_cast<std::uintptr_t>(a.address);
  const std::uintptr_t end = begin + a.bytes;
  auto refuse = [&](std::uintptr_t b, const range& r) {
    throw error(
        "partial overlap of accesses: " + describe(a.how, begin, end, type) + " and " +
        describe(r.how, b, r.end, r.type) +
        ". Accesses are matched by their handle, or by their first address: let both name the same range in the "
        "same way, or cut the data into ranges that do not overlap");
  };
  // Ranges of earlier epochs no longer order anything: they give way.
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) {
    auto before = std::prev(at);
    const bool same_name = before->first == begin && before->second.by == a.handle;
    if (!same_name && before->second.end > begin) {
      if (before->second.epoch == epoch_) refuse(before->first, before->second);
      ranges_.erase(before);
    }
  }
  while (at != ranges_.end() && at->first < end) {
    if (at->second.epoch == epoch_) refuse(at->first, at->second);
    at = ranges_.erase(at);
  }
  ranges_.insert_or_assign(at, begin, range{end, a.handle, a.how, type, epoch_});
}

detail::tracker& address_map::first_seen(const detail::access_record& a, std::uint16_t type) {
  if ((reinterpret_cast<std::uintptr_t>(a.address) & ~address_mask) != 0) {
    throw error("an access names an address of more than 48 bits");
  }
  check_overlap(a, type);
  if (mask_ == 0 || used_ * 3 >= (mask_ + 1) * 2) grow();
  const std::uint64_t key = key_of(a.address);
  std::uint64_t i = hash(key);
  // An entry of an earlier epoch with the same address is taken over, and with it its region.
  while (entries_[i].key != 0 && ((entries_[i].key ^ key) & address_mask) != 0) i = (i + 1) & mask_;
  entry& e = entries_[i];
  used_ += e.key == 0;
  e = entry{{key, 0, 0, 0, 0, e.region}, a.bytes};
  return e;
}

void address_map::grow() {
  const std::uint64_t capacity = std::max<std::uint64_t>(16, (mask_ + 1) * 2);
  std::unique_ptr<entry[]> old = std::move(entries_);
  const std::uint64_t old_capacity = mask_ == 0 ? 0 : mask_ + 1;
  entries_ = std::make_unique<entry[]>(capacity);
  mask_ = capacity - 1;
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(capacity));
  for (std::uint64_t k = 0; k < old_capacity; ++k) {
    if (old[k].key == 0) continue;
    std::uint64_t i = hash(old[k].key);
    while (entries_[i].key != 0) i = (i + 1) & mask_;
    entries_[i] = old[k];
  }
}

void address_map::next_epoch() {
  if (used_ == 0 && ranges_.empty()) return;
  if (epoch_ == 0xffff) {
    clear();
  } else {
    ++epoch_;
  }
}

void address_map::clear() noexcept {
  if (mask_ + 1 > kept_capacity) {
    entries_.reset();
    mask_ = 0;
    shift_ = 64;
  } else if (used_ != 0) {
    std::fill_n(entries_.get(), mask_ + 1, entry{});
  }
  used_ = 0;
  epoch_ = 1;
  ranges_.clear();
}

}  // namespace kith
