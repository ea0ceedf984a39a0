#include "engine/native/stacks.hpp"

#include "base/made_once.hpp"
#include "base/sanitizers.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#if KITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if KITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace kith::native {

std::uintptr_t nesting_limit(std::uintptr_t lowest) noexcept {
  constexpr std::uintptr_t of_one_task = std::uintptr_t{256} * 1024;
#if KITH_TSAN
  // Its own call stack has 65,536 entries and no check; a frame has 32 bytes or more.
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  lowest = std::max(lowest, here - (std::uintptr_t{2} << 20));
#endif
  return lowest + of_one_task;
}

namespace {

/// How many stacks are kept for reuse; further ones go back to the system.
constexpr std::size_t kept_stacks = 64;

/// The exceptions being handled on the current stack. The C++ runtime keeps them per thread.
class exception_state {
 public:
  static constexpr std::size_t bytes = sizeof(void*) + sizeof(unsigned int);  // caught ones, count of uncaught
  exception_state() noexcept { std::memcpy(kept_.data(), abi::__cxa_get_globals(), bytes); }
  void restore() const noexcept { std::memcpy(abi::__cxa_get_globals(), kept_.data(), bytes); }
  static void clear() noexcept { std::memset(static_cast<void*>(abi::__cxa_get_globals()), 0, bytes); }

 private:
  std::array<std::byte, bytes> kept_;
};

std::size_t page_bytes() noexcept {
  static constinit made_once<std::size_t> bytes;
  return bytes.get([] { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); });
}

char* end_of(const stack_mapping& m) noexcept { return static_cast<char*>(m.at) + m.bytes; }

}  // namespace

struct stack_switcher::start {
  stack_switcher* switcher;
  body f;
  void* argument;
  suspended_stack* from;
  stack_bounds bounds;
  mapping at;
};

stack_switcher::~stack_switcher() {
  for (const mapping& m : spare_) munmap(m.at, m.bytes);
}

stack_switcher::mapping stack_switcher::map() noexcept {
  if (!spare_.empty()) {
    const mapping m = spare_.back();
    spare_.pop_back();
    return m;
  }
  const std::size_t guard = page_bytes();
  const std::size_t bytes = (bytes_ + guard - 1) / guard * guard + guard;
  void* const at =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) return {};
  if (mprotect(at, guard, PROT_NONE) != 0) {
    munmap(at, bytes);
    return {};
  }
  return {at, bytes};
}

void stack_switcher::keep(mapping m) noexcept {
  if (spare_.size() < kept_stacks) {
    try {
      spare_.push_back(m);
      return;
    } catch (const std::bad_alloc&) {  // the stack is not kept
    }
  }
  munmap(m.at, m.bytes);
}

/// Tells the sanitizers of the switch. Inline because the thread sanitizer counts each function's entry on the stack
/// that it began on, and its end on the one that it ended on.
[[gnu::always_inline]] inline void stack_switcher::depart(suspended_stack& here,
                                                          [[maybe_unused]] const stack_bounds& to) noexcept {
  here.bounds = now_;
  here.mapped = now_at_;
  leaving_ = &here;
#if KITH_TSAN
  here.bounds.thread_sanitizer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.thread_sanitizer, 0);
#endif
#if KITH_ASAN
  __sanitizer_start_switch_fiber(&here.shadow, to.lowest, to.bytes);
#endif
}

void stack_switcher::arrive(suspended_stack& here, boost::context::detail::fcontext_t from) noexcept {
#if KITH_ASAN
  const void* lowest = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(here.shadow, &lowest, &bytes);
  if (leaving_ != nullptr &&
      leaving_->bounds.lowest == nullptr) {  // the thread's own stack: its bounds are known only now
    leaving_->bounds.lowest = lowest;
    leaving_->bounds.bytes = bytes;
  }
#endif
  if (leaving_ != nullptr) {
    leaving_->context = from;
  } else {
#if KITH_ASAN
    // The frames that ended with the stack have left poison. All others have returned, so none is below `from`.
    __asan_unpoison_memory_region(from, static_cast<std::size_t>(end_of(now_at_) - static_cast<char*>(from)));
#endif
    keep(now_at_);
#if KITH_TSAN
    __tsan_destroy_fiber(now_.thread_sanitizer);
#endif
  }
  now_at_ = here.mapped;
  now_ = now_at_.at != nullptr ? here.bounds : stack_bounds{};
}

bool stack_switcher::leave_for_fresh(suspended_stack& here, body f, void* argument) {
  const mapping m = map();
  if (m.at == nullptr) return false;
  start s{this, f, argument, &here, {static_cast<char*>(m.at) + page_bytes(), m.bytes - page_bytes(), nullptr}, m};
#if KITH_TSAN
  s.bounds.thread_sanitizer = __tsan_create_fiber(0);
#endif
  const exception_state mine;
  const auto fresh = boost::context::detail::make_fcontext(end_of(m), s.bounds.bytes, &stack_switcher::begin);
  depart(here, s.bounds);
  const auto back = boost::context::detail::jump_fcontext(fresh, &s);
  arrive(here, back.fctx);
  mine.restore();
  return true;
}

void stack_switcher::leave_for(suspended_stack& here, suspended_stack& to) {
  const exception_state mine;
  depart(here, to.bounds);
  const auto back = boost::context::detail::jump_fcontext(to.context, nullptr);
  arrive(here, back.fctx);
  mine.restore();
}

/// The entry of a fresh stack. `s` is on the stack that was left, and is gone once the worker goes back to that.
void stack_switcher::begin(boost::context::detail::transfer_t t) {
  start& s = *static_cast<start*>(t.data);
  stack_switcher& self = *s.switcher;
  suspended_stack& from = *s.from;
  from.context = t.fctx;
#if KITH_ASAN
  const void* lowest = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &lowest, &bytes);
  if (from.bounds.lowest == nullptr) {  // the thread's own stack: its bounds are known only now
    from.bounds.lowest = lowest;
    from.bounds.bytes = bytes;
  }
#endif
  self.now_ = s.bounds;
  self.now_at_ = s.at;
  exception_state::clear();
  suspended_stack& to = s.f(s.argument);
  self.leaving_ = nullptr;
#if KITH_TSAN
  __tsan_switch_to_fiber(to.bounds.thread_sanitizer, 0);
#endif
#if KITH_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.bounds.lowest, to.bounds.bytes);
#endif
  boost::context::detail::jump_fcontext(to.context, nullptr);
  __builtin_unreachable();
}

}  // namespace kith::native
