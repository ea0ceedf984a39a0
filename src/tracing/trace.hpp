// The trace of one task: what its body touches, as a stream (recording/address_stream.hpp).
//
// A thread has at most one trace at a time, that of the body that runs on it; only that thread uses it. While a body
// waits and others run on its thread, its trace is kept. Callbacks of code outside tasks return at once.
#pragma once

#include "recording/address_stream.hpp"
#include "tracing/arena.hpp"
#include "tracing/blocks.hpp"
#include "tracing/callers.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::tracing {

enum class touch_kind : std::uint8_t { read, write, both, allocation };

/// A point in the program that touches memory: the return address of the callback, and of the function that called it.
/// If a library touches memory, the caller is the innermost function of the program.
struct site_key {
  std::uintptr_t pc = 0, caller = 0;
  std::uint32_t bytes = 0;  // 0: varies
  touch_kind kind = touch_kind::read;
  friend bool operator==(const site_key&, const site_key&) = default;
};

struct address_recording;

class task_trace {
 public:
  /// `stack`: the upper end of the body's part of the stack that it runs on.
  void begin(address_recording* into, std::uint64_t task, std::uintptr_t stack) noexcept;
  /// Appends the rest of the stream to the recording.
  void end() noexcept;

  /// `bytes` at `address` are touched by code with its stack at `stack`.
  void touch(const site_key& where, std::uintptr_t address, std::uint64_t bytes, std::uintptr_t stack) noexcept {
    const std::uintptr_t depth = stack_ - stack;
    if (depth > reach_) [[unlikely]]
      return touch_from_elsewhere(where, address, bytes, stack);
    entry& e = entry_of(where);
    std::uint32_t number = own_stack;
    std::uint64_t offset = stack_ - address;
    if (address - stack >= depth) {  // outside the task's own stack, which is between the two
      if (e.where == nullptr || !e.where->has(address) || e.where->gone.load(relaxed)) e.where = find_block(address);
      number = e.where != nullptr ? e.where->number : unknown;
      offset = e.where != nullptr ? address - e.where->origin : address;
    }
    writer_.touch(e.number, e.state, number, offset, where.bytes != 0 ? 0 : bytes);
    ++touches_;
    if (bytes_.size() >= chunk) [[unlikely]]
      flush();
  }
  /// Counts the blocks that the task makes at this point of the program in these functions, from 0.
  std::uint64_t next_block(std::uintptr_t pc, std::uint64_t functions) noexcept {
    return entry_of({.pc = pc, .caller = functions, .kind = touch_kind::allocation}).state.offset++;
  }

  call_stack& calls() noexcept { return calls_; }

  std::uint64_t task() const noexcept { return task_; }
  const address_recording* recording() const noexcept { return into_; }

  task_trace* next_spare = nullptr;

  // Numbers of blocks that always exist.
  static constexpr std::uint32_t own_stack = 0, unknown = 1;

 private:
  struct entry {
    site_key key;
    std::uint32_t number = 0;
    std::uint64_t task_generation = 0;  // the task of the entry; an entry of another one is empty
    block* where = nullptr;
    stream_site state;
  };
  static constexpr std::size_t chunk = std::size_t{4} << 20;

  entry& entry_of(const site_key& k) noexcept {
    std::size_t i = hash(k) & mask_;
    while (entries_[i].task_generation == generation_) {
      if (entries_[i].key == k) return entries_[i];
      i = (i + 1) & mask_;
    }
    return fresh_entry(k, i);
  }
  static std::size_t hash(const site_key& k) noexcept {
    std::uint64_t h = (k.pc ^ k.caller << 20 ^ std::uint64_t{k.bytes} << 1 ^ static_cast<std::uint64_t>(k.kind) << 48) *
                      0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(h >> 32);
  }
  void touch_from_elsewhere(const site_key& where, std::uintptr_t address, std::uint64_t bytes,
                            std::uintptr_t stack) noexcept;
  entry& fresh_entry(const site_key&, std::size_t at) noexcept;
  void grow() noexcept;
  void flush() noexcept;

  address_recording* into_ = nullptr;
  std::uint64_t task_ = 0, generation_ = 0, touches_ = 0;
  std::uintptr_t stack_ = 0;  // where the body began
  std::uintptr_t reach_ = 0;  // the bytes of the stack below that
  entry* entries_ = nullptr;
  std::size_t mask_ = 0, used_ = 0;
  growing<std::uint8_t> bytes_;
  stream_writer<growing<std::uint8_t>> writer_{bytes_};
  call_stack calls_;  // of the body
};

/// The calling thread's trace is being changed: what a signal handler touches meanwhile is not recorded.
class trace_pause {
 public:
  trace_pause() noexcept : was_(now) {
    now = nullptr;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~trace_pause() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    now = was_;
  }
  trace_pause(const trace_pause&) = delete;
  trace_pause& operator=(const trace_pause&) = delete;

 private:
  task_trace* const was_;
};

/// Called by callbacks of instrumented code. `pc` is their return address.
[[gnu::always_inline]] inline void touched(touch_kind kind, const volatile void* at, std::uint32_t fixed,
                                           std::uint64_t bytes, const void* pc) noexcept {
  task_trace* const t = now;
  if (t == nullptr || bytes == 0) return;
  const trace_pause pause;
  t->touch({reinterpret_cast<std::uintptr_t>(pc), t->calls().caller(), fixed, kind},
           reinterpret_cast<std::uintptr_t>(at), bytes, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}
/// As touched(), called by interposed functions, which libraries call as well.
void touched_by_call(touch_kind kind, const void* at, std::uint64_t bytes, const void* pc) noexcept;

/// Registers memory that the program was given.
void made_block(block::what kind, const void* at, std::size_t bytes, const void* pc) noexcept;

/// Sites have numbers, in the order in which they are first seen. Any thread may call these functions.
std::uint32_t number_of_site(const site_key&) noexcept;
/// For fork().
spin_mutex& lock_of_sites() noexcept;
spin_mutex& lock_of_traces() noexcept;
void for_each_site(void (*each)(void* with, const site_key&), void* with);

/// The file for the streams of a recording, under a lock. Any thread may call append().
address_recording* open_recording(const char* folder) noexcept;
void append(address_recording&, std::uint64_t task, std::uint64_t touches, const std::uint8_t* data,
            std::size_t bytes) noexcept;
/// Writes the tables of sites, blocks and modules. Returns the bytes that could not be written.
std::uint64_t close_recording(address_recording*) noexcept;

}  // namespace kith::tracing
