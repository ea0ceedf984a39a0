// Keeps huge pages from holding bytes of two homes.
//
// Where the system gives huge pages unasked (transparent_hugepage=always), the first touch of a small region puts two
// megabytes on the toucher's node, and with them the regions beside it. So the huge pages that a region covers in part
// are refused (MADV_NOHUGEPAGE) before a task can touch it; those that it covers whole stay: they have one home. Any
// thread; a lock, and seldom a system call, for each new region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace kith {

class page_edges {
 public:
  /// `huge`: of huge pages; 0: nothing is done.
  explicit page_edges(std::size_t huge) noexcept : huge_(huge) {}

  /// The range has a home of its own, of which its pages know nothing yet.
  void keep_apart(const void* begin, std::uint64_t bytes);
  /// The memory was given back: what comes to lie there is new to the system.
  void forget(const void* begin, std::uint64_t bytes);

 private:
  void refuse(std::uintptr_t page);

  const std::size_t huge_;
  std::mutex guard_;
  std::unordered_set<std::uintptr_t> refused_;  // by number
};

}  // namespace kith
