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

using namespace kith::openmp::kmpc;

namespace {

using constructor = void* (*)(void*);
using copy_constructor = void* (*)(void*, void*);
using destructor = void (*)(void*);

struct variable {
  constructor construct = nullptr;
  copy_constructor copy = nullptr;
  destructor destroy = nullptr;
  std::unique_ptr<std::byte[]> first_bytes;  // of one without a constructor: what copies begin with
};

constinit kith::spin_mutex guards_variables;
constinit std::unordered_map<void*, variable>* variables = nullptr;  // once made, it lives as long as threads do

/// With the lock held.
variable& variable_at(void* original) {
  if (variables == nullptr) variables = std::make_unique<std::unordered_map<void*, variable>>().release();
  return (*variables)[original];
}

/// The calling thread's copy of one variable.
class copy {
 public:
  copy(void* original, std::size_t bytes) : memory_(new(alignment) std::byte[bytes]) {
    const std::lock_guard guard(guards_variables);
    variable& of = variable_at(original);
    destroy_ = of.destroy;
    if (of.construct != nullptr) {
      of.construct(memory_);
    } else if (of.copy != nullptr) {
      of.copy(memory_, original);
    } else {
      if (!of.first_bytes) {
        of.first_bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::memcpy(of.first_bytes.get(), original, bytes);
      }
      std::memcpy(memory_, of.first_bytes.get(), bytes);
    }
  }
  copy(const copy&) = delete;
  copy& operator=(const copy&) = delete;
  ~copy() {
    if (destroy_ != nullptr) destroy_(memory_);
    ::operator delete[](memory_, alignment);
  }

  void* get() const noexcept { return memory_; }

 private:
  static constexpr std::align_val_t alignment{64};
  std::byte* const memory_;
  destructor destroy_ = nullptr;
};

thread_local std::unordered_map<void*, copy> copies_of_thread;

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

/// The calling thread's copy. The process's first thread has the variable itself.
KITH_OPENMP_API void* __kmpc_threadprivate(const location*, std::int32_t, void* original, std::size_t bytes) {
  if (getpid() == gettid()) return original;
  return copies_of_thread.try_emplace(original, original, bytes).first->second.get();
}
KITH_OPENMP_API void* __kmpc_threadprivate_cached(const location* at, std::int32_t thread, void* original,
                                                  std::size_t bytes, void***) {
  return __kmpc_threadprivate(at, thread, original, bytes);
}
