#include "openmp/gomp/dependences.hpp"

#include "openmp/fatal.hpp"

#include <kith/access.hpp>

#include <cstdint>

namespace kith::openmp {

namespace {

/// A depobj (omp_depend_t).
struct depend_object {
  const void* address;
  std::uintptr_t kind;
};

mode mode_of(std::uintptr_t kind) {
  switch (kind) {
    case 1: return mode::in;
    case 2: return mode::out;
    case 3: return mode::inout;
    case 4: return mode::commutative;
    case 5: return mode::concurrent;  // inoutset
    default: die("a depobj of a `depend` clause has no kind: it was not set, or was destroyed");
  }
}

}  // namespace

/// The list begins with its length and the number of `out` and `inout` addresses, which come first. If it begins with
/// 0, there follow the length, and the numbers of addresses of three kinds; all others are depobjs.
access_records records_of(void** list) {
  access_records all;
  const auto number = [list](std::size_t i) { return reinterpret_cast<std::uintptr_t>(list[i]); };
  if (number(0) != 0) {
    for (std::size_t i = 0; i < number(0); ++i) all.add(list[2 + i], 1, i < number(1) ? mode::inout : mode::in);
    return all;
  }
  void** const entries = list + 5;
  const std::size_t outs = number(2), exclusive = outs + number(3), plain = exclusive + number(4);
  for (std::size_t i = 0; i < number(1); ++i) {
    if (i < plain) {
      all.add(entries[i], 1, i < outs ? mode::inout : i < exclusive ? mode::commutative : mode::in);
    } else {
      const auto& object = *static_cast<const depend_object*>(entries[i]);
      all.add(object.address, 1, mode_of(object.kind));
    }
  }
  return all;
}

}  // namespace kith::openmp
