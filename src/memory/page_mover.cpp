#include "memory/page_mover.hpp"

#include "base/address.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

#include <algorithm>

namespace kith {

void page_mover::add(region& r, std::uint64_t bytes) {
  const std::int16_t home = r.home.load(relaxed);
  if (home == region::no_home) return;
  const page_map* const block = r.block.load(relaxed);
  const std::uint64_t page = block != nullptr ? block->page_bytes : page_size();
  const auto at = reinterpret_cast<std::uintptr_t>(r.address);
  // Only whole pages, because the others also hold data of neighbours.
  const std::uintptr_t from = (at + page - 1) / page * page, to = (at + bytes) / page * page;
  if (from >= to || (to - from) * 2 < bytes) {
    r.remote_uses.store(region::stays, relaxed);
    return;
  }
  if (memory_.moves()) {
    for (std::uintptr_t p = from; p < to; p += page) pages_.push_back(at_address(p));
  }
  waiting_.push_back({&r, home, bytes, pages_.size()});
}

/// Drops the requests for regions that have another home than when they were added.
void page_mover::drop_outdated() {
  std::size_t requests = 0, pages = 0, from = 0;
  for (request q : waiting_) {
    const std::size_t until = q.pages_until;
    if (q.what->home.load(relaxed) == q.home) {
      while (from < until) pages_[pages++] = pages_[from++];
      q.pages_until = pages;
      waiting_[requests++] = q;
    }
    from = until;
  }
  waiting_.resize(requests);
  pages_.resize(pages);
}

std::uint64_t page_mover::move(node_id to) {
  drop_outdated();
  const int target = memory_.system_node(memory_.nearest(to));
  std::uint64_t moved = 0;
  bool done = memory_.pretended();
  if (memory_.moves() && !pages_.empty()) {
    to_.assign(pages_.size(), target);
    status_.assign(pages_.size(), 0);
    done = numa::move(pages_, to_, status_) == 0;
  }
  std::size_t at = 0;
  for (const request& q : waiting_) {
    std::size_t here = 0, touched = 0;
    for (; at < q.pages_until; ++at) {
      here += status_[at] == target;
      touched += status_[at] >= 0;
    }
    if (!done || (!memory_.pretended() && (touched == 0 || here * 2 < touched))) {
      q.what->remote_uses.store(region::stays, relaxed);
      continue;
    }
    std::int16_t before = q.home;
    if (q.what->home.compare_exchange_strong(before, region::number_of(to), relaxed)) moved += q.bytes;
  }
  waiting_.clear();
  pages_.clear();
  return moved;
}

}  // namespace kith
