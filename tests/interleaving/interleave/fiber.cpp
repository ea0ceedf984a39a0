// Fibers on ucontext, with the annotations that the address sanitizer needs.
#include "interleave/fiber.hpp"

#include "base/sanitizers.hpp"

#include <cstdint>

#if KITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kith::interleave {

void fiber::prepare(void (*entry)(void*), void* argument) {
  if (!stack_) stack_.reset(new std::byte[stack_bytes]);
  bottom_ = stack_.get();
  size_ = stack_bytes;
  shadow_ = nullptr;
  entry_ = entry;
  argument_ = argument;
#if KITH_ASAN
  __asan_unpoison_memory_region(stack_.get(), stack_bytes);  // of frames that never returned
#endif
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);  // makecontext passes only ints
  makecontext(&context_, reinterpret_cast<void (*)()>(&fiber::trampoline), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
}

void fiber::trampoline(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<fiber*>(std::uintptr_t{high} << 32 | low);
  self->entry_(self->argument_);
}

void fiber::switch_to(fiber& to, [[maybe_unused]] bool for_good) {
#if KITH_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &shadow_, to.bottom_, to.size_);
#endif
  swapcontext(&context_, &to.context_);
#if KITH_ASAN
  __sanitizer_finish_switch_fiber(shadow_, nullptr, nullptr);
#endif
}

void fiber::entered([[maybe_unused]] fiber& from) {
#if KITH_ASAN
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (!from.stack_) {
    from.bottom_ = bottom;
    from.size_ = size;
  }
#endif
}

}  // namespace kith::interleave
