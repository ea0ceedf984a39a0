// The task object: a 128-byte slot. The first line is the header, the second holds closure and accesses.
//
// An index (28 bits) names a slot. A reference is an index and a generation. A recycled slot has another
// generation, so a stale reference is recognised, and no reference counts are needed (edges.hpp). The creating thread
// writes the fields until the task is ready; then the worker that runs it does. Other threads access only the atomics,
// as edges.hpp and claim.hpp say.
#pragma once

#include <kith/access.hpp>
#include <kith/task.hpp>

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "base/invariant.hpp"

#include <cstdint>
#include <cstring>

namespace kith {

namespace detail {
class scope;
}

/// Index of a slot; 0 is none.
using slot_index = std::uint32_t;
inline constexpr std::uint32_t slot_index_bits = 28;

/// Index and generation of a task.
struct reference {
  slot_index index = 0;
  std::uint32_t generation = 0;

  static reference from(task_ref r) noexcept {
    return {static_cast<slot_index>(r.value & 0xffffffff), static_cast<std::uint32_t>(r.value >> 32)};
  }
  task_ref packed() const noexcept { return {std::uint64_t{generation} << 32 | index}; }
  explicit operator bool() const noexcept { return index != 0; }
  bool operator==(const reference&) const = default;
};

/// How a task uses a region that it names twice, in these modes: it reads if either reads, and writes if either writes.
constexpr mode combined(mode one, mode other) noexcept {
  if (one == other) return one;
  if (one == mode::in) return other == mode::out ? mode::inout : other;
  if (other == mode::in) return one == mode::out ? mode::inout : one;
  const bool with_others = one >= mode::concurrent && other >= mode::concurrent;
  return with_others ? one : mode::inout;
}

/// One declared access as a task keeps it. Of those to one region, the first has the most bytes that the task names
/// there, and the modes of all combined; the others have no bytes. 12 bytes, unaligned.
struct kept_access {
  std::uint32_t region = 0;  // index in the engine's region table; 0 if it is not needed
  std::uint32_t bytes_low = 0;
  std::uint16_t bytes_high = 0;
  mode how : 3 = mode::in;
  std::uint16_t passer : 13 = 0;  // 1 + the worker that delivered the reference (pending_task::deliver); 0: none

  kept_access() = default;
  kept_access(std::uint32_t r, std::uint64_t named, mode m, int passed_by = -1) noexcept
      : region(r),
        bytes_low(static_cast<std::uint32_t>(named)),
        bytes_high(static_cast<std::uint16_t>(named >> 32)),
        how(m),
        passer(static_cast<std::uint16_t>((passed_by + 1) & 0x1fff)) {}
  /// The worker that delivered the reference; -1: none.
  int passed_by() const noexcept { return int{passer} - 1; }
  std::uint64_t bytes() const noexcept { return std::uint64_t{bytes_high} << 32 | bytes_low; }
};
static_assert(sizeof(kept_access) == detail::task_room::access_bytes);

/// engine/life/claim.hpp lists the transitions.
enum class task_state : std::uint8_t {
  created,  // waits for predecessors, or is on its way to a queue
  queued,   // in a queue; the worker that changes this state runs the task
  running,  // taken from a queue, or handed over without one
  claimed,  // claimed by a worker; its queue entry is still there
  ended,    // claimed and ended; the queue entry is the last reference and frees the slot
  dropped,  // claimed and its queue entry is gone; the end of the task frees the slot
  none,     // in the simulator: not created yet
};

class task : public detail::kept_hints {
 public:
  enum flag : std::uint8_t {
    claimable = 1,     // may be claimed: changes of state are exchanges
    internal = 2,      // a fence: has no body, orders a group of accesses; never queued, not counted as a task
    extended = 4,      // closure and accesses are in a block of the heap
    has_overflow = 8,  // has, or had, more predecessors than embedded links
    exclusive = 16,    // has commutative accesses
    skip = 32,         // the body is not run: its creation failed, it was refused, or the run is dry
    phased = 64,       // a node of a keyed graph: its scope counts runs (C4 in scope.hpp)
    addressed = 128,   // only one worker may run it; the policy does not see it
  };
  static constexpr std::uint32_t embedded_links = 5;
  static constexpr std::size_t payload_bytes = detail::task_room::slot_bytes;

