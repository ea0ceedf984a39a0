// Reading the memory of other processes on this machine (process_vm_readv): a large message has no other copy on its
// way.
//
// MPI could do it, too; but if the other process ends meanwhile, some MPIs end this one.
#pragma once

#include "places/mpi/peers.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::distributed::mpi {

class near_memory {
 public:
  /// Finds out whether all processes may read the memory of those on their machine. A collective.
  near_memory(MPI_Comm job, const std::vector<process_card>& cards, int here);

  /// Whether that place and this one can read each other's memory.
  bool reaches(int place) const noexcept { return pids_[static_cast<std::size_t>(place)] != 0; }
  /// Reads some of `size` bytes at that address there, and returns how many. 0: not now, because the process has ended
  /// or is about to. Throws std::system_error if it is there and they cannot be read. REQUIRES: reaches(place).
  std::size_t read(int place, std::uint64_t from, std::byte* to, std::size_t size) const;

 private:
  std::vector<std::int32_t> pids_;  // by place; 0: not to be read
};

}  // namespace kith::distributed::mpi
