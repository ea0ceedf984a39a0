// The work-sharing constructs that a team meets: loops, sections, single, scope.
//
// All members meet the same constructs in the same order, but without a barrier between them they may be any number of
// constructs apart. So each construct has a work_share, and these form a list: a member goes from its share to the
// next one, and the member that finds no next one makes it. Nobody ever waits for that.
//
// 1. A new share is complete before it is in the list; who loses the race to append one keeps it for later.
// 2. A share is in use until all members have gone on to the next one; the last of these retires it.
// 3. Only a member itself uses its share_position, except before the team begins.
// 4. Shares in stock_ are only taken all at once, so that appending to it needs no protection from reuse.
#pragma once

#include "base/atomic.hpp"
#include "openmp/doacross.hpp"
#include "openmp/loop_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace kith::openmp {

class posted_iterations;

struct frees_memory {
  void operator()(void*) const noexcept;
};

struct work_share {
  atomic<work_share*> next{nullptr};

  // Set by the member that makes the share, before others see it.
  loop_plan loop;
  std::unique_ptr<doacross> crossing;          // of loops with depend(sink) only
  std::shared_ptr<posted_iterations> posted;   // the same, of LLVM's programs
  std::unique_ptr<void, frees_memory> memory;  // that the members asked for, zeroed

  alignas(false_sharing_range) atomic<std::uint64_t> taken{0};  // iterations of a dynamic or guided loop
  alignas(false_sharing_range) atomic<std::uint64_t> turn{
      0};                                             // ordered: the first iteration of the chunk whose turn it is
  atomic<const std::uintptr_t*> reductions{nullptr};  // the descriptor of the first member
  atomic<bool> copied{false};                         // single: `copy` is set
  void* copy = nullptr;
  alignas(false_sharing_range) atomic<std::uint32_t> gone_on{0};  // members that have left for the next share

  work_share* in_stock = nullptr;     // the next one of a chain of spare ones
  work_share* made_before = nullptr;  // in the list of all that the team has made
};

/// Where a member is among the constructs of its team, and in the loop that it runs. Static loops need only this.
struct share_position {
  work_share* at = nullptr;     // the share of its last construct that has one; null: none yet
  work_share* spare = nullptr;  // a chain
  loop_plan loop;
  std::uint64_t trips = 0;  // static: chunks that it has had
  iteration_range chunk;    // that it runs; empty: none

  void begin_loop(const loop_plan& of) noexcept {
    loop = of;
    trips = 0;
    chunk = {};
  }
};

class work_shares {
 public:
  explicit work_shares(int members) noexcept : members_(static_cast<std::uint32_t>(members)) {}
  /// When no member can enter any more.
  ~work_shares();
  work_shares(const work_shares&) = delete;
  work_shares& operator=(const work_shares&) = delete;

  struct entered {
    work_share& share;
    bool first;  // of the members; exactly one is
  };
  /// Takes the member to its next construct. `prepare(work_share&)` completes a new share, and may be called in vain.
  template <class Prepare>
  entered enter(share_position& p, Prepare&& prepare) {
    work_share& from = p.at != nullptr ? *p.at : origin_;
    work_share* to = from.next.load(acquire);  // pairs with the exchange
    bool first = false;
    if (to == nullptr) {
      work_share* const mine = take(p);
      std::forward<Prepare>(prepare)(*mine);
      first = from.next.compare_exchange_strong(to, mine, release, acquire);
      if (first) {
        to = mine;
      } else {
        clear(*mine);
        keep(p, *mine);
      }
    }
    p.at = to;
    if (from.gone_on.fetch_add(1, acq_rel) + 1 == members_) retire(p, from);  // pairs with those of the other members
    return {*to, first};
  }
  entered enter(share_position& p) {
    return enter(p, [](work_share&) {});
  }

 private:
  work_share* take(share_position&);
  void retire(share_position&, work_share&) noexcept;
  static void clear(work_share&) noexcept;
  static void keep(share_position&, work_share&) noexcept;

  work_share origin_;  // before the first construct
  const std::uint32_t members_;
  atomic<work_share*> stock_{nullptr};
  atomic<work_share*> made_{nullptr};
};

}  // namespace kith::openmp
