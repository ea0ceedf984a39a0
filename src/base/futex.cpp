#include "base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace kith {

namespace {

constexpr std::int64_t second = 1'000'000'000;

int flag_of(futex_scope scope) noexcept { return scope == futex_scope::process ? FUTEX_PRIVATE_FLAG : 0; }

}  // namespace

void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  static_assert(sizeof(word) == 4);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t end,
                      futex_scope scope) noexcept {
  const timespec at{.tv_sec = static_cast<time_t>(end / second), .tv_nsec = static_cast<long>(end % second)};
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | flag_of(scope), expected, &at, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t longest) noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  futex_wait_until(word, expected, now.tv_sec * second + now.tv_nsec + longest);
}

void futex_wake(const atomic<std::uint32_t>& word, int count, futex_scope scope) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | flag_of(scope), count, nullptr, nullptr, 0);
}

}  // namespace kith
