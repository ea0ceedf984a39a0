#include "openmp/kmpc/task_memory.hpp"

#include "base/round_up.hpp"

#include <cstdlib>
#include <new>

namespace kith::openmp::kmpc {

namespace {

void* new_piece(std::size_t bytes) {
  void* const piece = std::aligned_alloc(64, bytes);
  if (piece == nullptr) throw std::bad_alloc();
  return piece;
}

}  // namespace

task_memory::~task_memory() {
  collect();
  for (free_piece* piece : kept_) {
    while (piece != nullptr) {
      free_piece* const next = piece->next;
      std::free(piece);
      piece = next;
    }
  }
}

void* task_memory::take(std::size_t bytes, memory_origin& from) {
  const std::size_t units = round_up(bytes, unit) / unit;
  if (units > most_units) {
    from = {nullptr, units};
    return new_piece(units * unit);
  }
  from = {this, units};
  if (kept_[units] == nullptr) collect();
  free_piece* const piece = kept_[units];
  if (piece == nullptr) return new_piece(units * unit);
  kept_[units] = piece->next;
  return piece;
}

void task_memory::give(void* piece, const memory_origin& from) noexcept {
  if (from.owner == nullptr) return std::free(piece);
  auto* const free = ::new (piece) free_piece{nullptr, from.units};
  if (from.owner == this) return keep(*free);
  if (from.owner != receiver_) {
    send();
    receiver_ = from.owner;
  }
  free->next = first_;
  if (first_ == nullptr) last_ = free;
  first_ = free;
  if (++sending_ == batch) send();
}

void task_memory::give_alone(void* piece, const memory_origin& from) noexcept {
  if (from.owner == nullptr) return std::free(piece);
  auto* const free = ::new (piece) free_piece{nullptr, from.units};
  from.owner->append(*free, *free);
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
