// Memory for tasks. A task often ends on another thread than the one that made it, and then its memory goes back to
// that one, with others. malloc() would take a lock for this.
//
// 1. Only a thread itself uses its task_memory, except `returned_`, to which any thread appends.
// 2. A task_memory is never freed: one whose thread has ended still gets pieces back, until a new thread takes it.
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

class task_memory {
 public:
  /// A piece for the calling thread, aligned to 64 bytes. Throws std::bad_alloc.
  static void* take(std::size_t bytes, memory_origin&);
  /// Called by any thread.
  static void give(void* piece, const memory_origin&) noexcept;
  /// For a thread that ends.
  void leave() noexcept;

 private:
  struct free_piece {
    free_piece* next;
    std::size_t units;
  };
  static constexpr std::size_t unit = 64, most_units = 16;
  static constexpr int batch = 16;  // pieces that go back together

  /// Null: there is no memory for one.
  static task_memory* of_thread() noexcept;
  void keep(free_piece&) noexcept;
  void collect() noexcept;
  void send() noexcept;
  void append(free_piece& first, free_piece& last) noexcept;

  std::array<free_piece*, most_units + 1> kept_{};  // by size
  // Pieces on their way back to another thread.
  task_memory* receiver_ = nullptr;
  free_piece *first_ = nullptr, *last_ = nullptr;
  int sending_ = 0;
  task_memory* next_left_ = nullptr;
  alignas(false_sharing_range) atomic<free_piece*> returned_{nullptr};
};

}  // namespace kith::openmp::kmpc
