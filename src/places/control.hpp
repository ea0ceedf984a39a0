// What the processes of a job tell each other beside activities: that a run has ended, and the counts of a place.
//
// A place's progress thread reports what arrives; other threads wait for it. Any thread may call any member.
#pragma once

#include "places/message.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace kith::distributed {

/// The exception for a failure: a place_error, or place_lost.
std::exception_ptr exception_of(const failure& f);
/// The exception that is being handled, as a failure of place `here`. A place_error keeps the place that it names.
failure current_failure(int here);

/// Writes the counts as the message's payload, and reads them back. read_counts() throws kith::error for an invalid
/// payload.
detail::byte_buffer sealed(const message_header& h, const place_statistics& counts);
place_statistics read_counts(std::span<const std::byte> payload);

class control {
 public:
  // ---- called by the progress thread
  void end_run(std::optional<failure> why);
  void end_job();
  void take(int from, place_statistics counts);
  void has_left();
  void lose(const failure& why);
  /// A place was lost that the others can do without.
  void lose_one(int place);

  // ---- waiting. All but await_left() throw place_lost once a place is lost that the others cannot do without.

  /// Waits for the end of one more run. Throws the run's failure, or kith::error if place 0 has ended the job.
  void await_run();
  void await_job();
  /// Waits for the answers of `places` places, less the lost ones that have not answered, and takes the answers.
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
  std::vector<int> lost_places_;  // see lose_one()
  bool job_ended_ = false, left_ = false;
};

}  // namespace kith::distributed
