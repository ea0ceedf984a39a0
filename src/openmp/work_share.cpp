#include "openmp/work_share.hpp"

#include <cstdlib>

namespace kith::openmp {

void frees_memory::operator()(void* memory) const noexcept { std::free(memory); }

work_shares::~work_shares() {
  work_share* share = made_.load(relaxed);  // the end of the region has ordered what members did
  while (share != nullptr) {
    work_share* const before = share->made_before;
    delete share;
    share = before;
  }
}

work_share* work_shares::take(share_position& p) {
  if (p.spare == nullptr) p.spare = stock_.exchange(nullptr, acquire);  // pairs with retire()
  if (p.spare != nullptr) {
    work_share* const share = p.spare;
    p.spare = share->in_stock;
    return share;
  }
  auto* const share = new work_share;
  share->made_before = made_.load(relaxed);
  while (!made_.compare_exchange_weak(share->made_before, share, relaxed, relaxed)) {
  }
  return share;
}

void work_shares::retire(share_position& p, work_share& share) noexcept {
  clear(share);
  if (p.spare == nullptr) return keep(p, share);
  // Not to the member's own ones: it may always be the last, and another one always the first.
  share.in_stock = stock_.load(relaxed);
  while (!stock_.compare_exchange_weak(share.in_stock, &share, release, relaxed)) {
  }
}

void work_shares::clear(work_share& share) noexcept {
  share.next.store(nullptr, relaxed);
  share.crossing.reset();
  share.posted.reset();
  share.memory.reset();
  share.taken.store(0, relaxed);
  share.turn.store(0, relaxed);
  share.reductions.store(nullptr, relaxed);
  share.copied.store(false, relaxed);
  share.gone_on.store(0, relaxed);
}

void work_shares::keep(share_position& p, work_share& share) noexcept {
  share.in_stock = p.spare;
  p.spare = &share;
}

}  // namespace kith::openmp
