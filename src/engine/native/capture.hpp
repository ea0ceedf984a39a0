// The tasks that a captured body creates: their closures, and what they declare. From these the arrays are derived that
// run in place of tasks. Used by one thread at a time.
//
// A body may be executed again. Each task is then compared with the one at its position in the previous execution.
// While all are the same, their closures are replaced in place, and the arrays stay as they are. Accesses are compared
// by their regions: a region may have another address than before, if all tasks that named it name the new one. From
// the first difference on, the tasks are captured anew.
#pragma once

#include "engine/native/closure_stack.hpp"
#include "engine/native/node_arrays.hpp"
#include "task/scope.hpp"

#include <kith/access.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::native {

class capture final : public detail::creation_sink {
 public:
  explicit capture(const char* who) noexcept : who_(who) {}
  ~capture() { clear(); }
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;

  /// Called before the body is executed. With `again`, its tasks are compared with those that are kept.
  void start(bool again);
  /// Called after the body was executed. True if the structure differs from the one that `arrays` were derived from:
  /// they are then derived again. Throws kith::error for accesses that cross, after which nothing is kept.
  bool finish(node_arrays& arrays);
  void clear() noexcept;

  detail::draft begin(std::size_t closure_bytes, std::size_t closure_align) override;
  task_ref submit(detail::task_code, const detail::declared&) override;
  void abandon() noexcept override { cut(turn_); }
  [[noreturn]] void refuse(std::string_view what) const override;

  /// A task as it was created.
  struct node {
    detail::task_code code;
    void* closure;
    std::uint32_t bytes, align;
    closure_stack::mark before, after;      // the stack around its closure
    std::uint32_t accesses_end, needs_end;  // where its parts of the lists end
    detail::hints h;
  };
  const std::vector<node>& nodes() const noexcept { return nodes_; }
  std::size_t edges() const noexcept { return edges_; }
  bool has_levels() const noexcept { return has_levels_; }
  /// The accesses of the i-th node; valid until the next call.
  std::span<const detail::access_record> accesses_of(std::size_t i);
  /// The nodes that the i-th names with kith::after.
  std::span<const std::uint32_t> needs_of(std::size_t i) const noexcept;

 private:
  struct access {
    std::uint32_t region;
    mode how;
    float touched;
  };
  struct region {
    const void* address;
    std::uint64_t bytes;
    std::uint32_t named_in;  // the execution of the body in which it was last named
  };
  static constexpr std::uint32_t tag_shift = 28;

  bool is_same(const node&, std::span<const detail::access_record>, std::span<const std::uint32_t> needs,
               const detail::hints&);
  void cut(std::size_t first) noexcept;
  std::uint32_t node_of(task_ref) const;
  std::uint32_t accesses_begin(std::size_t i) const noexcept { return i == 0 ? 0 : nodes_[i - 1].accesses_end; }
  std::uint32_t needs_begin(std::size_t i) const noexcept { return i == 0 ? 0 : nodes_[i - 1].needs_end; }
  bool regions_are_apart();
  void derive(node_arrays& arrays);
  void number_regions();

  const char* const who_;
  std::vector<node> nodes_;
  std::vector<access> accesses_;
  std::vector<std::uint32_t> needs_;
  std::vector<region> regions_;
  closure_stack closures_;
  detail::task_code replaced_ = nullptr;  // the code of the closure that the next one replaces
  std::size_t turn_ = 0;                  // the next node's number
  std::uint32_t execution_ = 0;           // the number of the body's execution
  bool changed_ = false;                  // in this execution
  bool moved_ = false;                    // a region has another address
  bool overlap_ = false;                  // regions have bytes in common
  bool has_levels_ = false;
  std::size_t edges_ = 0;
  std::vector<detail::access_record> records_;  // scratch, like the next one
  std::vector<std::uint32_t> named_;
};

}  // namespace kith::native
