// Runtimes for teams: one team has a runtime for itself, and gives it back for later ones of the same size.
#pragma once

#include <kith/runtime.hpp>

#include <cstddef>

namespace kith::openmp {

/// By OMP_STACKSIZE; 0: not set, then KITH_STACK says it.
std::size_t stack_bytes_of_workers() noexcept;

/// A runtime that nobody else uses while this object lives.
class lent_runtime {
 public:
  /// One with this number of workers: one that was given back, else a new one. Ends the program if none can be made.
  explicit lent_runtime(int workers) noexcept;
  ~lent_runtime();
  lent_runtime(const lent_runtime&) = delete;
  lent_runtime& operator=(const lent_runtime&) = delete;

  runtime& operator*() const noexcept { return *it_; }

 private:
  runtime* it_;
  int workers_;
};

}  // namespace kith::openmp
