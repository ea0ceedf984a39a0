#include "openmp/kmpc/task_memory.hpp"

#include "base/round_up.hpp"

#include <cstdlib>
#include <new>

namespace kith::openmp::kmpc {

namespace {

constinit thread_local task_memory* memory_of_thread [[gnu::tls_model("initial-exec")]] = nullptr;
constinit atomic<task_memory*> left_by_threads{nullptr};  // only taken all at once

struct leaves_at_end {
  task_memory* it = nullptr;
  ~leaves_at_end() {
    memory_of_thread = nullptr;
    if (it != nullptr) it->leave();
  }
};
thread_local leaves_at_end left_at_end;

void* new_piece(std::size_t bytes) {
  void* const piece = std::aligned_alloc(64, bytes);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}

}  // namespace

void task_memory::leave() noexcept {
  send();
  next_left_ = left_by_threads.load(relaxed);
  while (!left_by_threads.compare_exchange_weak(next_left_, this, release, relaxed)) {
  }
}

/// What later destructors of an ending thread take stays with it.
task_memory* task_memory::of_thread() noexcept {
  if (memory_of_thread != nullptr) return memory_of_thread;
  task_memory* mine = left_by_threads.exchange(nullptr, acquire);  // pairs with leave()
  if (mine == nullptr) {
    mine = new (std::nothrow) task_memory;
    if (mine == nullptr) return nullptr;
  } else {
    while (task_memory* const other = mine->next_left_) {
      mine->next_left_ = other->next_left_;
      other->leave();
    }
  }
  memory_of_thread = mine;
  left_at_end.it = mine;
  return mine;
}

void* task_memory::take(std::size_t bytes, memory_origin& from) {
  const std::size_t units = round_up(bytes, unit) / unit;
  if (units > most_units) {
    from = {nullptr, units};
    return new_piece(units * unit);
  }
  task_memory* const memory = of_thread();
  if (memory == nullptr) throw std::bad_alloc();
  task_memory& mine = *memory;
  from = {&mine, units};
  if (mine.kept_[units] == nullptr) mine.collect();
  free_piece* const piece = mine.kept_[units];
  if (piece == nullptr) return new_piece(units * unit);
  mine.kept_[units] = piece->next;
  return piece;
}

void task_memory::give(void* piece, const memory_origin& from) noexcept {
  if (from.owner == nullptr) return std::free(piece);
  auto* const free = ::new (piece) free_piece{nullptr, from.units};
  task_memory* const memory = of_thread();
  if (memory == nullptr) return from.owner->append(*free, *free);
  task_memory& mine = *memory;
  if (from.owner == &mine) return mine.keep(*free);
  if (from.owner != mine.receiver_) {
    mine.send();
    mine.receiver_ = from.owner;
  }
  free->next = mine.first_;
  if (mine.first_ == nullptr) mine.last_ = free;
  mine.first_ = free;
  if (++mine.sending_ == batch) mine.send();
}

void task_memory::keep(free_piece& piece) noexcept {
  piece.next = kept_[piece.units];
  kept_[piece.units] = &piece;
}

void task_memory::collect() noexcept {
  free_piece* piece = returned_.exchange(nullptr, acquire);  // pairs with append()
  while (piece != nullptr) {
    free_piece* const next = piece->next;
    keep(*piece);
    piece = next;
  }
}

void task_memory::send() noexcept {
  if (first_ == nullptr) return;
  receiver_->append(*first_, *last_);
  first_ = last_ = nullptr;
  sending_ = 0;
}

void task_memory::append(free_piece& first, free_piece& last) noexcept {
  last.next = returned_.load(relaxed);
  while (!returned_.compare_exchange_weak(last.next, &first, release, relaxed)) {  // pairs with collect()
  }
}

}  // namespace kith::openmp::kmpc
