// Constructs for devices. There are none, so target regions run on the host, where the data is; a league of teams runs
// its teams one after the other.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/gomp/dependences.hpp"
#include "openmp/league.hpp"
#include "openmp/team.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

using namespace kith::openmp;

namespace {

using body_of_region = void (*)(void*);

/// Runs the body as the initial thread of a device would: in no parallel region.
void run_as_initial(body_of_region body, void* data, int thread_limit) {
  icv_set icv = the_settings().first;
  if (thread_limit > 0) icv.thread_limit = thread_limit;
  team alone(icv);
  context initial = alone.context_of(0);
  const enters_context enter(initial);
  body(data);
}

// The arguments of a target region: pairs of a number and a value, or one word with both, up to a null.
constexpr std::uintptr_t id_bits = 0xff00, thread_limit_id = 2U << 8, follows_bit = 0x80;
constexpr int value_shift = 16;

/// 0: not said.
int thread_limit_of(void** arguments) noexcept {
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    const auto word = reinterpret_cast<std::uintptr_t>(*arguments++);
    // The value is in the upper bits, unless it is too large for them.
    const std::uint64_t value = (word & follows_bit) != 0 ? reinterpret_cast<std::uintptr_t>(*arguments++)
                                                          : static_cast<std::uint64_t>(word) >> value_shift;
    if ((word & id_bits) == thread_limit_id) return to_limit(value);
  }
  return 0;
}

// How a variable is mapped: the lower bits of its kind; the upper ones are the alignment, as a power of two.
constexpr unsigned map_bits = 0xff, firstprivate = 12, alignment_shift = 8;

/// Copies of the variables that a region has for itself.
class private_copies {
 public:
  private_copies(std::size_t count, void** addresses, const std::size_t* sizes, const unsigned short* kinds) {
    // A null address is that of an absent argument.
    const auto is_private = [&](std::size_t i) {
      return (kinds[i] & map_bits) == firstprivate && addresses[i] != nullptr;
    };
    const auto alignment = [&](std::size_t i) { return std::size_t{1} << (kinds[i] >> alignment_shift); };
    std::size_t room = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_private(i)) room += sizes[i] + alignment(i);
    }
    if (room == 0) return;
    memory_ = std::make_unique<std::byte[]>(room);
    void* at = memory_.get();
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_private(i)) continue;
      std::align(alignment(i), sizes[i], at, room);
      if (sizes[i] != 0) std::memcpy(at, addresses[i], sizes[i]);
      addresses[i] = at;
      at = static_cast<std::byte*>(at) + sizes[i];
      room -= sizes[i];
    }
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

void wait_for_predecessors(void** depend) {
  if (depend != nullptr) await_predecessors(here(), records_of(depend));
}

}  // namespace

KITH_OPENMP_API void GOMP_target(int, body_of_region body, const void*, std::size_t, void** addresses, std::size_t*,
                                 unsigned char*) {
  run_as_initial(body, addresses, 0);
}

// With nowait, too, the region has ended on return.
KITH_OPENMP_API void GOMP_target_ext(int, body_of_region body, std::size_t count, void** addresses, std::size_t* sizes,
                                     unsigned short* kinds, unsigned, void** depend, void** arguments) {
  wait_for_predecessors(depend);
  const private_copies copies(count, addresses, sizes, kinds);
  run_as_initial(body, addresses, thread_limit_of(arguments));
}

// Data is where it is.
KITH_OPENMP_API void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}
KITH_OPENMP_API void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, unsigned short*) {}
KITH_OPENMP_API void GOMP_target_end_data() {}
KITH_OPENMP_API void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*, unsigned char*) {}

KITH_OPENMP_API void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                            void** depend) {
  wait_for_predecessors(depend);
}

KITH_OPENMP_API void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*, unsigned short*, unsigned,
                                                 void** depend) {
  wait_for_predecessors(depend);
}

KITH_OPENMP_API void GOMP_teams(unsigned, unsigned thread_limit) {
  if (thread_limit != 0) here().own_icv().thread_limit = to_limit(thread_limit);
}

// In a target region: the compiler runs the team's code for as long as the answer is true.
KITH_OPENMP_API bool GOMP_teams4(unsigned, unsigned most_teams, unsigned thread_limit, bool first) {
  icv_set& icv = here().own_icv();
  if (first) {
    if (thread_limit != 0) icv.thread_limit = to_limit(thread_limit);
    icv.teams = to_limit(std::max(most_teams, 1U));
    icv.team_number = 0;
    return true;
  }
  if (icv.team_number + 1 >= icv.teams) return false;
  ++icv.team_number;
  return true;
}

// On the host.
KITH_OPENMP_API void GOMP_teams_reg(body_of_region body, void* data, unsigned teams, unsigned thread_limit, unsigned) {
  run_league(body, data, teams, thread_limit);
}
