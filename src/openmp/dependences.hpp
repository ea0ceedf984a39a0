// What a program's `depend` clauses say, as accesses of Kith.
#pragma once

#include <kith/detail/access_record.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace kith::openmp {

struct context;

/// The accesses of the `depend` clauses of one task.
class access_records {
 public:
  /// A null pointer is as good an address as any other. The size counts as 1 if it is 0.
  void add(const void* address, std::size_t bytes, mode how);
  std::span<const detail::access_record> all() const noexcept {
    return more_.empty() ? std::span(few_.data(), count_) : std::span<const detail::access_record>(more_);
  }
  /// Makes each item one byte, at its address.
  void forget_sizes() noexcept;
  /// Replaces commutative and concurrent accesses by inout, for a task that does nothing: it then holds no turn while
  /// its creator goes on.
  void take_no_turns() noexcept;

 private:
  std::span<detail::access_record> records() noexcept {
    return more_.empty() ? std::span(few_.data(), count_) : std::span(more_);
  }

  std::array<detail::access_record, 16> few_;
  std::size_t count_ = 0;
  std::vector<detail::access_record> more_;  // all of them, if they are more than fit there
};

/// Waits until the tasks have ended that a child of the running task with these accesses would wait for.
void await_predecessors(const context& in, access_records);

}  // namespace kith::openmp
