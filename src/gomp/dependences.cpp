#include "gomp/dependences.hpp"

#include "engine/native/engine.hpp"
#include "gomp/context.hpp"
#include "gomp/fatal.hpp"
#include "gomp/team.hpp"
#include "gomp/wait.hpp"

#include <kith/access.hpp>

#include <cstdint>

namespace kith::gomp {

namespace {

/// A depobj (omp_depend_t).
struct depend_object {
  const void* address;
  std::uintptr_t kind;
};

mode mode_of(std::uintptr_t kind) {
  switch (kind) {
    case 1: return mode::in;
    case 2: return mode::out;
    case 3: return mode::inout;
    case 4: return mode::commutative;
    case 5: return mode::concurrent;  // inoutset
    default: die("a depobj of a `depend` clause has no kind: it was not set, or was destroyed");
  }
}

}  // namespace

/// The list begins with its length and the number of `out` and `inout` addresses, which come first. If it begins with
/// 0, there follow the length, and the numbers of addresses of three kinds; all others are depobjs.
access_records::access_records(void** list) {
  if (list == nullptr) return;
  const auto number = [list](std::size_t i) { return reinterpret_cast<std::uintptr_t>(list[i]); };
  if (number(0) != 0) {
    for (std::size_t i = 0; i < number(0); ++i) add(list[2 + i], i < number(1) ? mode::inout : mode::in);
    return;
  }
  void** const entries = list + 5;
  const std::size_t outs = number(2), exclusive = outs + number(3), plain = exclusive + number(4);
  for (std::size_t i = 0; i < number(1); ++i) {
    if (i < plain) {
      add(entries[i], i < outs ? mode::inout : i < exclusive ? mode::commutative : mode::in);
    } else {
      const auto& object = *static_cast<const depend_object*>(entries[i]);
      add(object.address, mode_of(object.kind));
    }
  }
}

void access_records::add(const void* address, mode how) {
  static constexpr char at_null = 0;  // stands for a null pointer, which is as good an address as any other
  const detail::access_record r{address != nullptr ? address : &at_null, 1, nullptr, how};
  if (more_.empty() && count_ < few_.size()) {
    few_[count_++] = r;
    return;
  }
  if (more_.empty()) more_.assign(few_.begin(), few_.end());
  more_.push_back(r);
}

void access_records::take_no_turns() noexcept {
  for (detail::access_record& r : records()) {
    if (r.how == mode::commutative || r.how == mode::concurrent) r.how = mode::inout;
  }
}

/// By a task of that list which tells when it runs.
void await_predecessors(const context& in, void** list) {
  if (!in.team->has_workers() || in.locks > 0) return wait_for_children();
  native::worker& w = *native::worker::current();
  if (w.children_scope == nullptr || w.children_scope->unfinished() == 0) return;
  access_records accesses(list);
  accesses.take_no_turns();
  atomic<bool> ran{false};
  auto tell = [&ran, &parked = w.engine.parked, who = w.id] {
    sleepers& of_engine = parked;  // the closure and `ran` may be gone once that is set
    const worker_id waiter = who;
    ran.store(true, release);  // pairs with the load below
    of_engine.wake(waiter);
  };
  using body = decltype(tell);
  const detail::draft d =
      detail::begin(detail::running_task{}, detail::task_room(sizeof(body), alignof(body), accesses.all()));
  ::new (d.closure) body(tell);
  const task_ref t = detail::submit(d, &detail::code_of<body>, detail::declared(accesses.all(), {}, {}));
  wait_until([&] { return ran.load(acquire); }, t);
}

}  // namespace kith::gomp
