// What a program's `depend` clauses say, as accesses of Kith.
//
// The ABI passes addresses without sizes, so each counts as one byte. Only equal addresses order tasks.
#pragma once

#include <kith/detail/access_record.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace kith::gomp {

struct context;

/// The accesses of one list, in the layout of GOMP_task.
class access_records {
 public:
  /// Null: none.
  explicit access_records(void** list);
  std::span<const detail::access_record> all() const noexcept {
    return more_.empty() ? std::span(few_.data(), count_) : std::span<const detail::access_record>(more_);
  }
  /// The same, with turns taken as writes, for a task that does nothing: it holds no turn until the caller goes on.
  void take_no_turns() noexcept;

 private:
  void add(const void* address, mode how);
  std::span<detail::access_record> records() noexcept {
    return more_.empty() ? std::span(few_.data(), count_) : std::span(more_);
  }

  std::array<detail::access_record, 16> few_;
  std::size_t count_ = 0;
  std::vector<detail::access_record> more_;  // all of them, if they are more than fit there
};

/// Waits until the tasks have ended that a child of the running task with this list would wait for.
void await_predecessors(const context& in, void** list);

}  // namespace kith::gomp
