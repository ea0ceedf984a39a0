// Fibers on Boost.Context, whose switches make no system call, with the annotations that the address sanitizer needs.
#include "interleave/fiber.hpp"

#include "base/sanitizers.hpp"

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
  context_ = boost::context::detail::make_fcontext(stack_.get() + stack_bytes, stack_bytes, &fiber::trampoline);
}

void fiber::trampoline(boost::context::detail::transfer_t t) {
  auto* from = static_cast<fiber*>(t.data);
  from->context_ = t.fctx;
  from->next_->entry_(from->next_->argument_);
}

void fiber::switch_to(fiber& to, [[maybe_unused]] bool for_good) {
  next_ = &to;  // a member, because the sanitizer may give up the frame of what is left for good
#if KITH_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &shadow_, to.bottom_, to.size_);
#endif
  const auto back = boost::context::detail::jump_fcontext(to.context_, this);
  static_cast<fiber*>(back.data)->context_ = back.fctx;
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
