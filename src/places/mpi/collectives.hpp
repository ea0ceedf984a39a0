// The collectives of a place, by MPI's own. MPI requires that all processes call the same, and does not detect if they
// do not: it returns wrong values, hangs or overwrites memory. So each collective begins with an MPI_Iallreduce of a
// block of fixed size that describes it. A small collective has its data in the block, and ends with it; a large one is
// started when the blocks have turned out to be equal.
//
//  C1  Blocks and large collectives have a communicator each: a place may start its next block before another place has
//      started the previous large collective.
#pragma once

#include "places/transport.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace kith::distributed::mpi {

class collectives {
 public:
  /// REQUIRES: all processes of the job do the same.
  collectives(MPI_Comm job, int here);
  /// Collectives that have not ended are left to the end of the process.
  ~collectives();
  collectives(const collectives&) = delete;
  collectives& operator=(const collectives&) = delete;

  /// Returns MPI's result. Throws kith::error if an earlier collective differed from that of another place.
  int start(const collective& c);
  bool empty() const noexcept { return open_.empty(); }
  std::uint64_t ended() const noexcept { return ended_; }
  /// Continues the first open collective. `moved`: a part of it has ended. Returns MPI's result.
  int advance(bool& moved);
  /// Throws kith::error if a collective differed from that of another place.
  void refuse_if_broken() const;
  /// After a loss MPI may wait for ever: nothing is freed.
  void abandon() noexcept { abandoned_ = true; }

 private:
  struct block;
  struct started {
    collective what;
    std::unique_ptr<block> said;  // until the block has been reduced
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Never frees them, because MPI may still use them.
  static void keep(std::deque<started> what) { new std::deque<started>(std::move(what)); }
  static void combine(void* from, void* into, int* count, MPI_Datatype* type);
  int start_large(started& s) const;

  MPI_Comm blocks_job_ = MPI_COMM_NULL, large_job_ = MPI_COMM_NULL;
  MPI_Datatype block_type_ = MPI_DATATYPE_NULL;
  MPI_Op combine_blocks_ = MPI_OP_NULL;
  int here_;
  std::deque<started> open_;
  std::uint64_t ended_ = 0;
  std::string broken_;  // why no more can start; empty: they can
  bool abandoned_ = false;
};

}  // namespace kith::distributed::mpi
