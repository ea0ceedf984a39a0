// Loops whose iterations wait for iterations before them: ordered(n) with depend(source) and depend(sink).
//
// The iterations of one chunk are run in order by one member, so one number per chunk says how far it is: the count of
// the chunk's iterations, of the nest's innermost loop, up to the last one that was posted.
//
// 1. Only the member that runs a chunk writes its number, and the number only grows.
#pragma once

#include "base/atomic.hpp"
#include "openmp/loop_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kith::openmp {

class doacross {
 public:
  /// For the plan of the outermost loop, in a team of so many members. counts: the iterations of each loop of the nest.
  doacross(const loop_plan&, std::uint64_t members, const std::uint64_t* counts, std::size_t loops);

  std::size_t loops() const noexcept { return inner_.size(); }
  /// Says that the iteration is done, to the extent that others may depend on it. at: a number for each loop.
  void post(const std::uint64_t* at) noexcept;
  /// The number that says how far the iteration's chunk is, and the least value for which the iteration is posted.
  struct place {
    atomic<std::uint64_t>* progress;
    std::uint64_t needed;
  };
  place find(const std::uint64_t* at) const noexcept;

 private:
  struct frees {
    void operator()(atomic<std::uint64_t>*) const noexcept;
  };

  std::uint64_t unit_;                // iterations of the outermost loop in a chunk; of the longer ones, if larger_ > 0
  std::uint64_t larger_ = 0;          // the number of chunks that have one iteration more than the others, which follow
  std::vector<std::uint64_t> inner_;  // by loop: iterations of the innermost loop in one iteration of this one
  std::size_t stride_ = 1;            // numbers from one chunk to the next
  std::unique_ptr<atomic<std::uint64_t>[], frees> progress_;
};

}  // namespace kith::openmp
