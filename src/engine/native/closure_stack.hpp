// Memory for the closures of a captured body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kith::native {

/// Memory that is allocated and freed in the order of a stack. Used by one thread at a time.
class closure_stack {
 public:
  struct mark {
    std::uint32_t block = 0, used = 0;
  };
  void* take(std::size_t bytes, std::size_t align);
  mark top() const noexcept { return top_; }
  /// Frees everything that was taken since the mark.
  void back_to(mark m) noexcept { top_ = m; }

 private:
  struct block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };
  std::vector<block> blocks_;
  mark top_;
};

}  // namespace kith::native
