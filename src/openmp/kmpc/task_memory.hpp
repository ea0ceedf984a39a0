// Memory for tasks. A task often ends on another thread than the one that made it, and then its memory goes back to
// that one, with others. malloc() would take a lock for this.
//
// 1. Only a thread itself uses its task_memory, except `returned_`, to which any thread appends.
// 2. Pieces in `returned_` are only taken all at once, so that appending needs no protection from reuse.
#pragma once

#include "base/atomic.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::openmp::kmpc {

class task_memory;

/// What must be kept of a piece.
struct memory_origin {
  task_memory* owner;  // null: the piece is too large to be kept for others
  std::size_t units;
};

/// What one thread has for its tasks.
class task_memory {
 public:
  task_memory() = default;
  ~task_memory();
  task_memory(const task_memory&) = delete;
  task_memory& operator=(const task_memory&) = delete;

  /// A piece, aligned to 64 bytes. Throws std::bad_alloc.
  void* take(std::size_t bytes, memory_origin&);
  /// Of any thread's.
  void give(void* piece, const memory_origin&) noexcept;
  /// Lets the other threads have what give() still keeps for them.
  void send() noexcept;
  /// Called by a thread that has no task_memory.
  static void give_alone(void* piece, const memory_origin&) noexcept;

 private:
  struct free_piece {
    free_piece* next;
    std::size_t units;
  };
  static constexpr std::size_t unit = 64, most_units = 16;
  static constexpr int batch = 16;  // pieces that go back together

  void keep(free_piece&) noexcept;
  void collect() noexcept;
  void append(free_piece& first, free_piece& last) noexcept;

  std::array<free_piece*, most_units + 1> kept_{};  // by size
  // Pieces on their way back to another thread.
  task_memory* receiver_ = nullptr;
  free_piece *first_ = nullptr, *last_ = nullptr;
  int sending_ = 0;
  alignas(false_sharing_range) atomic<free_piece*> returned_{nullptr};
};

}  // namespace kith::openmp::kmpc
