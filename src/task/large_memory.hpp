// The memory of tables that may grow large: from 4 MiB on it is on huge pages, where the system has them. A large table
// is read at random and filled once, so that with small pages its page faults and TLB misses cost more than all else.
#pragma once

#include <cstddef>
#include <memory_resource>

namespace kith {

/// `bytes` zeros, which std::free() gives back. Null if there is no memory.
void* allocate_zeros(std::size_t bytes) noexcept;

/// For containers: malloc(), and allocate_zeros() for blocks of 4 MiB or more.
std::pmr::memory_resource* large_memory();

}  // namespace kith
