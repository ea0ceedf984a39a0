#include "engine/native/outside.hpp"

#include "engine/native/create.hpp"

namespace kith::native {

outside_seat::outside_seat(native::engine& owner, slot_space& space, std::uint16_t number)
    : native_seat(owner, space, number, false) {}

outside_seat::~outside_seat() {
  {
    const std::lock_guard last(creating);
  }  // a thread whose tasks have ended may still be in notify()
  if (scope_ != nullptr) give_scope(*scope_);
}

detail::scope& outside_seat::open() {
  if (scope_ == nullptr) {
    scope_ = &open_scope(*this, nullptr);
    scope_->waiting.store(waiting_outside, relaxed);
    scope_->independent = true;
    known_.store(scope_, release);  // pairs with unfinished()
  } else if (scope_->unfinished() == 0) {
    scope_->emptied();
  }
  return *scope_;
}

std::uint64_t outside_seat::unfinished() const noexcept {
  const detail::scope* s = known_.load(acquire);  // pairs with open()
  return s == nullptr ? 0 : s->unfinished();
}

void outside_seat::wait_until_empty() {
  std::unique_lock lock(guard);
  changed.wait(lock, [this] { return unfinished() == 0; });
}

std::exception_ptr outside_seat::take_failure() {
  std::lock_guard lock(creating);
  return scope_ == nullptr ? nullptr : scope_->take_failure();
}

void outside_seat::notify() noexcept {
  std::lock_guard lock(guard);
  changed.notify_all();
}

}  // namespace kith::native
