#include "openmp/kmpc/thread_memory.hpp"

#include <new>

namespace kith::openmp::kmpc {

namespace {

struct kept_memory {
  task_memory it;
  kept_memory* next = nullptr;  // in the list below
};

constinit atomic<kept_memory*> left_by_threads{nullptr};  // only taken all at once

void leave(kept_memory& memory) noexcept {
  memory.next = left_by_threads.load(relaxed);
  while (!left_by_threads.compare_exchange_weak(memory.next, &memory, release, relaxed)) {  // pairs with take_over()
  }
}

/// Null: no thread has left any.
kept_memory* take_over() noexcept {
  kept_memory* const mine = left_by_threads.exchange(nullptr, acquire);  // pairs with leave()
  if (mine == nullptr) return nullptr;
  while (kept_memory* const other = mine->next) {
    mine->next = other->next;
    leave(*other);
  }
  return mine;
}

constinit thread_local kept_memory* current [[gnu::tls_model("initial-exec")]] = nullptr;

struct leaves_at_end {
  kept_memory* it = nullptr;
  ~leaves_at_end() {
    current = nullptr;  // what later destructors of the thread take, it leaves for ever
    if (it == nullptr) return;
    it->it.send();
    leave(*it);
  }
};
thread_local leaves_at_end left_at_end;

}  // namespace

task_memory* memory_of_thread() noexcept {
  if (current == nullptr) {
    kept_memory* mine = take_over();
    if (mine == nullptr) mine = new (std::nothrow) kept_memory;
    if (mine == nullptr) return nullptr;
    current = left_at_end.it = mine;
  }
  return &current->it;
}

}  // namespace kith::openmp::kmpc
