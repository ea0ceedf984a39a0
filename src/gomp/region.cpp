#include "gomp/region.hpp"

#include "api/implementation.hpp"
#include "engine/native/addressed.hpp"
#include "engine/native/engine.hpp"
#include "gomp/abi.hpp"
#include "gomp/affinity.hpp"
#include "gomp/fatal.hpp"
#include "gomp/reduction.hpp"
#include "gomp/runtimes.hpp"
#include "gomp/task_group.hpp"
#include "gomp/task_types.hpp"
#include "gomp/team.hpp"
#include "gomp/wait.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>

namespace kith::gomp {

namespace {

struct region {
  void (*body)(void*);
  void* data;
};

/// The whole life of a member.
void run_member(team& in, int number, const region& r) noexcept {
  context c = in.context_of(number);
  const enters_context as_member(c);
  in.begin();
  if (the_settings().displays_affinity) display_affinity("");
  r.body(r.data);
  in.end();
}

void run_alone(const region& r, void (*prepare)(team&, void* with), void* with) {
  team alone(1, here(), nullptr);
  if (prepare != nullptr) prepare(alone, with);
  run_member(alone, 0, r);
}

void run_on_workers(int threads, const region& r, void (*prepare)(team&, void* with), void* with) {
  const context& maker = here();
  const lent_runtime lent(threads);
  native::engine& engine = runtime::implementation::engine_of(*lent);
  team all(threads, maker, &engine);
  if (prepare != nullptr) prepare(all, with);
  const keeps_context mine;
  (*lent).run([&] {
    native::worker& first = *native::worker::current();
    const std::uint16_t type = type_of(r.body);
    for (int i = 1; i < threads; ++i)
      native::create_addressed(first, worker_id(i), type, [&all, &r, i] { run_member(all, i, r); });
    auto member_0 = [&] {              // whose waits are not for the other members
      first.children().listed = true;  // as those of the others: its own waits claim them, wherever they are queued
      run_member(all, 0, r);
    };
    run_as_child(member_0);
  });
}

/// The number of members that a region of the running code has.
int team_size(unsigned asked) noexcept {
  constexpr int most_workers = 4096;  // of a runtime
  const context& c = here();
  int size = asked != 0 ? static_cast<int>(std::min(asked, 0x7fffffffU)) : c.icv().threads;
  if (c.team->active_level >= c.icv().max_active_levels) size = 1;
  return std::clamp(size, 1, std::clamp(c.icv().thread_limit, 1, most_workers));
}

}  // namespace

/// The outermost region has workers even if it has one thread: its tasks are then scheduled and recorded like those of
/// larger teams. Not so where the program asks for one thread, as a false `if` clause does.
int run_region(void (*fn)(void*), void* data, unsigned asked, void (*prepare)(team&, void* with), void* with) {
  const region r{fn, data};
  const int threads = team_size(asked);
  try {
    if (threads == 1 && (asked == 1 || here().team->level != 0)) {
      run_alone(r, prepare, with);
    } else {
      run_on_workers(threads, r, prepare, with);
    }
  } catch (...) {
    die(std::current_exception());
  }
  return threads;
}

}  // namespace kith::gomp

using namespace kith::gomp;

KITH_GOMP_API void GOMP_parallel(void (*fn)(void*), void* data, unsigned threads, unsigned) {
  run_region(fn, data, threads);
}

/// The members begin in a task group with the reductions that *data names first.
KITH_GOMP_API unsigned GOMP_parallel_reductions(void (*fn)(void*), void* data, unsigned threads, unsigned) {
  task_group group;
  struct setup {
    task_group& group;
    std::uintptr_t* descriptor;
  } of{group, *static_cast<std::uintptr_t**>(data)};
  const int size = run_region(
      fn, data, threads,
      [](team& t, void* with) {
        const setup& s = *static_cast<setup*>(with);
        make_private_blocks(s.descriptor, nullptr, t.size);
        s.group.reductions = s.descriptor;
        t.group_of_all = &s.group;
      },
      &of);
  return static_cast<unsigned>(size);
}

KITH_GOMP_API void GOMP_barrier() { here().team->barrier(); }
KITH_GOMP_API bool GOMP_barrier_cancel() { return here().team->barrier_or_cancelled(); }
