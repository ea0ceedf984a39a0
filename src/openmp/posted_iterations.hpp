// Loops whose iterations wait for iterations before them, if nothing is known of how the loop is cut: one bit for each
// iteration of the nest says whether it was posted. (doacross.hpp: one number for each chunk.)
//
// 1. A bit is only set, by the thread that runs the iteration, after what others wait for.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kith::openmp {

class posted_iterations {
 public:
  /// One of the nest's loops. The step is not 0.
  struct loop {
    std::int64_t first, last, step;
  };
  explicit posted_iterations(std::vector<loop> nest);

  /// The number of the iteration with these values of the loops' variables; nothing: there is no such iteration.
  std::optional<std::uint64_t> find(const std::int64_t* at) const noexcept;
  void post(std::uint64_t iteration) noexcept;
  bool is_posted(std::uint64_t iteration) const noexcept;

 private:
  struct frees {
    void operator()(atomic<std::uint64_t>*) const noexcept;
  };

  std::vector<loop> nest_;
  std::vector<std::uint64_t> counts_;  // by loop
  std::unique_ptr<atomic<std::uint64_t>[], frees> bits_;
};

}  // namespace kith::openmp
