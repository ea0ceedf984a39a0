// Parallel regions, leagues of teams, and barriers.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/fatal.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/league.hpp"
#include "openmp/region.hpp"
#include "openmp/team.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <utility>
#include <vector>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

namespace {

/// What the next region of this thread is asked to have; 0: nothing is asked.
struct requested_sizes {
  unsigned threads = 0, teams = 0, threads_of_team = 0;
};
constinit thread_local requested_sizes next_region [[gnu::tls_model("initial-exec")]];

/// A body, and its variables: one pointer, or number in place of a pointer, for each.
class call {
 public:
  call(microtask code, std::vector<void*> variables) : body_(code), variables_(std::move(variables)) {
    if (variables_.size() > most) die("a parallel region has more than 500 variables of its creator");
  }

  microtask body() const noexcept { return body_; }
  void operator()() const {
    constexpr std::size_t few = 6, many = 60;
    const std::size_t count = variables_.size();
    if (count <= few) return pass<few>();
    if (count <= many) return pass<many>();
    pass<most>();
  }

 private:
  static constexpr std::size_t most = 500;

  /// Passes `count` arguments: in this calling convention a function ignores those that it does not have.
  template <std::size_t count>
  void pass() const {
    std::array<void*, count> all{};
    std::copy(variables_.begin(), variables_.end(), all.begin());
    std::int32_t thread = here().thread, in_team = thread;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      using function =
          void (*)(std::int32_t*, std::int32_t*, decltype(static_cast<void>(i), static_cast<void*>(nullptr))...);
      reinterpret_cast<function>(body_)(&thread, &in_team, all[i]...);
    }(std::make_index_sequence<count>());
  }

  const microtask body_;
  std::vector<void*> variables_;
};

std::vector<void*> read(int count, std::va_list from) {
  std::vector<void*> all(static_cast<std::size_t>(count));
  for (void*& v : all) v = va_arg(from, void*);
  return all;
}

void run_call(void* it) { (*static_cast<const call*>(it))(); }

/// With a false `if` clause, `threads` is 1.
void fork(call c, unsigned threads) {
  run_region({.code = body_code(c.body()), .body = run_call, .data = &c, .threads = threads});
}

/// A region with a false `if` clause, whose body the program calls itself.
struct serial_region : team {
  serial_region() : team(1, here(), nullptr) {}
  membership only{*this, 0};
};

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp): the ABI has variable arguments

KITH_OPENMP_API void __kmpc_fork_call(const location*, std::int32_t count, microtask body, ...) {
  std::va_list variables;
  va_start(variables, body);
  fork(call(body, read(count, variables)), std::exchange(next_region.threads, 0));
  va_end(variables);
}

KITH_OPENMP_API void __kmpc_fork_teams(const location*, std::int32_t count, microtask body, ...) {
  std::va_list variables;
  va_start(variables, body);
  call c(body, read(count, variables));
  va_end(variables);
  const requested_sizes asked = std::exchange(next_region, {});
  run_league(run_call, &c, asked.teams, asked.threads_of_team);
}

// NOLINTEND(cert-dcl50-cpp)

KITH_OPENMP_API void __kmpc_fork_call_if(const location*, std::int32_t, microtask body, std::int32_t condition,
                                         void* variables) {
  const unsigned asked = std::exchange(next_region.threads, 0);
  call c(body, variables != nullptr ? std::vector<void*>{variables} : std::vector<void*>());
  fork(std::move(c), condition != 0 ? asked : 1);
}

KITH_OPENMP_API void __kmpc_serialized_parallel(const location*, std::int32_t) {
  next_region.threads = 0;
  new serial_region;  // found by its context
}

KITH_OPENMP_API void __kmpc_end_serialized_parallel(const location*, std::int32_t) {
  delete static_cast<serial_region*>(here().team);
}

KITH_OPENMP_API void __kmpc_push_num_threads(const location*, std::int32_t, std::int32_t threads) {
  next_region.threads = static_cast<unsigned>(std::max(threads, 0));
}

KITH_OPENMP_API void __kmpc_push_num_threads_strict(const location* at, std::int32_t thread, std::int32_t threads,
                                                    std::int32_t, const char*) {
  __kmpc_push_num_threads(at, thread, threads);
}

KITH_OPENMP_API void __kmpc_pop_num_threads(const location*, std::int32_t) {}

KITH_OPENMP_API void __kmpc_push_proc_bind(const location*, std::int32_t, std::int32_t) {}

KITH_OPENMP_API void __kmpc_push_num_teams(const location*, std::int32_t, std::int32_t teams, std::int32_t threads) {
  next_region.teams = static_cast<unsigned>(std::max(teams, 0));
  next_region.threads_of_team = static_cast<unsigned>(std::max(threads, 0));
}

KITH_OPENMP_API void __kmpc_push_num_teams_51(const location* at, std::int32_t thread, std::int32_t, std::int32_t most,
                                              std::int32_t threads) {
  __kmpc_push_num_teams(at, thread, most, threads);
}

KITH_OPENMP_API void __kmpc_set_thread_limit(const location*, std::int32_t, std::int32_t limit) {
  if (limit > 0) here().own_icv().thread_limit = limit;
}

KITH_OPENMP_API void __kmpc_barrier(const location*, std::int32_t) { here().team->barrier(); }
KITH_OPENMP_API std::int32_t __kmpc_cancel_barrier(const location*, std::int32_t) {
  return here().team->barrier_or_cancelled();
}

// ---- queries

// The compiler passes this number back to all other functions, which do not need it.
KITH_OPENMP_API std::int32_t __kmpc_global_thread_num(const location*) { return here().thread; }
KITH_OPENMP_API std::int32_t __kmpc_bound_thread_num(const location*) { return here().thread; }
KITH_OPENMP_API std::int32_t __kmpc_global_num_threads(const location*) { return here().team->size; }
KITH_OPENMP_API std::int32_t __kmpc_bound_num_threads(const location*) { return here().team->size; }
KITH_OPENMP_API std::int32_t __kmpc_in_parallel(const location*) { return here().team->active_level > 0; }
KITH_OPENMP_API std::int32_t __kmpc_ok_to_fork(const location*) { return 1; }
KITH_OPENMP_API void __kmpc_begin(const location*, std::int32_t) {}
KITH_OPENMP_API void __kmpc_end(const location*) {}
