// What a recorded run writes while it runs: each worker appends fixed records to a file of its own.
//
// The newest records stand in the first bytes of the file, which are mapped; when these are full they are written behind
// the rest. A store costs what a store to memory costs, and the kernel has no page to find for it. Whatever was appended
// stays readable when the process is killed. A log belongs to one thread at a time. The files are
// put together afterwards (assemble.hpp). docs/recording-format.md describes them; log_version changes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kith {

inline constexpr std::uint32_t log_version = 6;
inline constexpr char log_magic[8] = {'K', 'I', 'T', 'H', 'L', 'O', 'G', '\n'};

/// A record is one cell or more; the first byte of its first cell says what it is, and so how long. 0 ends the front.
enum class log_kind : std::uint8_t {
  end = 0,
  task = 1,    // 2 cells: a task was created
  access,      // 1 cell: one of its accesses, in their order
  needs,       // 2 cells: a task starts after another, by name
  executed,    // 2 cells: a task, or a phase of it, was run
  wait,        // 3 cells: a task waited for others
  steal,       // 1 cell: work was taken from another worker
  idle,        // 2 cells: a worker had nothing to do
  run,         // 2 cells: runtime::run was called: the root task; `executed` tells its end
  type,        // 1 cell and the name, in cells of 16 bytes
  mark,        // 2 cells and the name
  home,        // 2 cells: where a region is from a time on, or (no time) at the end
  allocation,  // 2 cells: memory was given out
  work,        // 1 cell: what the task before it says it costs
  touched,     // 1 cell: how many bytes of the access before it are used
  key,         // 1 cell: the hash of the key of the node before it
  given_back,  // 2 cells: memory that was given out
  job,         // 2 cells: a worker did long work of the policy
  recorder,    // 2 cells: what recording has cost a task, in its own time
  sample,      // 3 cells: a task was run again, with its data out of the caches and in them
  ran,         // 1 cell: `executed`, by how long after the one before it in this log it began, and how long it took
  family,      // 2 cells: the scope and the creator of the tasks behind it in this log
  completed,   // 2 cells: the last child of a task whose body had ended before has ended
};

struct log_cell {
  log_kind kind = log_kind::end;
  std::uint8_t flags = 0;
  std::uint16_t small = 0;
  std::uint32_t middle = 0;
  std::uint64_t large = 0;
};
struct log_pair {
  std::uint64_t first = 0, second = 0;
};
static_assert(sizeof(log_cell) == 16 && sizeof(log_pair) == 16);

// Flags of task records; bits 0 and 1: priority.
inline constexpr std::uint8_t log_keyed = 4;        // runs twice
inline constexpr std::uint8_t log_generated = 8;    // named by a node's computation
inline constexpr std::uint8_t log_discovered = 16;  // named by a node's exploration
inline constexpr std::uint8_t log_listed = 32;      // may be taken past its queue by its waiting creator
// Flags of access records: kith::mode, and this.
inline constexpr std::uint8_t log_by_handle = 128;  // it was found by its handle, not by its address
// Flags of executed records.
inline constexpr std::uint8_t log_cancelled = 1;
inline constexpr std::uint8_t log_explores = 2;  // the phase that names predecessors

// Flags of allocation records: kith::distribution::kind, and this.
inline constexpr std::uint8_t log_huge = 128;  // huge pages were asked for

struct log_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t seat;  // the worker; as many as there are workers: everybody else
  double seconds_per_tick;
  std::uint64_t began;  // ticks
  // So many bytes of older records stand behind the first log_front_bytes; the newer ones follow this header.
  std::uint64_t behind;
  std::uint64_t unused;  // records begin at a multiple of 16 bytes
};
static_assert(sizeof(log_header) == 48);
inline constexpr std::size_t log_front_bytes = std::size_t{64} << 10;
/// For `behind`: all records stand behind the front, to the end of the file. So while the front is emptied.
inline constexpr std::uint64_t log_all_behind = ~std::uint64_t{0};

/// One seat's file. By the seat's thread. Throws nothing while it records: when the file cannot grow (the disk is full, or
/// the process's limit on files, RLIMIT_FSIZE, is reached), the rest is dropped, and so is a record longer than the front;
/// lost() and why() say so.
class log {
 public:
  /// Creates the file. Throws kith::error if it cannot.
  log(std::string path, std::uint32_t seat);
  ~log();
  log(const log&) = delete;
  log& operator=(const log&) = delete;

  void append(const log_cell& head) noexcept {
    std::byte* at = room(sizeof head);
    if (at != nullptr) finish(at, head);
  }
  void append(const log_cell& head, const log_pair& a) noexcept {
    std::byte* at = room(2 * sizeof head);
    if (at == nullptr) return;
    __builtin_memcpy(at + sizeof head, &a, sizeof a);
    finish(at, head);
  }
  void append(const log_cell& head, const log_pair& a, const log_pair& b) noexcept {
    std::byte* at = room(3 * sizeof head);
    if (at == nullptr) return;
    __builtin_memcpy(at + sizeof head, &a, sizeof a);
    __builtin_memcpy(at + 2 * sizeof head, &b, sizeof b);
    finish(at, head);
  }
  /// `cells` cells after the head hold `text`.
  void append_text(const log_cell& head, const std::string& text) noexcept;
  void append_text(const log_cell& head, const log_pair& a, const std::string& text) noexcept;

  /// The file stays as it is, and is closed; what is appended from now on is lost. For a child of fork(), in its handler.
  void cut_off() noexcept;

  std::uint64_t lost() const noexcept { return lost_; }
  /// The errno of the first loss.
  int why() const noexcept { return why_; }

 private:
  /// Room for a record; null if there is none any more. The bytes behind it are zero: an end.
  std::byte* room(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]] {
      if (!make_room(bytes)) return nullptr;
    }
    std::byte* here = at_;
    at_ += bytes;
    return here;
  }
  /// The half of the first cell that has the kind last: a record that is there is whole.
  static void finish(std::byte* at, const log_cell& head) noexcept {
    std::uint64_t halves[2];
    __builtin_memcpy(halves, &head, sizeof head);
    __builtin_memcpy(at + sizeof *halves, halves + 1, sizeof *halves);
    in_this_order();
    __builtin_memcpy(at, halves, sizeof *halves);
  }
  /// Stores before it are in the file before those behind it, whenever the process is killed.
  static void in_this_order() noexcept { asm volatile("" ::: "memory"); }
  bool make_room(std::size_t bytes) noexcept;
  int write_behind(std::size_t bytes) noexcept;
  bool lose(int why) noexcept;
  log_header& header() noexcept { return *reinterpret_cast<log_header*>(front_); }

  std::string path_;
  int file_ = -1;
  std::byte* front_ = nullptr;  // the mapped bytes
  std::byte* at_ = nullptr;
  std::byte* limit_ = nullptr;
  std::uint64_t lost_ = 0;
  int why_ = 0;
  bool full_ = false;  // it cannot grow any more
};

}  // namespace kith
