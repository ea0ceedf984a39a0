#include "places/job_recording.hpp"

#include "base/atomic.hpp"
#include "places/message.hpp"
#include "recording/assemble.hpp"
#include "recording/job_parts.hpp"

#include <kith/error.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>

namespace kith::distributed {

static_assert(recorded_message::header_bytes == sizeof(message_header));

namespace {

constexpr std::chrono::seconds longest_wait{10};
constexpr std::time_t grace_seconds = 2;

bool in_use(const std::vector<std::string>& files) {
  return std::ranges::any_of(files, [](const std::string& f) { return parts_in_use(parts_of(f)); });
}

// The state of the only end_grace. The handler reads it.
timer_t grace_timer{};
atomic<pid_t> grace_of{0};  // the process that made the timer; a child of fork() does not have it

/// Handles the first SIGTERM: starts the timer. SA_RESETHAND has restored the default action, which ends the process
/// when the timer sends SIGTERM.
void put_off(int signal) {
  constexpr itimerspec until{{}, {grace_seconds, 0}};
  if (grace_of.load(relaxed) != getpid() || timer_settime(grace_timer, 0, &until, nullptr) != 0)
    static_cast<void>(::raise(signal));
}

}  // namespace

std::string recording_of_place(const std::string& file, int place) {
  return place == 0 ? file : file + "-place-" + std::to_string(place);
}

void assemble_here(const std::vector<std::string>& files) noexcept {
  for (const std::vector<std::string>& together : by_job(files)) {
    try {
      assemble_places(together);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "kith: recording: %s; its parts are kept: kith repair %s\n", e.what(),
                   together.front().c_str());
    }
  }
}

void assemble_job(const std::string& file, int places) noexcept {
  try {
    const std::vector<std::string> all = parts_of_job(file);
    if (all.size() != static_cast<std::size_t>(places)) {
      throw error("parts of " + std::to_string(all.size()) + " of " + std::to_string(places) +
                  " places are beside it; bring those of other machines here, if there are any");
    }
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    while (in_use(all)) {
      if (std::chrono::steady_clock::now() > end)
        throw error("another place is still writing; wait until its process has ended");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    assemble_places(all);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kith: recording %s: %s; then put them together: kith repair %s\n", file.c_str(), e.what(),
                 file.c_str());
  }
}

end_grace::end_grace() {
  struct sigaction now{};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  sigevent ends{};
  ends.sigev_notify = SIGEV_SIGNAL;
  ends.sigev_signo = SIGTERM;
  if (timer_create(CLOCK_MONOTONIC, &ends, &grace_timer) != 0) return;
  grace_of.store(getpid(), relaxed);
  now = {};
  now.sa_handler = put_off;
  now.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  handles_ = ::sigaction(SIGTERM, &now, nullptr) == 0;
}

end_grace::~end_grace() {
  if (!handles_ || grace_of.load(relaxed) != getpid()) return;
  struct sigaction now{};
  if (::sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != put_off) return;  // the timer ends this process
  ::signal(SIGTERM, SIG_DFL);
  grace_of.store(0, relaxed);
  timer_delete(grace_timer);
}

}  // namespace kith::distributed
