#include "places/mpi/bells.hpp"

#include "base/futex.hpp"
#include "base/steady_time.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace kith::distributed::mpi {

void bell::ring() noexcept {
  count_.fetch_add(1, seq_cst);  // B1
  if (sleeping_.load(seq_cst) != 0) futex_wake(count_, 1, futex_scope::machine);
}

void bell::sleep(std::uint32_t heard, std::chrono::steady_clock::time_point until) noexcept {
  sleeping_.store(1, seq_cst);  // B1
  if (count_.load(seq_cst) == heard) futex_wait_until(count_, heard, steady_nanoseconds(until), futex_scope::machine);
  sleeping_.store(0, relaxed);
}

namespace {

constexpr MPI_Aint room = sizeof(bell) + alignof(bell);  // MPI may align the memory less

/// The bell in a process's part of the memory, which all processes map at a multiple of a page.
void* aligned(void* part) noexcept {
  std::size_t size = room;
  return std::align(alignof(bell), sizeof(bell), part, size);
}

}  // namespace

bells::bells(MPI_Comm job, const std::vector<process_card>& cards, int here) : by_place_(cards.size(), nullptr) {
  // Not by MPI_COMM_TYPE_SHARED: processes in different containers may not be able to share memory.
  const auto is_here = [&](const process_card& c) {
    return c.machine == cards[static_cast<std::size_t>(here)].machine;
  };
  const auto first = static_cast<int>(std::ranges::find_if(cards, is_here) - cards.begin());
  MPI_Comm_split(job, first, here, &machine_);
  if (std::ranges::count_if(cards, is_here) == 1) return;
  MPI_Comm_set_errhandler(machine_, MPI_ERRORS_RETURN);
  void* mine = nullptr;
  int fine =
      MPI_Win_allocate_shared(room, 1, MPI_INFO_NULL, machine_, static_cast<void*>(&mine), &memory_) == MPI_SUCCESS;
  if (fine != 0) own_ = new (aligned(mine)) bell;
  MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_LAND, machine_);
  if (fine == 0) {  // there is no room for shared memory
    own_ = &alone_;
    kept_ = true;  // some processes may have the memory
    return;
  }
  find_others(job);
}

void bells::find_others(MPI_Comm job) {
  int near = 0, here = 0;
  MPI_Comm_size(machine_, &near);
  MPI_Comm_rank(machine_, &here);
  MPI_Group group_here = MPI_GROUP_NULL, group_all = MPI_GROUP_NULL;
  MPI_Comm_group(machine_, &group_here);
  MPI_Comm_group(job, &group_all);
  for (int r = 0; r < near; ++r) {
    int place = 0, unit = 0;
    MPI_Aint size = 0;
    void* part = nullptr;
    MPI_Group_translate_ranks(group_here, 1, &r, group_all, &place);
    MPI_Win_shared_query(memory_, r, &size, &unit, static_cast<void*>(&part));
    if (r != here) by_place_[static_cast<std::size_t>(place)] = std::launder(static_cast<bell*>(aligned(part)));
  }
  MPI_Group_free(&group_here);
  MPI_Group_free(&group_all);
  rung_by_all_ = near == static_cast<int>(by_place_.size());
}

bells::~bells() {
  if (kept_) return;
  if (memory_ != MPI_WIN_NULL) MPI_Win_free(&memory_);
  if (machine_ != MPI_COMM_NULL) MPI_Comm_free(&machine_);
}

}  // namespace kith::distributed::mpi
