#include "openmp/dependences.hpp"

#include "base/address.hpp"
#include "engine/native/engine.hpp"
#include "openmp/context.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <cstdint>

namespace kith::openmp {

namespace {

/// Programs may name a dependence by any value of a pointer, also by one that is no address of theirs.
constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << 47) - 1;  // of a process

detail::access_record record_of(const void* address, std::size_t bytes, mode how) {
  static constexpr char at_null = 0;  // stands for a null pointer
  if (address == nullptr) return {&at_null, 1, nullptr, how};
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (value <= address_bits && bytes <= address_bits - value)
    return {address, std::max<std::size_t>(bytes, 1), nullptr, how};
  return {at_address(value & address_bits), 1, nullptr, how};
}

}  // namespace

void access_records::add(const void* address, std::size_t bytes, mode how) {
  const detail::access_record r = record_of(address, bytes, how);
  if (more_.empty() && count_ < few_.size()) {
    few_[count_++] = r;
    return;
  }
  if (more_.empty()) more_.assign(few_.begin(), few_.end());
  more_.push_back(r);
}

void access_records::forget_sizes() noexcept {
  for (detail::access_record& r : records()) r.bytes = 1;
}

void access_records::take_no_turns() noexcept {
  for (detail::access_record& r : records()) {
    if (r.how == mode::commutative || r.how == mode::concurrent) r.how = mode::inout;
  }
}

/// By a task of these accesses which tells when it runs.
void await_predecessors(const context& in, access_records accesses) {
  if (!in.team->has_workers()) return wait_for_children();
  native::worker& w = *native::worker::current();
  if (w.children_scope == nullptr || w.children_scope->unfinished() == 0) return;
  accesses.take_no_turns();
  atomic<bool> ran{false};
  auto tell = [&ran, &parked = w.engine.parked, who = w.id] {
    sleepers& of_engine = parked;  // the closure and `ran` may be gone once that is set
    const worker_id waiter = who;
    ran.store(true, release);  // pairs with the load below
    of_engine.wake(waiter);
  };
  using body = decltype(tell);
  const detail::draft d = begin_task(detail::task_room(sizeof(body), alignof(body), accesses.all()));
  ::new (d.closure) body(tell);
  submit_task(d, &detail::code_of<body>, detail::declared(accesses.all(), {}, {}));
  wait_among_children([&] { return ran.load(acquire); });
}

}  // namespace kith::openmp
