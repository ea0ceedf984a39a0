// Keeps huge pages from holding bytes with different homes.
//
// If the system gives huge pages without a request (transparent_hugepage=always), the first touch of a small
// region puts two megabytes on the toucher's node, including the regions beside it. So huge pages that a region
// covers only in part are refused (MADV_NOHUGEPAGE) before a task can touch it. Those that it covers completely
// have one home and stay. Thread-safe; takes a lock, and seldom a system call, for each new region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace kith {

class page_edges {
 public:
  /// `huge` is the size of huge pages; 0: does nothing.
  explicit page_edges(std::size_t huge) noexcept : huge_(huge) {}

  /// The range has its own home, and is not touched yet: refuses huge pages that extend over its ends.
  void keep_apart(const void* begin, std::uint64_t bytes);
  /// The memory was given back: a later mapping there starts without refusals.
  void forget(const void* begin, std::uint64_t bytes);

 private:
  void refuse(std::uintptr_t page);

  const std::size_t huge_;
  std::mutex guard_;
  std::unordered_set<std::uintptr_t> refused_;  // by page number
};

}  // namespace kith
