#include "openmp/kmpc/reduction.hpp"

#include "base/address.hpp"
#include "base/round_up.hpp"
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/reduction.hpp"
#include "openmp/task_group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kith::openmp::kmpc {

/// A variable, as the program describes it (kmp_taskred_input_t).
struct reduced_variable {
  void* shared;    // what the copies are combined into
  void* original;  // for `begin`
  std::size_t bytes;
  void (*begin)(void* copy, void* original);  // null: zeros
  void (*end)(void* copy);                    // null: nothing
  void (*combine)(void* into, void* copy);
  std::uint32_t flags;
};

/// Those that one group has begun, with the descriptor by which reduction.hpp knows them.
class reductions {
 public:
  reductions(std::int32_t count, const reduced_variable* variables) : variables_(variables, variables + count) {
    constexpr std::size_t apart = 64;
    std::size_t block = 0;
    words_.assign(words_before_variables + 3 * variables_.size(), 0);
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      std::uintptr_t* const words = &words_[words_before_variables + 3 * i];
      words[0] = reinterpret_cast<std::uintptr_t>(variables_[i].shared);
      words[1] = block;
      block = round_up(block + variables_[i].bytes, apart);
    }
    words_[0] = variables_.size();
    words_[1] = block;
    words_[2] = apart;
    words_[3] = reinterpret_cast<std::uintptr_t>(this);
  }

  std::uintptr_t* descriptor() noexcept { return words_.data(); }
  /// The one that a descriptor belongs to.
  static reductions& of(const std::uintptr_t* descriptor) noexcept {
    return *static_cast<reductions*>(at_address(descriptor[3]));
  }

  void begin_copies(int threads) const {
    for_each_copy(threads, [](const reduced_variable& v, void* copy) {
      if (v.begin != nullptr) v.begin(copy, v.original);
    });
  }
  /// Ends all copies, which need not be this one's alone.
  void combine_copies(int threads) {
    for_each_copy(threads, [](const reduced_variable& v, void* copy) {
      v.combine(v.shared, copy);
      if (v.end != nullptr) v.end(copy);
    });
    free_private_blocks(words_.data());
  }

  /// Of a construct of the team: `first` is that of the member that came first, which lives until all have ended.
  void join(reductions& first) noexcept { first_ = &first; }
  /// Called once by each member. The last one, which sees what all have done, combines. Frees what it can.
  static void end_member(reductions& mine, int members) {
    reductions* const first = mine.first_;
    const bool last = first->ended_.fetch_add(1, acq_rel) + 1 == members;
    if (last) {
      mine.combine_copies(members);
      if (first != &mine) delete first;
    }
    if (last || first != &mine) delete &mine;
  }

 private:
  static constexpr std::size_t words_before_variables = 7;

  template <class F>
  void for_each_copy(int threads, const F& f) const {
    for (int thread = 0; thread < threads; ++thread) {
      const std::uintptr_t block = words_[2] + static_cast<std::uintptr_t>(thread) * words_[1];
      for (std::size_t i = 0; i < variables_.size(); ++i)
        f(variables_[i], at_address(block + words_[words_before_variables + 3 * i + 1]));
    }
  }

  std::vector<reduced_variable> variables_;
  std::vector<std::uintptr_t> words_;
  reductions* first_ = nullptr;
  atomic<int> ended_{0};  // members
};

void close_group_with_reductions() {
  const context& c = here();
  const std::unique_ptr<reductions> begun(c.group != nullptr ? c.group->begun : nullptr);
  close_group();
  if (begun) begun->combine_copies(c.team->size);
}

}  // namespace kith::openmp::kmpc

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

KITH_OPENMP_API void* __kmpc_taskred_init(std::int32_t, std::int32_t count, void* variables) {
  const context& c = here();
  auto begun = std::make_unique<reductions>(count, static_cast<const reduced_variable*>(variables));
  register_reductions(begun->descriptor());
  begun->begin_copies(c.team->size);
  c.group->begun = begun.release();
  return c.group;
}

/// Of a construct that all members of the team begin. Each has a descriptor, with the addresses of its own variables;
/// the copies are the same.
KITH_OPENMP_API void* __kmpc_taskred_modifier_init(const location*, std::int32_t, std::int32_t, std::int32_t count,
                                                   void* variables) {
  context& now = here();
  auto* const mine = new reductions(count, static_cast<const reduced_variable*>(variables));  // found by its descriptor
  const std::uintptr_t* const first =
      enter_reductions(*now.team, now.team->shares.enter(member_of(now).shares), mine->descriptor(),
                       [](std::uintptr_t* made) { reductions::of(made).begin_copies(here().team->size); });
  mine->join(reductions::of(first));
  return now.group;
}

KITH_OPENMP_API void __kmpc_task_reduction_modifier_fini(const location*, std::int32_t, std::int32_t) {
  const context& c = here();
  reductions& mine = reductions::of(c.group->reductions);
  close_group();
  reductions::end_member(mine, c.team->size);
}

KITH_OPENMP_API void* __kmpc_task_reduction_get_th_data(std::int32_t, void* group, void* variable) {
  const context& c = here();
  const task_group* const in = group != nullptr ? static_cast<const task_group*>(group) : c.group;
  return find_private_copy(in != nullptr ? in->reductions : nullptr, variable, c.thread).here;
}
