#include "openmp/kmpc/reduction.hpp"

#include "base/address.hpp"
#include "base/round_up.hpp"
#include "engine/native/addressed.hpp"
#include "engine/native/engine.hpp"
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/reduction.hpp"
#include "openmp/task_group.hpp"
#include "openmp/wait.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kith::openmp::kmpc {

/// A variable, as the program describes it (kmp_taskred_input_t).
struct reduced_variable {
  void* shared;    // what the copies are combined into
  void* original;  // for `begin`; null: `shared`
  std::size_t bytes;
  void (*begin)(void* copy, void* original);  // null: zeros
  void (*end)(void* copy);                    // null: nothing
  void (*combine)(void* into, void* copy);
  std::uint32_t flags;
};
static_assert(sizeof(reduced_variable) == 56);

/// Those that one group has begun, with the descriptor by which reduction.hpp knows them.
class reductions {
 public:
  reductions(std::int32_t count, const reduced_variable* variables, int threads)
      : variables_(variables, variables + count),
        words_(descriptor_view::words_for(variables_.size())),
        begun_(static_cast<std::size_t>(threads) * variables_.size()) {
    constexpr std::size_t apart = 64;
    const descriptor_view d = view();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      d.address_of(i) = reinterpret_cast<std::uintptr_t>(variables_[i].shared);
      d.offset_of(i) = d.block_bytes();
      d.block_bytes() = round_up(d.block_bytes() + variables_[i].bytes, apart);
    }
    d.variables() = variables_.size();
    d.blocks() = apart;
    d.owner() = reinterpret_cast<std::uintptr_t>(this);
  }

  std::uintptr_t* descriptor() noexcept { return words_.data(); }
  /// The one that a descriptor belongs to.
  static reductions& of(const std::uintptr_t* descriptor) noexcept {
    return *static_cast<reductions*>(at_address(descriptor_view{const_cast<std::uintptr_t*>(descriptor)}.owner()));
  }

  /// Called by a thread when it asks for its copy. A copy is begun only then, because the program may pass an array's
  /// length to `begin` in a thread's variable that it sets just before.
  void begin_copy(const private_copy& at, int thread) {
    char& begun = common().begun_[number_of(thread, at.variable)];  // of this thread alone, until all have ended
    if (begun != 0) return;
    begun = 1;
    const reduced_variable& v = variables_[at.variable];
    if (v.begin != nullptr) v.begin(at.here, v.original != nullptr ? v.original : v.shared);
  }
  /// Combines and ends all copies, whichever member began them. Only in a member of the team, or a task of it.
  void combine_copies(team& in) {
    for (int thread = 0; thread < in.size; ++thread) {
      if (thread != here().thread && has_lengths_of(thread)) {
        // That thread's variables have the arrays' lengths, so it must combine its copies itself.
        const keeps_context mine;
        native::create_addressed(*native::worker::current(), worker_id(thread), 0, [this, thread, &in] {
          context c = in.context_of(thread);
          const enters_context combining(c);
          combine(thread);
        });
        wait_for_children();
      } else {
        combine(thread);
      }
    }
    free_private_blocks(words_.data());
  }

  /// Of a construct of the team: `first` is that of the member that came first, which lives until all have ended.
  void join(reductions& first) noexcept { first_ = &first; }
  /// Called once by each member. The last one, which sees what all have done, combines. Deletes the objects that nobody
  /// needs any more.
  static void end_member(reductions& mine, team& in) {
    reductions* const first = mine.first_;
    // acq_rel: pairs with those of the other members; the last one sees what the tasks of all have done.
    const bool last = first->ended_.fetch_add(1, acq_rel) + 1 == in.size;
    if (last) {
      mine.combine_copies(in);
      if (first != &mine) delete first;
    }
    if (last || first != &mine) delete &mine;
  }

 private:
  static constexpr std::uint32_t with_length_of_thread = 1;  // of `flags`

  descriptor_view view() noexcept { return {words_.data()}; }
  reductions& common() noexcept { return first_ != nullptr ? *first_ : *this; }
  std::size_t number_of(int thread, std::size_t variable) const noexcept {
    return static_cast<std::size_t>(thread) * variables_.size() + variable;
  }
  bool has_begun(int thread, std::size_t variable) noexcept {
    return common().begun_[number_of(thread, variable)] != 0;
  }
  bool has_lengths_of(int thread) noexcept {
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if ((variables_[i].flags & with_length_of_thread) != 0 && has_begun(thread, i)) return true;
    }
    return false;
  }
  void combine(int thread) {
    const descriptor_view d = view();
    const std::uintptr_t block = d.blocks() + static_cast<std::uintptr_t>(thread) * d.block_bytes();
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!has_begun(thread, i)) continue;
      const reduced_variable& v = variables_[i];
      void* const copy = at_address(block + d.offset_of(i));
      v.combine(v.shared, copy);
      if (v.end != nullptr) v.end(copy);
    }
  }

  std::vector<reduced_variable> variables_;
  std::vector<std::uintptr_t> words_;
  std::vector<char> begun_;  // by thread and variable: whether there is a copy
  reductions* first_ = nullptr;
  atomic<int> ended_{0};  // members
};

void close_group_with_reductions() {
  const context& c = here();
  const std::unique_ptr<reductions> begun(c.group != nullptr ? c.group->begun : nullptr);
  close_group();
  if (begun) begun->combine_copies(*c.team);
}

}  // namespace kith::openmp::kmpc

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

KITH_OPENMP_API void* __kmpc_taskred_init(std::int32_t, std::int32_t count, void* variables) {
  const context& c = here();
  auto begun = std::make_unique<reductions>(count, static_cast<const reduced_variable*>(variables), c.team->size);
  register_reductions(begun->descriptor());
  c.group->begun = begun.release();
  return c.group;
}

/// Of a construct that all members of the team begin. Each has a descriptor, with the addresses of its own variables;
/// the copies are the same.
KITH_OPENMP_API void* __kmpc_taskred_modifier_init(const location*, std::int32_t, std::int32_t, std::int32_t count,
                                                   void* variables) {
  context& now = here();
  // It is found by its descriptor.
  auto* const mine = new reductions(count, static_cast<const reduced_variable*>(variables), now.team->size);
  const std::uintptr_t* const first =
      enter_reductions(*now.team, now.team->shares.enter(member_of(now).shares), mine->descriptor());
  mine->join(reductions::of(first));
  return now.group;
}

KITH_OPENMP_API void __kmpc_task_reduction_modifier_fini(const location*, std::int32_t, std::int32_t) {
  const context& c = here();
  reductions& mine = reductions::of(c.group->reductions);
  close_group();
  reductions::end_member(mine, *c.team);
}

KITH_OPENMP_API void* __kmpc_task_reduction_get_th_data(std::int32_t, void* group, void* variable) {
  const context& c = here();
  const task_group* const in = group != nullptr ? static_cast<const task_group*>(group) : c.group;
  const private_copy found = find_private_copy(in != nullptr ? in->reductions : nullptr, variable, c.thread);
  reductions::of(found.descriptor).begin_copy(found, c.thread);
  return found.here;
}
