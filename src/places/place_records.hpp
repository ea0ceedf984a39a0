// What a place writes to its recording: its messages, and how its clock relates to place 0's.
//
// Only the progress thread calls members; it has a log of its own (events/log.hpp). Places in one process read the same
// clock. A place in another process asks place 0 for the time: several times at the start and before it leaves, and
// from time to time in between. The answers with the shortest round trip count (recording/place_clock.hpp).
#pragma once

#include "events/log.hpp"
#include "places/message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kith::distributed {

class place_records {
 public:
  /// Writes to the folder `parts`. `workers`: of the place. `clock`: the same number for all places that read the same
  /// clock; place 0's also identifies the job. Throws kith::error.
  place_records(const std::string& parts, int workers, int number, int places, std::uint64_t clock, bool asks);
  ~place_records();
  place_records(const place_records&) = delete;
  place_records& operator=(const place_records&) = delete;

  void sent(int to, const message_header& h, std::size_t bytes) noexcept;
  /// `task`: the task that the message made; 0: none. `at`: in ticks.
  void received(const message_header& h, std::size_t bytes, std::uint64_t at, std::uint64_t task) noexcept;
  /// What a coroutine waited for: the end of a task here, or, if `task` is 0, a result from another place.
  struct awaited {
    std::uint64_t task = 0, result = 0;
  };
  /// `task` continues the coroutine that `before` has begun or continued, and that was suspended at `at`, in ticks.
  void continued(std::uint64_t task, std::uint64_t before, std::uint64_t at, const awaited& what) noexcept;
  /// `task` runs an activity of this place. `result` 0: no result is wanted.
  void made(std::uint64_t task, std::uint64_t spawner, std::uint64_t result) noexcept;
  /// `numbers`, of a step of the task with a data_flow: the number of the data_flow, the result of the task that it has
  /// spawned (0: it has waited for all), the begin and end of the step in ticks, then the results of the spawned task's
  /// predecessors.
  void flow(std::uint64_t task, std::span<const std::uint64_t> numbers) noexcept;

  // ---- the time at place 0
  /// Whether to ask now.
  bool should_ask() const noexcept;
  message_header question() noexcept;
  /// Place 0's answer. `clock` is its own.
  static message_header answer_to(const message_header& question, int from, std::uint64_t clock) noexcept;
  void answered(const message_header& h) noexcept;
  /// The place is about to leave: asks again, several times.
  void begin_last() noexcept;
  /// Whether the place may leave: it knows the time, or place 0 does not answer.
  bool may_leave() const noexcept;

 private:
  using steady = std::chrono::steady_clock;

  void note(int peer, const message_header& h, std::size_t bytes, std::uint8_t flag, std::uint64_t task,
            std::uint64_t at) noexcept;
  void introduce(std::uint64_t job) noexcept;

  const std::string file_;
  log log_;
  const int number_, places_;
  const std::uint64_t clock_;
  const bool asks_;
  bool introduced_ = false, waits_ = false, leaves_ = false;
  int left_;  // questions to be asked one after the other
  steady::time_point asked_{}, leaving_since_{};
};

}  // namespace kith::distributed
