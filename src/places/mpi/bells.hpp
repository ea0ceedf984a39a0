// Bells in memory that the processes of a machine share: MPI cannot wake a thread that sleeps in the kernel.
//
// The sender of a message rings its receiver's bell. B1: ring() changes the count, then reads `sleeping_`; sleep()
// writes `sleeping_`, then reads the count. Both sides are seq_cst, so that either the ringer sees the sleeper, or the
// sleeper sees the new count.
#pragma once

#include "base/atomic.hpp"
#include "places/mpi/peers.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace kith::distributed::mpi {

/// Any thread of any process may call ring() and count(); one thread calls sleep().
class bell {
 public:
  std::uint32_t count() const noexcept { return count_.load(acquire); }  // pairs with ring()
  void ring() noexcept;
  /// Sleeps until the count differs from `heard`, or until the time `until`. May return early.
  void sleep(std::uint32_t heard, std::chrono::steady_clock::time_point until) noexcept;

 private:
  alignas(false_sharing_range) atomic<std::uint32_t> count_{0};
  atomic<std::uint32_t> sleeping_{0};
};

class bells {
 public:
  /// Takes shared memory for the bells; if there is none, own() is a bell that other processes cannot ring. All
  /// processes of the communicator must construct it together.
  bells(MPI_Comm job, const std::vector<process_card>& cards, int here);
  /// Frees the memory. All processes must destroy it together, or call keep().
  ~bells();
  bells(const bells&) = delete;
  bells& operator=(const bells&) = delete;

  bell& own() noexcept { return *own_; }
  /// Rings the bell of a place, if it is on this machine.
  void ring(int place) noexcept {
    if (bell* const b = by_place_[static_cast<std::size_t>(place)]) b->ring();
  }
  /// Whether all other places ring this one.
  bool rung_by_all() const noexcept { return rung_by_all_; }
  /// Leaves the memory to the end of the process.
  void keep() noexcept { kept_ = true; }

 private:
  void find_others(MPI_Comm job);

  bell alone_;
  bell* own_ = &alone_;
  std::vector<bell*> by_place_;  // by place; null: not on this machine
  MPI_Comm machine_ = MPI_COMM_NULL;
  MPI_Win memory_ = MPI_WIN_NULL;
  bool rung_by_all_ = false, kept_ = false;
};

}  // namespace kith::distributed::mpi
