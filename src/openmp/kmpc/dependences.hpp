// The lists of `depend` clauses that LLVM's compilers make.
#pragma once

#include "openmp/context.hpp"
#include "openmp/dependences.hpp"
#include "openmp/kmpc/types.hpp"

#include <kith/error.hpp>

#include <cstdint>
#include <utility>

namespace kith::openmp::kmpc {

/// What the clauses of one task say: one list of items, and another one of those that overlap no other.
///
/// `omp_all_memory` is an item of the creator, which from its first use on is one of all its tasks with clauses.
class dependences {
 public:
  dependences(context& creator, std::int32_t count, const dependence* list, std::int32_t more,
              const dependence* others);

  bool all_memory() const noexcept { return all_memory_; }
  /// Calls use(accesses). Kith orders ranges that are equal, or one inside of the other, and refuses others that
  /// overlap. Once a creator has made such ones, only the addresses of its tasks' items count, as they do in libomp.
  template <class Use>
  void pass_to(const Use& use) {
    try {
      use(std::as_const(items_));
    } catch (const error& e) {
      if (e.kind() != error_kind::misuse || creator_.has_overlaps) throw;
      creator_.has_overlaps = true;
      items_.forget_sizes();
      use(std::as_const(items_));
    }
  }

 private:
  void add(std::int32_t count, const dependence* list);

  context& creator_;
  access_records items_;
  bool all_memory_ = false;
};

}  // namespace kith::openmp::kmpc
