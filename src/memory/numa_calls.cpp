#include "memory/numa_calls.hpp"

#include "base/address.hpp"
#include "base/made_once.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace kith::numa {

namespace {

// The kernel requires room for every node that it was built for; MAX_NUMNODES is at most 1024.
constexpr unsigned long most_nodes = 1024;
constexpr unsigned long word_bits = CHAR_BIT * sizeof(unsigned long);
using node_mask = std::array<unsigned long, most_nodes / word_bits>;
constexpr std::size_t batch = 4096;  // pages per call

int failure(long result) { return result >= 0 ? 0 : errno; }

bool put(node_mask& mask, int node) noexcept {
  if (node < 0 || static_cast<unsigned long>(node) >= most_nodes) return false;
  mask[static_cast<unsigned long>(node) / word_bits] |= 1UL << (static_cast<unsigned long>(node) % word_bits);
  return true;
}

int call_mbind(void* begin, std::size_t bytes, int mode, const node_mask& mask, unsigned flags) noexcept {
  // The kernel reads one bit less than this number.
  return failure(syscall(SYS_mbind, begin, bytes, mode, mask.data(), most_nodes + 1, flags));
}

}  // namespace

rights try_all() {
  rights r;
  node_mask mask{};
  r.get = failure(syscall(SYS_get_mempolicy, &r.mode, mask.data(), most_nodes, nullptr, 0));
  // Sets the policy that is already in effect, so that the attempt changes nothing.
  const bool known = r.get == 0 && r.mode != MPOL_DEFAULT;
  r.set = failure(
      syscall(SYS_set_mempolicy, known ? r.mode : MPOL_DEFAULT, known ? mask.data() : nullptr, known ? most_nodes : 0));

  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    r.bind = r.where = r.move = errno;
    return r;
  }
  node_mask allowed{};
  if (syscall(SYS_get_mempolicy, nullptr, allowed.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
    allowed[0] = 1;
  r.bind = failure(syscall(SYS_mbind, page, bytes, MPOL_BIND, allowed.data(), most_nodes, 0));
  std::memset(page, 1, bytes);
  int node = -1;
  r.where = failure(syscall(SYS_get_mempolicy, &node, nullptr, 0, page, MPOL_F_NODE | MPOL_F_ADDR));
  int status = 0;
  const int stays = r.where == 0 ? node : 0;
  r.move = failure(syscall(SYS_move_pages, 0, 1UL, &page, &stays, &status, MPOL_MF_MOVE));
  munmap(page, bytes);
  return r;
}

const rights& process_rights() {
  static constinit made_once<rights> known;
  return known.get(try_all);
}

const char* mode_name(int mode) noexcept {
  switch (mode & ~MPOL_MODE_FLAGS) {
    case MPOL_DEFAULT: return "default";
    case MPOL_PREFERRED: return "preferred";
    case MPOL_BIND: return "bind";
    case MPOL_INTERLEAVE: return "interleave";
    case MPOL_LOCAL: return "local";
    default: return "other";
  }
}

std::vector<int> allowed_nodes() {
  node_mask allowed{};
  std::vector<int> found;
  if (syscall(SYS_get_mempolicy, nullptr, allowed.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return found;
  for (unsigned long n = 0; n < most_nodes; ++n) {
    if ((allowed[n / word_bits] >> (n % word_bits) & 1) != 0) found.push_back(static_cast<int>(n));
  }
  return found;
}

int node_here() noexcept {
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

int prefer(void* begin, std::size_t bytes, int node, bool move) noexcept {
  node_mask mask{};
  if (!put(mask, node)) return EINVAL;
  return call_mbind(begin, bytes, MPOL_PREFERRED, mask, move ? MPOL_MF_MOVE : 0);
}

int interleave(void* begin, std::size_t bytes, std::span<const int> nodes) noexcept {
  node_mask mask{};
  for (int n : nodes) {
    if (!put(mask, n)) return EINVAL;
  }
  return call_mbind(begin, bytes, MPOL_INTERLEAVE, mask, 0);
}

bool prefer_in_thread(int now, int node) noexcept {
  int mode = MPOL_DEFAULT;
  if (syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) != 0) return false;
  if (mode != (now < 0 ? MPOL_DEFAULT : MPOL_PREFERRED)) return false;
  if (node < 0) return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0;
  node_mask mask{};
  return put(mask, node) && syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.data(), most_nodes + 1) == 0;
}

bool interleaves_by_low_bits() {
  static constinit made_once<bool> low;
  return low.get([]() -> bool {
    // The test uses three nodes, because 2^32 is no multiple of 3. With fewer nodes, or a power of two, both
    // numberings give the same result. They also do at an address whose page number has a multiple of 3 above
    // its low 32 bits; another address is then used.
    std::vector<int> nodes = allowed_nodes();
    if (nodes.size() < 3) return false;
    nodes.resize(3);
    const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto number_of = [&](void* page) { return reinterpret_cast<std::uintptr_t>(page) / bytes; };
    const auto map = [&](std::uint64_t wanted) {
      void* const near = at_address(wanted * bytes);
      return mmap(near, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    };
    void* got = map(0);
    if (got != MAP_FAILED && (number_of(got) >> 32) % 3 == 0) {
      munmap(got, bytes);
      got = map(std::uint64_t{1} << 32);
    }
    if (got == MAP_FAILED) return false;
    const std::uint64_t number = number_of(got);
    int at = -1;
    if (interleave(got, bytes, nodes) == 0) {
      std::memset(got, 1, bytes);
      if (where({&got, 1}, {&at, 1}) != 0) at = -1;
    }
    munmap(got, bytes);
    return at == nodes[(number & 0xffffffff) % 3] && at != nodes[number % 3];
  });
}

int where(std::span<void* const> pages, std::span<int> nodes) {
  for (std::size_t at = 0; at < pages.size(); at += batch) {
    const std::size_t count = std::min(batch, pages.size() - at);
    const long failed = syscall(SYS_move_pages, 0, count, pages.data() + at, nullptr, nodes.data() + at, 0);
    if (failed < 0) return errno;
  }
  return 0;
}

int move(std::span<void* const> pages, std::span<const int> to, std::span<int> status) {
  for (std::size_t at = 0; at < pages.size(); at += batch) {
    const std::size_t count = std::min(batch, pages.size() - at);
    std::fill_n(status.begin() + static_cast<long>(at), count, -EBUSY);  // a call that stops early leaves the rest
    const long failed =
        syscall(SYS_move_pages, 0, count, pages.data() + at, to.data() + at, status.data() + at, MPOL_MF_MOVE);
    // A result above 0 is the number of pages that stayed. ENOENT: all of them are already there, or untouched.
    if (failed < 0 && errno != ENOENT) return errno;
  }
  // Pages that moved as part of a huge page are reported as busy, so ask where they are.
  return std::ranges::find(status, -EBUSY) == status.end() ? 0 : where(pages, status);
}

}  // namespace kith::numa
