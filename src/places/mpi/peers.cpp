#include "places/mpi/peers.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

namespace kith::distributed::mpi {

const std::uint64_t process_card::word = 0x6b6974682e6b7463;

process_card process_card::of_this_process() {
  process_card c;
  c.pid = getpid();
  c.word_at = reinterpret_cast<std::uintptr_t>(&word);
  gethostname(c.host, sizeof c.host - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat names{};  // processes in another container have other ids
  const bool known = stat("/proc/self/ns/pid", &names) == 0 && !boot.empty();
  c.machine = std::hash<std::string>()(boot + "/" + std::to_string(names.st_ino));
  if (!known) c.machine ^= static_cast<std::uint64_t>(c.pid) * 0x9e3779b97f4a7c15ULL + 1;  // unique
  return c;
}

peers::peers(std::vector<process_card> cards, int here, std::chrono::nanoseconds silence)
    : cards_(std::move(cards)),
      silence_(silence),
      heard_(cards_.size(), clock::now()),
      is_lost_(cards_.size(), false),
      looked_(clock::now()),
      signed_(looked_) {
  for (int p = 0; p < static_cast<int>(cards_.size()); ++p) {
    if (p == here) continue;
    const process_card& c = cards_[static_cast<std::size_t>(p)];
    const bool near = c.machine == cards_[static_cast<std::size_t>(here)].machine;
    const int watch = near ? static_cast<int>(syscall(SYS_pidfd_open, c.pid, 0)) : -1;
    if (near && watch < 0 && errno == ESRCH) {
      ended_early_.push_back(p);
    } else if (watch >= 0) {
      near_.push_back({.fd = watch, .events = POLLIN, .revents = 0});
      near_place_.push_back(p);
    } else {
      far_.push_back(p);
    }
  }
}

peers::~peers() {
  for (const pollfd& p : near_) close(p.fd);
}

void peers::lose(int place, std::string why, std::vector<lost_place>& found) {
  if (is_lost_[static_cast<std::size_t>(place)]) return;
  is_lost_[static_cast<std::size_t>(place)] = true;
  found.push_back({place, std::move(why)});
}

std::vector<lost_place> peers::look(clock::time_point now) {
  const auto since = now - looked_;
  if (since < look_interval) return {};
  std::vector<lost_place> found = look_near(now);
  if (silence_.count() == 0) return found;
  // If this process itself was stopped, the silence of others proves nothing.
  if (since > silence_ / 4) {
    for (const int p : far_) heard_[static_cast<std::size_t>(p)] += since;
  }
  for (const int p : far_) {
    if (now - heard_[static_cast<std::size_t>(p)] <= silence_) continue;
    const std::string silent =
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(silence_).count()) + " ms";
    lose(p, "nothing came from " + host(p) + " for " + silent, found);
  }
  return found;
}

std::vector<lost_place> peers::look_near(clock::time_point now) {
  std::vector<lost_place> found;
  if (now - looked_ < look_interval) return found;
  looked_ = now;
  const auto ended = [this](int place) {
    const process_card& c = cards_[static_cast<std::size_t>(place)];
    return "its process, " + std::to_string(c.pid) + " on " + c.host + ", has ended";
  };
  for (const int p : ended_early_) lose(p, ended(p), found);
  if (!near_.empty() && poll(near_.data(), near_.size(), 0) > 0) {
    for (std::size_t i = 0; i < near_.size(); ++i) {
      if (near_[i].revents == 0) continue;
      lose(near_place_[i], ended(near_place_[i]), found);
      close(near_[i].fd);
      near_[i].fd = -1;  // poll() leaves it out
    }
  }
  return found;
}

bool peers::should_sign(clock::time_point now) {
  if (far_.empty() || silence_.count() == 0 || now - signed_ < silence_ / 8) return false;
  signed_ = now;
  return true;
}

}  // namespace kith::distributed::mpi
