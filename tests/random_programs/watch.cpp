#include "watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <thread>

#ifdef KITH_TEST_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef KITH_TEST_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace kith::random_programs {

namespace {

constexpr int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Read in a signal handler, in which almost nothing may be called.
std::array<char, 2048> current;
std::atomic<std::size_t> length{0};
std::atomic<std::uint64_t> number{0};
struct sigaction handled_before[std::size(fatal)];

void say(const char* what, std::size_t bytes) {
  if (::write(STDERR_FILENO, what, bytes) < 0) return;
}
template <std::size_t N>
void say(const char (&what)[N]) {
  say(what, N - 1);
}

void say_current() {
  say(current.data(), length.load(std::memory_order_acquire));
  say("\n");
}

/// The previous handler of the signal, a sanitizer's or the system's, must run next, so the signal is
/// raised again, by abort() or where it came from.
void on_fatal(int sig) {
  say("\nended by a signal: ");
  say_current();
  for (std::size_t i = 0; i < std::size(fatal); ++i) {
    if (fatal[i] == sig) sigaction(sig, &handled_before[i], nullptr);
  }
}

void watch(std::chrono::seconds limit) {
  using clock = std::chrono::steady_clock;
  std::uint64_t last = 0;
  for (clock::time_point since = clock::now();; std::this_thread::sleep_for(std::chrono::seconds(1))) {
    const std::uint64_t now = number.load(std::memory_order_relaxed);
    if (now != last) {
      last = now;
      since = clock::now();
    }
    if (clock::now() - since < limit) continue;
    say("\nhangs: ");
    std::abort();
  }
}

}  // namespace

void now_running(const std::string& text) {
  const std::size_t bytes = std::min(text.size(), current.size());
  length.store(0, std::memory_order_relaxed);
  std::copy_n(text.begin(), bytes, current.begin());
  length.store(bytes, std::memory_order_release);
  number.fetch_add(1, std::memory_order_relaxed);
}

bool memory_leaks() {
#ifdef KITH_TEST_LEAKS
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

void start_watch(std::chrono::seconds limit) {
  for (std::size_t i = 0; i < std::size(fatal); ++i) {
    struct sigaction ours{};
    ours.sa_handler = on_fatal;
    ours.sa_flags = SA_ONSTACK;
    sigaction(fatal[i], &ours, &handled_before[i]);
  }
#ifdef KITH_TEST_SANITIZED
  __sanitizer_set_death_callback([] {  // a sanitizer's report raises no signal
    say("\nended by a sanitizer: ");
    say_current();
  });
#endif
  std::thread(watch, limit).detach();
}

}  // namespace kith::random_programs
