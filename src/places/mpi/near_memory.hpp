// Reads the memory of other processes on this machine (process_vm_readv), so that a large message is copied only once.
//
// MPI could do this too, but some MPIs end this process if the other one ends meanwhile.
#pragma once

#include "places/mpi/peers.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::distributed::mpi {

class near_memory {
 public:
  /// Finds out whether all processes may read the memory of those on their machine. Collective.
  near_memory(MPI_Comm job, const std::vector<process_card>& cards, int here);

  /// Whether that place and this one can read each other's memory.
  bool reaches(int place) const noexcept { return pids_[static_cast<std::size_t>(place)] != 0; }
  /// Reads some of `size` bytes at address `from` of that place, and returns how many. 0: its process has ended or is
  /// about to. Throws std::system_error if the process runs and cannot be read. REQUIRES: reaches(place).
  std::size_t read(int place, std::uint64_t from, std::byte* to, std::size_t size) const;

 private:
  std::vector<std::int32_t> pids_;  // by place; 0: not readable
};

}  // namespace kith::distributed::mpi
