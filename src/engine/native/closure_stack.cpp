#include "engine/native/closure_stack.hpp"

#include <algorithm>

namespace kith::native {

void* closure_stack::take(std::size_t bytes, std::size_t align) {
  constexpr std::size_t usual = std::size_t{64} * 1024;
  while (true) {
    if (top_.block == blocks_.size())
      blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(std::max(usual, bytes + align)),
                         std::max(usual, bytes + align)});
    block& b = blocks_[top_.block];
    void* at = b.bytes.get() + top_.used;
    std::size_t room = b.size - top_.used;
    if (std::align(align, bytes, at, room) != nullptr) {
      top_.used = static_cast<std::uint32_t>(static_cast<std::byte*>(at) - b.bytes.get() + bytes);
      return at;
    }
    if (top_.used == 0) {  // a block that a smaller closure needed once
      b = {std::make_unique_for_overwrite<std::byte[]>(bytes + align), bytes + align};
      continue;
    }
    top_ = {top_.block + 1, 0};
  }
}

}  // namespace kith::native
