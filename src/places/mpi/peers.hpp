// Which processes of the job are alive.
//
// A process on this machine is watched through the kernel, which reports its end at once and without error. A process
// on another machine is lost when it has been silent for too long: the others send it something, at least a sign of
// life, several times in that period. A process that is stopped, or starved of a core, for less than that is not lost.
#pragma once

#include "places/transport.hpp"

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::distributed::mpi {

/// What processes tell each other about themselves at the start.
struct process_card {
  std::uint64_t program = 0;
  std::uint64_t machine = 0;  // the same for two processes that see each other's process ids
  std::int32_t pid = 0;
  std::uint32_t version = 0;
  std::uint32_t survives_losses = 0;
  std::uint64_t word_at = 0;  // the address of `word` in that process, to try whether it can be read
  char host[64] = {};

  static const std::uint64_t word;
  static process_card of_this_process();
};

class peers {
 public:
  using clock = std::chrono::steady_clock;

  peers(std::vector<process_card> cards, int here, std::chrono::nanoseconds silence);
  ~peers();
  peers(const peers&) = delete;
  peers& operator=(const peers&) = delete;

  /// Something has arrived from that place.
  void heard(int place, clock::time_point now) { heard_[static_cast<std::size_t>(place)] = now; }
  /// The places that were silent or have ended since the last call. Cheap to call often: looks 100 times a second.
  std::vector<lost_place> look(clock::time_point now);
  /// As look(), for processes on this machine only: those of other machines may not send anything yet.
  std::vector<lost_place> look_near(clock::time_point now);
  /// Whether to send signs of life to far() now.
  bool should_sign(clock::time_point now);
  /// The places on other machines.
  const std::vector<int>& far() const noexcept { return far_; }
  std::string host(int place) const { return cards_[static_cast<std::size_t>(place)].host; }

 private:
  static constexpr std::chrono::milliseconds look_interval{10};

  void lose(int place, std::string why, std::vector<lost_place>& found);

  std::vector<process_card> cards_;
  std::chrono::nanoseconds silence_;
  std::vector<pollfd> near_;      // one for each process that the kernel watches
  std::vector<int> near_place_;   // by index in near_
  std::vector<int> ended_early_;  // ended before they could be watched
  std::vector<int> far_;
  std::vector<clock::time_point> heard_;
  std::vector<bool> is_lost_;
  clock::time_point looked_, signed_;
};

}  // namespace kith::distributed::mpi
