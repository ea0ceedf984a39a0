// The system calls of memory policy, with the system's node numbers. No other code in Kith makes them.
//
// Direct calls instead of libnuma: six calls, no state, no dependency, and an errno for each that can be shown.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::numa {

/// The system's answer to an attempt at each call: an errno, or 0 if it is allowed.
struct rights {
  int mode = 0;  // the policy of this process: MPOL_DEFAULT, MPOL_INTERLEAVE, ...
  int get = 0, set = 0, bind = 0, move = 0, where = 0;
  bool can_place() const noexcept { return bind == 0; }
  bool can_move() const noexcept { return move == 0; }
};
/// Tries each call on a page of its own; changes nothing.
rights try_all();
/// The result of try_all(), which is called once per process.
const rights& process_rights();
/// The name of a memory policy: "default", "interleave", ...
const char* mode_name(int mode) noexcept;

/// The nodes from which this process may have memory (its cpuset). Empty: not known.
std::vector<int> allowed_nodes();
/// The node of the processor that the calling thread runs on; -1: not known.
int node_here() noexcept;

/// Makes pages of the range come from `node`, and from others only when that one is full. With `move`, pages that
/// already have memory move there. Returns the errno, or 0. REQUIRES: page aligned.
int prefer(void* begin, std::size_t bytes, int node, bool move = false) noexcept;
/// Makes pages of the range come from the nodes round robin.
int interleave(void* begin, std::size_t bytes, std::span<const int> nodes) noexcept;
/// Memory that the calling thread touches first will come from `node`, as long as that has room; with -1, from
/// its own node. `now` is the node of the last such call. Returns false and does nothing if the thread has
/// another policy, or if the system refuses.
bool prefer_in_thread(int now, int node) noexcept;

/// True if the kernel numbers the pages of an interleaved mapping by the low 32 bits of (address / page size):
/// Linux before 6.7. Found by an attempt, once per process; false if that is refused.
bool interleaves_by_low_bits();

/// Asks for the node of each page, in batches. Each entry becomes a node or a negative errno (ENOENT or EFAULT:
/// untouched). Returns an errno, or 0.
int where(std::span<void* const> pages, std::span<int> nodes);
/// Moves pages with their contents, in batches. Afterwards `status` is as for where(). Pages that are untouched
/// or in use by the kernel stay. Returns an errno, or 0.
int move(std::span<void* const> pages, std::span<const int> to, std::span<int> status);

}  // namespace kith::numa
