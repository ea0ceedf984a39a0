// The interface from the engine to the recorder of addresses (src/tracing), if the program is linked with one.
//
// The recorder is in the program and not in the library, so the library calls it only through this table of functions.
// It registers while static objects are made, before a runtime can exist. All functions may be called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

struct access_tracer {
  /// Begins to record into this folder of parts; null if its file cannot be made.
  void* (*start)(const char* folder);
  /// Writes what is left. REQUIRES: no task of this recording runs any more. Returns the number of bytes that could not
  /// be written.
  std::uint64_t (*finish)(void* recording);
  /// Called when the calling thread begins the body of a task, on its current stack: what it touches belongs to `task`
  /// until leave(). A task of 0 is not recorded. Returns the state before, for leave().
  void* (*enter)(void* recording, std::uint64_t task);
  void (*leave)(void* outer);
  /// The state of the calling thread; null: in no task. A suspended wait passes it to resume().
  void* (*current)();
  void (*resume)(void* what);
  /// The program has allocated memory by kith::allocate, or releases it.
  void (*allocated)(const void* at, std::size_t bytes);
  void (*released)(const void* at);
};

/// Null: the program was built without kith::trace_accesses.
const access_tracer* the_access_tracer() noexcept;
void set_access_tracer(const access_tracer&) noexcept;

}  // namespace kith
