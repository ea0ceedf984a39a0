#include "openmp/kmpc/dependences.hpp"

#include "base/address.hpp"

#include <kith/access.hpp>

namespace kith::openmp::kmpc {

namespace {

namespace flag {
constexpr std::uint8_t out = 2, exclusive = 4, in_set = 8, all_memory = 0x80;  // else 1: in
}

mode mode_of(std::uint8_t flags) noexcept {
  if ((flags & flag::in_set) != 0) return mode::concurrent;
  if ((flags & flag::exclusive) != 0) return mode::commutative;
  return (flags & flag::out) != 0 ? mode::inout : mode::in;
}

}  // namespace

dependences::dependences(context& creator, std::int32_t count, const dependence* list, std::int32_t more,
                         const dependence* others)
    : creator_(creator) {
  add(count, list);
  add(more, others);
  if (all_memory_) creator.uses_all_memory = true;
  if (creator.uses_all_memory && count + more != 0) items_.add(&creator, 1, all_memory_ ? mode::inout : mode::in);
}

void dependences::add(std::int32_t count, const dependence* list) {
  for (std::int32_t i = 0; i < count; ++i) {
    const dependence& d = list[i];
    if ((d.flags & flag::all_memory) != 0) {
      all_memory_ = true;
    } else {
      const std::size_t bytes = creator_.has_overlaps ? 1 : d.bytes;
      items_.add(at_address(static_cast<std::uintptr_t>(d.address)), bytes, mode_of(d.flags));
    }
  }
}

}  // namespace kith::openmp::kmpc
