// What the processes of a job tell each other beside activities: that a run has ended, and what was counted.
//
// A place's progress thread brings what has come; other threads wait for it. All members may be called by any thread.
#pragma once

#include "places/message.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kith::distributed {

/// What a failure becomes where it is thrown: a place_error, or place_lost.
std::exception_ptr exception_of(const failure& f);
/// The exception that is being handled, as a failure here. One that came from another place keeps its place.
failure current_failure(int here);

/// The message with these counts as its payload, and back. read_counts() throws kith::error for what it cannot read.
detail::byte_buffer sealed(const message_header& h, const place_statistics& counts);
place_statistics read_counts(std::span<const std::byte> payload);

class control {
 public:
  // ---- what has come
  void end_run(std::optional<failure> why);
  void end_job();
  void take(int from, place_statistics counts);
  void has_left();
  void lose(const failure& why);
  /// A place was lost that the others do without.
  void lose_one(int place);

  // ---- who waits. All but await_left() throw place_lost if a place is lost.

  /// Waits for the end of one more run. Throws its failure; kith::error if there will be none.
  void await_run();
  void await_job();
  /// Waits for the answers of that many places, without those of lost ones, and takes them.
  std::map<int, place_statistics> await_answers(std::size_t places);
  void await_left();

 private:
  template <class F>
  void wait_until(std::unique_lock<std::mutex>& lock, F&& come);

  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::optional<failure>> ended_runs_;
  std::map<int, place_statistics> answers_;
  std::optional<failure> lost_;
  std::vector<int> lost_places_;  // that the others do without
  bool job_ended_ = false, left_ = false;
};

}  // namespace kith::distributed
