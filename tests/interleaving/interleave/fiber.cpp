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
  const handover came = *static_cast<handover*>(t.data);
  came.from->context_ = t.fctx;
  came.to->entry_(came.to->argument_);
}

void fiber::switch_to(fiber& to, [[maybe_unused]] bool for_good) {
#if KITH_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &shadow_, to.bottom_, to.size_);
#endif
  handover goes{this, &to};
  const boost::context::detail::transfer_t back = boost::context::detail::jump_fcontext(to.context_, &goes);
  static_cast<handover*>(back.data)->from->context_ = back.fctx;
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
