// Threads and processes that the program starts. Each thread registers its stack at its start, because tasks may touch
// the stack of a thread that never runs one. The thread that forks holds the recorder's locks across fork(): in
// the child, a lock held by another thread would never be released.
#include "base/rng.hpp"
#include "tracing/trace.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>

extern "C" {
void* __libc_malloc(std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace kith::tracing {

namespace {

struct thread_start {
  void* (*body)(void*);
  void* with;
  std::uint64_t number;  // thread_number
};

struct thread_end {
  thread_end() = default;
  ~thread_end() { remove_this_thread(); }
  thread_end(const thread_end&) = delete;
  thread_end& operator=(const thread_end&) = delete;
};

/// By the thread that makes the new one, its running functions, and how many it has made in these.
std::uint64_t number_of_new_thread() noexcept {
  const std::uint64_t functions = (now != nullptr ? now->calls() : calls_outside).hash();
  constexpr std::uint64_t threads = 1;  // counted apart from blocks
  const std::uint64_t where = mix(mix(functions ^ thread_number) ^ threads);
  return mix(where ^ next_outside(where));
}

void* begin_thread(void* what) {
  const thread_start start = *static_cast<thread_start*>(what);
  __libc_free(what);
  thread_number = start.number;
  add_this_thread();
  const thread_end at_end;  // pthread_exit() unwinds the stack
  return start.body(start.with);
}

/// B4 of blocks.hpp: the forking thread's state before. Other libraries' handlers of fork() also run while the locks
/// are held.
constinit thread_local task_trace* now_before [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local bool inside_before [[gnu::tls_model("initial-exec")]] = false;

void before_fork() noexcept {
  now_before = now;
  inside_before = inside;
  inside = true;
  now = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  lock_of_traces().lock();
  lock_of_sites().lock();
  lock_of_blocks().lock();
}
void unlock_all() noexcept {
  lock_of_blocks().unlock();
  lock_of_sites().unlock();
  lock_of_traces().unlock();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
void in_parent() noexcept {
  unlock_all();
  now = now_before;
  inside = inside_before;
}
/// The touches of a child are not the task's, so it has no trace.
void in_child() noexcept {
  unlock_all();
  inside = inside_before;
}

/// Runs before the program's own static objects, so that handlers that these register run while no lock is held.
[[gnu::constructor(101)]] void begin_process() {
  if (!active()) return;
  pthread_atfork(before_fork, in_parent, in_child);
  add_this_thread();
}

}  // namespace

}  // namespace kith::tracing

extern "C" [[gnu::weak]] int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*),
                                            void* with) noexcept {
  using kith::tracing::thread_start;
  static auto* const real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (real == nullptr) return EAGAIN;
  if (!kith::tracing::active()) return real(thread, how, body, with);
  auto* const start = static_cast<thread_start*>(__libc_malloc(sizeof(thread_start)));
  if (start == nullptr) return EAGAIN;
  *start = {body, with, kith::tracing::number_of_new_thread()};
  const int failed = real(thread, how, kith::tracing::begin_thread, start);
  if (failed != 0) __libc_free(start);
  return failed;
}
