// What the engine tells the recorder of addresses (src/tracing), if the program is linked with one.
//
// The recorder is in the program and not in the library, so the library knows it only by this table of functions.
// It registers while static objects are made, before a runtime can exist. All functions may be called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

struct access_tracer {
  /// Begins to record into this folder of parts; null if its file cannot be made.
  void* (*start)(const char* folder);
  /// Writes what is left. No task of this recording may run any more. Returns the number of bytes that could not
  /// be written.
  std::uint64_t (*finish)(void* recording);
  /// The calling thread begins the body of a task, on its current stack: what it touches belongs to `task` until
  /// leave(). A task of 0 is not recorded. Returns what it did before, for leave().
  void* (*enter)(void* recording, std::uint64_t task);
  void (*leave)(void* outer);
  /// What the calling thread is in; null: no task. A wait that was suspended gives it back to resume().
  void* (*current)();
  void (*resume)(void* what);
  /// The program has got memory from kith::allocate, or gives it back.
  void (*allocated)(const void* at, std::size_t bytes);
  void (*released)(const void* at);
};

/// Null: the program was built without kith::trace_accesses.
const access_tracer* the_access_tracer() noexcept;
void set_access_tracer(const access_tracer&) noexcept;

}  // namespace kith
