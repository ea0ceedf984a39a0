#include "engine/native/thread.hpp"

#include "engine/native/binding.hpp"
#include "memory/numa_calls.hpp"

#include <kith/error.hpp>
#include <kith/unbound.hpp>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace kith::native {

namespace {

thread_local constinit std::uintptr_t lowest_here = 0;  // of the thread's stack; 0: not known yet

}  // namespace

struct thread::start {
  std::string name;
  std::function<void()> body;
  cpu_set_t free;      // where it may run, if it starts bound elsewhere
  bool known = false;  // whether `free` is set
  std::uintptr_t lowest = 0;
};

thread::thread(std::string name, std::size_t stack_bytes, std::function<void()> body, stack_home at) {
  start_.reset(new start{std::move(name), std::move(body), {}});
  const std::size_t guard = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  stack_bytes_ = (stack_bytes + guard - 1) / guard * guard + guard;  // the lowest page is a guard
  void* map = mmap(nullptr, stack_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) {
    throw error("no address space for a worker's stack of " + std::to_string(stack_bytes) +
                    " bytes: lower KITH_STACK, or the number of workers; see `ulimit -v`",
                error_kind::resources);
  }
  stack_ = map;
  const bool refused = at.node >= 0 && numa::prefer(stack_, stack_bytes_, at.node) != 0;
  mprotect(stack_, guard, PROT_NONE);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, static_cast<char*>(stack_) + guard, stack_bytes_ - guard);
  const unbound starter;
  const auto lowest = reinterpret_cast<std::uintptr_t>(stack_) + guard;
  start_->lowest = lowest;
  start_->known = refused && sched_getaffinity(0, sizeof start_->free, &start_->free) == 0;
  const binding there(refused && at.cpu >= 0 ? thread_affinity{{at.cpu}} : thread_affinity{});
  const int failed = pthread_create(
      &id_, &attributes,
      [](void* p) -> void* {
        const start* const s = static_cast<start*>(p);
        lowest_here = s->lowest;  // the C library would ask the kernel
        if (s->known) sched_setaffinity(0, sizeof s->free, &s->free);
        pthread_setname_np(pthread_self(), s->name.substr(0, 15).c_str());
        s->body();
        return nullptr;
      },
      start_.get());
  pthread_attr_destroy(&attributes);
  if (failed != 0) {
    munmap(stack_, stack_bytes_);
    throw error(std::string("the system starts no further thread: ") + std::strerror(failed) +
                    "; lower KITH_WORKERS, or see `ulimit -u`",
                error_kind::resources);
  }
  joinable_ = true;
}

thread::thread(thread&& other) noexcept
    : start_(std::move(other.start_)),
      id_(other.id_),
      stack_(std::exchange(other.stack_, nullptr)),
      stack_bytes_(other.stack_bytes_),
      joinable_(std::exchange(other.joinable_, false)) {}

thread::~thread() {
  if (!joinable_) return;
  pthread_join(id_, nullptr);
  munmap(stack_, stack_bytes_);
}

std::uintptr_t stack_bottom() noexcept {
  if (lowest_here != 0) return lowest_here;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return lowest_here = reinterpret_cast<std::uintptr_t>(lowest);
}

}  // namespace kith::native
