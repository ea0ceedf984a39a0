#include "memory/page_edges.hpp"

#include "base/address.hpp"
#include "memory/pages.hpp"

namespace kith {

void page_edges::refuse(std::uintptr_t page) {
  if (refused_.insert(page).second) refuse_huge_pages(at_address(page * huge_), huge_);
}

void page_edges::keep_apart(const void* begin, std::uint64_t bytes) {
  if (huge_ == 0 || bytes == 0) return;
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t to = from + bytes, first = from / huge_, last = (to - 1) / huge_;
  const std::lock_guard lock(guard_);
  if (from % huge_ != 0 || (first == last && to % huge_ != 0)) refuse(first);
  if (first != last && to % huge_ != 0) refuse(last);
}

void page_edges::forget(const void* begin, std::uint64_t bytes) {
  if (huge_ == 0 || bytes == 0) return;
  const auto from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = from / huge_, last = (from + (bytes - 1)) / huge_;
  const std::lock_guard lock(guard_);
  std::erase_if(refused_, [&](std::uintptr_t page) { return page >= first && page <= last; });
}

}  // namespace kith
