// The memory of tables that may grow large: zeroed, and on huge pages where the system has them. A large table is read
// at random and filled once, so that with small pages its page faults and TLB misses cost more than all else.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace kith {

/// `bytes` zeros, which std::free() gives back. Null if there is no memory.
void* take_zeros(std::size_t bytes) noexcept;

/// Memory as that of take_zeros(), for containers.
std::pmr::memory_resource* large_memory();

}  // namespace kith
