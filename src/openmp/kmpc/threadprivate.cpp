// Threadprivate variables of programs whose threads have no storage of their own (-fnoopenmp-use-tls).
#include "openmp/abi.hpp"
#include "openmp/kmpc/types.hpp"

#include "base/spin_mutex.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace kith::openmp::kmpc;

namespace {

using constructor = void* (*)(void*);
using copy_constructor = void* (*)(void*, void*);
using destructor = void (*)(void*);

struct variable {
  constructor construct = nullptr;
  copy_constructor copy = nullptr;
  destructor destroy = nullptr;
  std::shared_ptr<const std::vector<std::byte>> first_bytes;  // of one without a constructor: what copies begin with
};

constinit kith::spin_mutex guards_variables;
constinit std::unordered_map<void*, variable>* variables = nullptr;  // once made, it lives as long as threads do

/// With the lock held.
variable& variable_at(void* original) {
  if (variables == nullptr) variables = std::make_unique<std::unordered_map<void*, variable>>().release();
  return (*variables)[original];
}

/// The calling thread's copy of one variable; the process's first thread has the variable itself.
class copy {
 public:
  copy(void* original, std::size_t bytes) {
    const variable of = remember(original, bytes);
    if (getpid() == gettid()) {
      memory_ = original;
      return;
    }
    memory_ = ::operator new(bytes, alignment);
    destroy_ = of.destroy;
    is_own_ = true;
    if (of.construct != nullptr) {
      of.construct(memory_);
    } else if (of.copy != nullptr) {
      of.copy(memory_, original);
    } else {
      std::memcpy(memory_, of.first_bytes->data(), bytes);
    }
  }
  copy(const copy&) = delete;
  copy& operator=(const copy&) = delete;
  ~copy() {
    if (!is_own_) return;
    if (destroy_ != nullptr) destroy_(memory_);
    ::operator delete(memory_, alignment);
  }

  void* get() const noexcept { return memory_; }

 private:
  static constexpr std::align_val_t alignment{64};

  /// What is known of the variable, with its bytes before any thread has used it. The program's own functions, which
  /// may use other such variables, are called without the lock.
  static variable remember(void* original, std::size_t bytes) {
    const std::lock_guard guard(guards_variables);
    variable& of = variable_at(original);
    const auto* const first = static_cast<const std::byte*>(original);
    if (of.construct == nullptr && of.copy == nullptr && !of.first_bytes)
      of.first_bytes = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    return of;
  }

  void* memory_ = nullptr;
  destructor destroy_ = nullptr;
  bool is_own_ = false;
};

thread_local std::unordered_map<void*, std::unique_ptr<copy>> copies_of_thread;

}  // namespace

/// Before any use.
KITH_OPENMP_API void __kmpc_threadprivate_register(const location*, void* original, constructor construct,
                                                   copy_constructor copy_from, destructor destroy) {
  const std::lock_guard guard(guards_variables);
  variable& of = variable_at(original);
  of.construct = construct;
  of.copy = copy_from;
  of.destroy = destroy;
}

KITH_OPENMP_API void* __kmpc_threadprivate(const location*, std::int32_t, void* original, std::size_t bytes) {
  const auto found = copies_of_thread.find(original);
  if (found != copies_of_thread.end()) return found->second->get();
  auto made = std::make_unique<copy>(original, bytes);  // which may make others
  return copies_of_thread.emplace(original, std::move(made)).first->second->get();
}
KITH_OPENMP_API void* __kmpc_threadprivate_cached(const location* at, std::int32_t thread, void* original,
                                                  std::size_t bytes, void***) {
  return __kmpc_threadprivate(at, thread, original, bytes);
}
