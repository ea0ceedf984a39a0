// Collectives where losses are survived: each place sends its contribution to place 0, which combines them and sends
// the result, or the failure, to all. So a collective ends in the same way at all survivors.
//
// Plain data: place 0 calls the hub under a lock. Collectives are matched by the order in which each place calls them:
//  H1  The first contribution in each place's queue belongs to the next collective to be decided.
//  H2  `owed` has the failures of collectives that a place has not called yet. While it is not empty, the place's queue
//      is empty, and each call of the place gets the next of these failures.
//  H3  Each contribution of a place that is not lost gets one answer, in the order of arrival.
#pragma once

#include "places/message.hpp"
#include "places/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::distributed {

/// The message by which a place takes part: a copy of its data, if the other places need it.
detail::byte_buffer contribution_of(int from, const collective& c);
/// Decodes the header of a contribution: the collective without its data. Throws kith::error of kind `input` if it is
/// not valid. REQUIRES: decode() has read it.
collective read_contribution(const message_header& h);

class collective_hub {
 public:
  /// The answer to a contribution. All places share the message of a result.
  struct answer {
    int to;
    std::shared_ptr<const detail::packed_arguments> message;
  };
  using answers = std::vector<answer>;

  explicit collective_hub(int places);

  /// A contribution of that place. REQUIRES: read_contribution() can read it.
  answers take(int from, detail::byte_buffer contribution);
  /// A place was lost: the next collective fails at all others.
  answers lose(const failure& why);
  /// Runs may overlap. After a loss, collectives fail while there is no run: only tasks that a lost place has spawned
  /// can still call them, and the other places would not take part.
  void begin_run();
  answers end_run();

 private:
  struct member {
    std::deque<detail::byte_buffer> queue;  // H1
    std::deque<failure> owed;               // H2
    std::optional<failure> lost;
  };

  answers decide();
  bool decide_next(answers& out);
  void combine(answers& out);
  void fail_all(const failure& why, answers& out);
  void fail_queued(const failure& why, answers& out);
  member& at(int place) { return members_[static_cast<std::size_t>(place)]; }
  int places() const noexcept { return static_cast<int>(members_.size()); }

  std::vector<member> members_;
  std::optional<failure> pending_;     // a loss that no collective has thrown yet
  std::optional<failure> first_loss_;  // kept after a collective has thrown it
  std::optional<failure> broken_;      // the places' calls differ: why all later ones fail
  std::uint64_t decided_ = 0;          // collectives
  int runs_ = 0;                       // runs in progress
};

}  // namespace kith::distributed