  // ---- line 1, after the hints
  detail::task_code code;
  detail::scope* scope;
  atomic<std::uint64_t> head;  // generation (32) and first successor link (32): edges.hpp
  atomic<std::uint32_t> join;  // edges.hpp
  atomic<task_state> state;
  std::uint8_t flags;
  std::uint16_t owner;  // the seat whose slots this one belongs to
  /// Each belongs to a predecessor that the task waits for. Until that ends: the next link of its list of successors;
  /// then mark_of() the worker that ended it. 0: no predecessor.
  std::uint32_t links[embedded_links];
  /// The order of creation in its scope. While the task has further links (edges.hpp): their newest block. The oldest
  /// one then keeps the order.
  std::uint32_t sequence;

  // ---- line 2
  alignas(64) std::byte payload[payload_bytes];

  /// A read-only list of the task's accesses.
  class access_range {
   public:
    class iterator {
     public:
      explicit iterator(const std::byte* at) noexcept : at_(at) {}
      kept_access operator*() const noexcept {
        kept_access a;
        std::memcpy(&a, at_, sizeof a);
        return a;
      }
      iterator& operator++() noexcept {
        at_ += sizeof(kept_access);
        return *this;
      }
      bool operator==(const iterator&) const = default;

     private:
      const std::byte* at_;
    };
    access_range(const std::byte* first, std::size_t count) noexcept : first_(first), count_(count) {}
    iterator begin() const noexcept { return iterator(first_); }
    iterator end() const noexcept { return iterator(first_ + count_ * sizeof(kept_access)); }
    std::size_t size() const noexcept { return count_; }

   private:
    const std::byte* first_;
    std::size_t count_;
  };
  /// REQUIRES: the engine keeps accesses, or the task takes turns; else there may be no room for them.
  access_range access_list() const noexcept { return {access_bytes(), access_count()}; }
  std::size_t access_count() const noexcept { return (flags & extended) != 0 ? extension()->accesses : accesses; }

  /// Used if the closure and accesses do not fit the payload: a heap block with this header, the accesses, and
  /// the closure.
  struct alignas(16) extension_header {
    void* closure;
    std::uint32_t accesses;
    std::uint32_t align;
  };
  extension_header* extension() const noexcept {
    extension_header* block;
    std::memcpy(&block, payload, sizeof block);
    return block;
  }

  /// Where the kept accesses are: at the end of the payload, or behind the extension's header.
  std::byte* access_bytes() noexcept {
    return (flags & extended) != 0 ? reinterpret_cast<std::byte*>(extension() + 1)
                                   : payload + payload_bytes - accesses * sizeof(kept_access);
  }
  const std::byte* access_bytes() const noexcept { return const_cast<task*>(this)->access_bytes(); }
  void* closure() noexcept { return (flags & extended) != 0 ? extension()->closure : static_cast<void*>(payload); }
  /// Whether this worker ended most of the predecessors that the task waited for (of more than five: of five). To be
  /// asked in policy::ready(), for a completion, before the task is queued: then its links have another use. Of a task
  /// that has waited for its turn at a commutative region, none is known.
  bool mostly_follows(worker_id worker) const noexcept {
    int others = 0;
    for (const std::uint32_t ended_by : links) others += ended_by == mark_of(worker) ? -1 : ended_by != 0 ? 1 : 0;
    return others < 0;
  }
  /// The worker that created it, of so many; if it came from outside, `otherwise`.
  worker_id creator(int workers, worker_id otherwise) const noexcept {
    return owner < workers ? worker_id(owner) : otherwise;
  }
  static std::uint32_t mark_of(worker_id worker) noexcept { return static_cast<std::uint32_t>(worker.value) + 1; }
  /// Whether its priority is other than normal.
  bool has_level() const noexcept { return priority != 0; }
  /// Its priority as queues order them: 0 is the highest.
  int level() const noexcept { return priority == 0 ? normal_level : priority == 1 ? 0 : 2; }
  static constexpr int levels = 3, normal_level = 1;
};

/// A ready task is in no successor list any more, so its link words can hold the pointer of an intrusive list.
inline void set_next(task& t, task* next) noexcept { std::memcpy(t.links, &next, sizeof next); }
inline task* get_next(const task& t) noexcept {
  task* next;
  std::memcpy(&next, t.links, sizeof next);
  return next;
}

static_assert(sizeof(task) == 128, "a task is two cache lines: as the payload is aligned to one, the header is one");

}  // namespace kith
