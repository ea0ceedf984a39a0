// The system calls of memory policy, by node numbers of the system. Nothing else in Kith makes them.
//
// Direct calls instead of libnuma: six calls, no state, no dependency, and an errno for each that can be shown. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::numa {

/// What the system says to an attempt at each call: an errno, 0 if it is allowed.
struct rights {
  int mode = 0;  // of this process: MPOL_DEFAULT, MPOL_INTERLEAVE, ...
  int get = 0, set = 0, bind = 0, move = 0, where = 0;
  bool can_place() const noexcept { return bind == 0; }
  bool can_move() const noexcept { return move == 0; }
};
/// Tries each call on a page of its own; changes nothing.
rights try_all();
/// try_all() once in a process.
const rights& process_rights();
/// The name of a memory policy: "default", "interleave", ...
const char* mode_name(int mode) noexcept;

/// Nodes that this process may have memory on (its cpuset). Empty: not known.
std::vector<int> allowed_nodes();
/// The node of the processor that the calling thread runs on; -1: not known.
int node_here() noexcept;

/// Pages of the range will come from `node`, from others only when that one is full. REQUIRES: page aligned. The errno, or
/// 0. With `move`, pages that have memory already go there as well.
int prefer(void* begin, std::size_t bytes, int node, bool move = false) noexcept;
/// Pages of the range will come from the nodes in turn.
int interleave(void* begin, std::size_t bytes, std::span<const int> nodes) noexcept;
/// What the calling thread touches first comes from `node`, as long as that has room; -1: from its own node. `now`: what an
/// earlier call asked for. False, and nothing happens, where the thread has another policy or the system refuses.
bool prefer_in_thread(int now, int node) noexcept;

/// True if the kernel numbers the pages of an interleaved mapping by the low 32 bits of (address / page size): Linux before
/// 6.7. Found by trying, once in a process; where that is refused, false.
bool interleaves_by_low_bits();

/// Asks for the node of each page, in batches: a node, or a negative errno (ENOENT or EFAULT: untouched). An errno, or 0.
int where(std::span<void* const> pages, std::span<int> nodes);
/// Moves pages, contents kept, in batches. `status`: as for where(), after the call. Pages that are untouched or in use by
/// the kernel stay. An errno, or 0.
int move(std::span<void* const> pages, std::span<const int> to, std::span<int> status);

}  // namespace kith::numa
