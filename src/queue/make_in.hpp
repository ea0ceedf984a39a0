// A queue in memory of the caller's choice: the object, and all that it allocates.
#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

namespace kith {

/// Makes a queue in `memory`, which must outlive it. Queue's constructor takes an allocator last, for its containers.
template <class Queue, class... Arguments>
std::shared_ptr<Queue> make_in(std::pmr::memory_resource* memory, Arguments&&... arguments) {
  using allocator = std::pmr::polymorphic_allocator<Queue>;
  static_assert(std::uses_allocator_v<Queue, allocator>, "its containers would be elsewhere");
  return std::allocate_shared<Queue>(allocator(memory), std::forward<Arguments>(arguments)...);
}

}  // namespace kith
