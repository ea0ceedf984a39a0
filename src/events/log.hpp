// The log of a recorded run: each worker appends records of fixed sizes to a file of its own.
//
// The newest records are in the first bytes of the file (the front), which are mapped. When the front is full,
// its records are written behind the older ones. So an append costs what a store to memory costs, and the
// kernel need not find a page for it. Whatever was appended stays readable when the process is killed. A log is
// used by one thread at a time. The files are put together afterwards (assemble.hpp). docs/recording-format.md
// describes them; log_version changes with their format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace kith {

inline constexpr std::uint32_t log_version = 9;
inline constexpr std::uint32_t log_version_with_counts = 10;  // the same, with records of what was counted
inline constexpr std::uint32_t log_version_of_place = 11;     // the same, of a place's messages
/// The name of the type of a task that is a half of a join (kith::join) where a run is recorded.
inline constexpr const char* log_join_type = "kith::join";
inline constexpr char log_magic[8] = {'K', 'I', 'T', 'H', 'L', 'O', 'G', '\n'};

/// A record is one or more cells. The first byte of its first cell gives its kind, and the kind gives its
/// length. A byte of 0 ends the front.
enum class log_kind : std::uint8_t {
  end = 0,
  task = 1,    // 2 cells: a task was created
  access,      // 1 cell: one of its accesses, in their order
  needs,       // 2 cells: a predecessor of a task, named explicitly or by a node
  executed,    // 2 cells: a task, or a phase of it, was run
  wait,        // 3 cells: a task waited for others
  steal,       // 1 cell: work was taken from another worker
  idle,        // 2 cells: a worker had nothing to do
  run,         // 2 cells: runtime::run was called; the record is of the root task, whose end is in `executed`
  type,        // 1 cell and the name, in cells of 16 bytes
  mark,        // 2 cells and the name
  home,        // 2 cells: where a region is from a time on; without a time: at the end
  allocation,  // 2 cells: memory was allocated
  work,        // 1 cell: the declared cost of the task before it
  touched,     // 1 cell: how many bytes of the access before it are used
  key,         // 1 cell: the hash of the key of the node before it
  given_back,  // 2 cells: memory was released
  job,         // 2 cells: a worker did long work of the policy
  recorder,    // 2 cells: what recording cost a task within the task's own time
  sample,      // 3 cells: a task was run again, with its data out of the caches and in them
  ran,         // 1 cell: a short `executed`: from the end of the run before it in this log to its start, and its length
  family,      // 2 cells: the scope and the creator of the tasks that follow in this log
  completed,   // 2 cells: the last child of a task ended after the task's body
  place,       // 2 cells and the host's name: these logs are of a place
  message,     // 3 cells: the place has sent a message, or has received one
  clock,       // 3 cells: the clock of place 0, asked for by a message
  part,        // 2 cells: a task continues a coroutine
  counts,      // 1 cell and 8-byte numbers in cells of 16 bytes: what was counted while a task's own code ran
  delivered,   // 3 cells: a task has given another one an argument
  made,        // 3 cells: a place has made a task for itself: a part of a coroutine, or an activity of its own
  flow,        // 1 cell and 8-byte numbers in cells of 16 bytes: a data_flow has got a task, or was waited for
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
// Flags of delivered records: kith::mode, and these.
inline constexpr std::uint8_t log_used = 64;       // a reference to data that the task uses; else it has no access
inline constexpr std::uint8_t log_by_owner = 128;  // by the task that waits for both: no dependence
// Flags of executed records.
inline constexpr std::uint8_t log_cancelled = 1;
inline constexpr std::uint8_t log_explores = 2;  // the phase that names predecessors

// Flags of message records: what the message is, and this.
inline constexpr std::uint8_t log_received = 128;

// Flags of made records.
inline constexpr std::uint8_t log_continues = 1;  // a coroutine; else it is an activity
inline constexpr std::uint8_t log_by_result = 2;  // what it waited for is named by the number of its result

// Flags of allocation records: kith::distribution::kind, and this.
inline constexpr std::uint8_t log_huge = 128;  // huge pages were asked for

struct log_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t seat;  // the worker's number; the number of workers stands for all other threads
  double seconds_per_tick;
  std::uint64_t began;  // ticks
  // This many bytes of older records follow the first log_front_bytes; the newer records follow this header.
  std::uint64_t behind;
  std::uint64_t unused;  // records begin at a multiple of 16 bytes
};
static_assert(sizeof(log_header) == 48);
inline constexpr std::size_t log_front_bytes = std::size_t{64} << 10;
/// A value of `behind`: all records are behind the front, up to the end of the file. It is set while the front
/// is emptied.
inline constexpr std::uint64_t log_all_behind = ~std::uint64_t{0};

/// The file in which the progress thread of a place notes its messages.
inline constexpr const char* log_of_place = "place.log";

/// One seat's file, used by the seat's thread. Recording never throws. When the file cannot grow (the disk is
/// full, or RLIMIT_FSIZE, the process's limit on file sizes, is reached), the rest is dropped. A record longer
/// than the front is dropped as well. lost() and why() report it.
class log {
 public:
  /// Creates the file. Throws kith::error if it cannot.
  log(std::string path, std::uint32_t seat, std::uint32_t version = log_version);
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
  /// Appends a record with these numbers after the head, whose `middle` is set to their bytes.
  void append_numbers(log_cell head, std::span<const std::uint64_t> numbers) noexcept;
  /// Appends a record with `text` in the `cells` cells after the head.
  void append_text(const log_cell& head, const std::string& text) noexcept;
  void append_text(const log_cell& head, const log_pair& a, const std::string& text) noexcept;

  /// Closes the file and leaves it as it is; what is appended after this is lost. For the fork() handler of a child.
  void cut_off() noexcept;

  std::uint64_t lost() const noexcept { return lost_; }
  /// The errno of the first loss.
  int why() const noexcept { return why_; }

 private:
  /// Room for a record; null if there is no more. The bytes after it are zero, which is an end record.
  std::byte* room(std::size_t bytes) noexcept {
    if (static_cast<std::size_t>(limit_ - at_) < bytes) [[unlikely]] {
      if (!make_room(bytes)) return nullptr;
    }
    std::byte* here = at_;
    at_ += bytes;
    return here;
  }
  /// Writes the half of the first cell that holds the kind last, so that a record that can be seen is complete.
  static void finish(std::byte* at, const log_cell& head) noexcept {
    std::uint64_t halves[2];
    __builtin_memcpy(halves, &head, sizeof head);
    __builtin_memcpy(at + sizeof *halves, halves + 1, sizeof *halves);
    in_this_order();
    __builtin_memcpy(at, halves, sizeof *halves);
  }
  /// Stores before this call reach the file before those after it, whenever the process is killed.
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
  bool full_ = false;  // whether it cannot grow any more
};

}  // namespace kith
