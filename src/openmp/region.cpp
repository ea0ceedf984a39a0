#include "openmp/region.hpp"

#include "api/implementation.hpp"
#include "engine/native/addressed.hpp"
#include "engine/native/engine.hpp"
#include "openmp/affinity.hpp"
#include "openmp/fatal.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/wait.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>

namespace kith::openmp {

namespace {

// What the calling thread was when its affinity was shown. OpenMP asks for it again only after a change.
constinit thread_local int shown_level = 0, shown_size = 0, shown_number = 0;

void run_member(team& in, int number, const region_request& r) noexcept {
  const membership lives(in, number);
  r.body(r.data);
}

void run_alone(const region_request& r) {
  team alone(1, here(), nullptr);
  if (r.prepare != nullptr) r.prepare(alone, r.with);
  run_member(alone, 0, r);
}

void run_on_workers(int threads, const region_request& r) {
  const context& maker = here();
  const lent_runtime lent(threads);
  native::engine& engine = runtime::implementation::engine_of(*lent);
  team all(threads, maker, &engine);
  if (r.prepare != nullptr) r.prepare(all, r.with);
  const keeps_context mine;
  const std::uint16_t type = type_of(r.code);
  auto members = [&] {
    native::worker& first = *native::worker::current();
    for (int i = 1; i < threads; ++i)
      native::create_addressed(first, worker_id(i), type, [&all, &r, i] { run_member(all, i, r); });
    const runs_as_child member_0;    // whose waits are not for the other members
    first.children().listed = true;  // as those of the others: its own waits claim them, wherever they are queued
    run_member(all, 0, r);
  };
  engine.run_root(&members, [](void* all_members) { (*static_cast<decltype(members)*>(all_members))(); }, type);
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

membership::membership(team& in, int number) : in_(in), own_(in.context_of(number)), entered_(own_) {
  in.begin();
  if (!the_settings().displays_affinity || (number == shown_number && in.size == shown_size && in.level == shown_level))
    return;
  shown_level = in.level;
  shown_size = in.size;
  shown_number = number;
  display_affinity("");
}

membership::~membership() { in_.end(); }

/// The outermost region has workers even if it has one thread: its tasks are then scheduled and recorded like those of
/// larger teams. Not so where the program asks for one thread, as a false `if` clause does.
int run_region(const region_request& r) {
  const int threads = team_size(r.threads);
  try {
    if (threads == 1 && (r.threads == 1 || here().team->level != 0)) {
      run_alone(r);
    } else {
      run_on_workers(threads, r);
    }
  } catch (...) {
    die(std::current_exception());
  }
  return threads;
}

}  // namespace kith::openmp
