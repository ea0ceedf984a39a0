#include "task/scope.hpp"

#include <utility>

namespace kith {

namespace {

/// All scopes, for reuse. Never destroyed: late readers may hold pointers to them.
struct pool {
  std::mutex guard;
  std::vector<std::unique_ptr<detail::scope>> all;
  std::vector<detail::scope*> free;
  std::uint64_t next_serial = 1;
};
pool& scopes() {
  static pool& p = *new pool;
  return p;
}

std::uint64_t fresh_serial(seat& by) {
  if (by.next_serial == by.last_serial) {
    constexpr std::uint64_t range = 1 << 16;
    pool& p = scopes();
    std::lock_guard lock(p.guard);
    by.next_serial = p.next_serial;
    by.last_serial = p.next_serial += range;
  }
  return by.next_serial++;
}

}  // namespace

seat::~seat() {
  pool& p = scopes();
  std::lock_guard lock(p.guard);
  p.free.insert(p.free.end(), spare_scopes.begin(), spare_scopes.end());
}

namespace detail {

void scope::fail(std::exception_ptr why) noexcept {
  {
    std::lock_guard lock(failing_);
    if (!failure_) failure_ = std::move(why);
  }
  failed.store(true, kith::release);  // pairs with take_failure()
  if (!independent) cancelled.store(true, relaxed);
}

std::exception_ptr scope::take_failure() noexcept {
  if (!failed.load(acquire)) return nullptr;
  std::lock_guard lock(failing_);
  failed.store(false, relaxed);
  return std::exchange(failure_, nullptr);
}

void scope::emptied() {
  by_address.next_epoch();
  children.clear();
  cancelled.store(false, relaxed);
  serial = fresh_serial(*creator);
  seat& by = *creator;
  blocks.clear([&by](slot_index b) { by.slots.give_own(b); });
}

}  // namespace detail

detail::scope& take_scope(seat& creator, detail::scope* parent) {
  if (creator.spare_scopes.empty()) {
    pool& p = scopes();
    std::lock_guard lock(p.guard);
    if (p.free.empty()) p.free.push_back(p.all.emplace_back(std::make_unique<detail::scope>()).get());
    creator.spare_scopes.push_back(p.free.back());
    p.free.pop_back();
  }
  detail::scope& s = *creator.spare_scopes.back();
  creator.spare_scopes.pop_back();
  s.creator = &creator;
  s.parent = parent;
  s.depth = parent == nullptr ? 0 : static_cast<std::uint16_t>(parent->depth + 1);
  s.serial = fresh_serial(creator);
  return s;
}

void give_scope(detail::scope& s) {
  s.take_failure();
  s.emptied();
  s.by_address.clear();
  s.created.store(0, relaxed);
  s.ended_here.store(0, relaxed);
  s.bytes_created = 0;
  s.ended_elsewhere.store(0, relaxed);
  s.bytes_ended.store(0, relaxed);
  s.waiting.store(0, relaxed);
  s.sequence = 0;
  s.identity = 0;
  s.parent = nullptr;
  s.listed = s.phased = s.independent = false;
  s.creator->spare_scopes.push_back(&s);
}

}  // namespace kith
