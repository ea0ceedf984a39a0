// The blocks that addresses belong to: allocations, mapped memory, variables, stacks. Addresses are recorded as block
// and offset, because a block has the same name in every run, and an address has not.
//
// Any thread may call these functions. Invariants:
//  B1  A live block is in one of three maps: pieces of memory in `small`, the memory that contains them in `large`, the
//      stacks and data of threads in `threads`. Blocks of one map do not overlap. The lock guards all. What a thread
//      has lies in memory that may be a block of its own, and is that again when the thread has ended: that part is
//      `covered`.
//  B2  A block that was touched (it has a number) or cut is never reused, so a thread may keep a pointer to it. The
//      kept bounds are valid until the block is removed. A program that touches a block while it frees it has a race
//      of its own.
//  B3  A block leaves its map before its memory is given back, or while the lock is held over the call that gives it
//      back, so that no other thread can have registered a block there.
//  B4  A thread that holds a lock of the recorder is `inside` and has no trace. A signal handler of the program, or
//      another library's handler of fork(), that runs then must not take the lock again: what it allocates, frees and
//      touches is not recorded.
//  B5  The order in which parts of a block are given back may differ between runs. What remains of it has the number
//      of the whole block, and counts offsets from where that began. What is moved to other addresses gets another
//      number, and keeps the maker and the offsets.
#pragma once

#include "base/atomic.hpp"
#include "base/spin_mutex.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::tracing {

struct block {
  enum class what : std::uint8_t {
    heap,               // malloc, new
    allocated,          // kith::allocate
    variable,           // of a name
    global,             // other writable data of a program or library
    constant,           // read-only data
    thread_local_data,  // of a thread
    stack,              // of a thread
    mapped              // mmap
  };
  std::uintptr_t begin = 0, end = 0;  // of the part that this is: all of it, or what lies between parts given back
  std::uintptr_t origin = begin;      // from where offsets count
  atomic<bool> gone{false};
  bool covered = false;             // look in `threads` first
  std::uint32_t number = 0;         // in the order of first touch; 0: not touched. Set under the lock
  block* whole = nullptr;           // of a part: the block that was cut, whose number all its parts get
  std::size_t bytes = end - begin;  // of the whole block
  what kind = what::heap;
  // The maker: the task (0: none) of a recording, the point in the program, and a number that tells blocks apart that
  // were made there, by the running functions and how many they have made (callers.hpp).
  const void* recording = nullptr;
  std::uint64_t task = 0, ordinal = 0;
  std::uintptr_t pc = 0, caller = 0;
  const char* name = nullptr;  // of a variable or module

  /// Whether the part has the address.
  bool has(std::uintptr_t address) const noexcept { return address - begin < end - begin; }
};

/// Numbers of blocks: 0 is the task's own stack, 1 is memory of no block.
inline constexpr std::uint32_t first_number = 2;

/// True if the program was started to record addresses. The first call determines it.
bool active() noexcept;

class task_trace;
/// The calling thread's trace; null outside tasks, and while what is touched is not noted.
inline constinit thread_local task_trace* now [[gnu::tls_model("initial-exec")]] = nullptr;
/// The calling thread is in the recorder: what it makes and frees is not noted.
inline constinit thread_local bool inside [[gnu::tls_model("initial-exec")]] = false;

/// B4: from before a lock is taken until after it is given back.
class recorder_section {
 public:
  recorder_section() noexcept : now_before_(now), inside_before_(inside) {
    inside = true;
    now = nullptr;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~recorder_section() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    now = now_before_;
    inside = inside_before_;
  }
  recorder_section(const recorder_section&) = delete;
  recorder_section& operator=(const recorder_section&) = delete;

 private:
  task_trace* const now_before_;
  const bool inside_before_;
};

/// A new block, or one that was removed. What it overlaps is gone.
void add_block(const block& made) noexcept;
/// Removes the block that begins here, if there is one.
void remove_block(const void* begin, block::what kind) noexcept;
/// The same. Returns the block, which add_block() takes back; of 0 bytes if there is none.
block take_block(const void* begin, block::what kind) noexcept;
/// Removes what threads have at these addresses; what lies below is there again.
void remove_of_thread(std::uintptr_t begin, std::uintptr_t end) noexcept;
/// Removes mapped memory that was given back; the remains of blocks at both ends stay.
void remove_mapped(std::uintptr_t begin, std::uintptr_t end) noexcept;
/// As remove_mapped(). REQUIRES: the caller holds lock_of_blocks() in a recorder_section.
void remove_mapped_locked(std::uintptr_t begin, std::uintptr_t end) noexcept;
/// Mapped memory was moved or resized. Its blocks get the new addresses; what was added is of no block. REQUIRES: as
/// remove_mapped_locked(); whole pages.
void move_mapped_locked(std::uintptr_t from, std::size_t old_bytes, std::uintptr_t to, std::size_t bytes) noexcept;
/// The block of an address, with a number; null if it is in none.
block* find_block(std::uintptr_t address) noexcept;

/// Where the block of an address begins, which gets no number for that; 0 if it is in none.
std::uintptr_t begin_of_block(std::uintptr_t address) noexcept;

/// Counts the blocks that threads outside tasks make with this number for where they do it, from 0.
std::uint64_t next_outside(std::uint64_t where) noexcept;

/// To be held over fork(), and over calls that give mapped memory back (B3).
spin_mutex& lock_of_blocks() noexcept;

/// Calls each(block) for the blocks that were touched, in the order of their numbers.
void for_each_touched(void (*each)(void* with, const block&), void* with);

/// Registers the variables of the program and its libraries, and their constant data. Once.
void add_variables();
/// Registers the calling thread's stack and thread-local data. Once for each thread: registered again, they would be
/// different blocks from those that were touched before.
void add_this_thread();
/// Called at the thread's end: whoever lent it the stack may use that again.
void remove_this_thread();

}  // namespace kith::tracing
