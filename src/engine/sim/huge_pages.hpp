// Tables of a simulation are read in the order of the run, which is not theirs. In huge pages their addresses need
// fewer translations.
#pragma once

#include "base/address.hpp"
#include "base/round_up.hpp"
#include "memory/pages.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

/// Reserves memory that nothing has touched, and requests huge pages for as much of it as they cover.
template <class T>
void reserve_huge_pages(std::vector<T>& table, std::size_t entries) {
  table.reserve(entries);
  const std::size_t huge = huge_page_size();
  if (huge == 0) return;
  const auto at = reinterpret_cast<std::uintptr_t>(table.data());
  const std::uintptr_t first = round_up(at, huge), end = (at + table.capacity() * sizeof(T)) / huge * huge;
  if (first < end) want_huge_pages(at_address(first), end - first);
}

}  // namespace kith::sim
