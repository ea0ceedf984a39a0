#include "task/slots.hpp"

#include <kith/error.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace kith {

slot_space::slot_space(std::size_t slots) {
  constexpr std::size_t least = 4096;
  for (slots_ = slots; slots_ >= least; slots_ /= 2) {
    mapped_ = slots_ * sizeof(task);
    void* range = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) {
      madvise(range, mapped_, MADV_NOHUGEPAGE);  // slots are touched one by one, so most of a huge page would be wasted
      base_ = static_cast<task*>(range);
      return;
    }
  }
  throw error("no address space for tasks: the system refused " + std::to_string(least * sizeof(task)) +
                  " bytes; see `ulimit -v`",
              error_kind::resources);
}

slot_space::~slot_space() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

slot_index slot_space::take_fresh(std::uint32_t count) {
  const std::uint64_t first = fresh_.fetch_add(count, relaxed);
  if (first + count > slots_) {
    throw error("more than " + std::to_string(slots_) +
                    " unfinished tasks: lower the throttle (KITH_THROTTLE), or wait() sooner",
                error_kind::resources);
  }
  return static_cast<slot_index>(first);
}

void slot_cache::make_room() {
  const auto room = static_cast<std::size_t>(limit_ - stack_.get());
  auto larger = std::make_unique<task*[]>(2 * room);
  std::copy_n(stack_.get(), room, larger.get());
  stack_ = std::move(larger);
  end_ = stack_.get() + room;
  limit_ = end_ + room;
}

void slot_cache::refill() {
  slot_index b = inbound_.exchange(0, acquire);  // pairs with receive(): the batches' contents are visible
  while (b != 0) {
    const batch& from = batch_of(b);
    for (std::uint32_t k = 0; k < from.count; ++k) give_own(space_[from.slots[k]]);
    const slot_index next = from.next;
    give_own(space_[b]);
    b = next;
  }
  if (!is_empty()) return;
  constexpr std::uint32_t chunk = slot_space::slab;
  const slot_index first = space_.take_fresh(chunk);
  for (std::uint32_t k = 0; k < chunk; ++k) {
    task& t = space_[first + (chunk - 1 - k)];
    t.owner = seat_;
    give_own(t);
  }
}

}  // namespace kith
