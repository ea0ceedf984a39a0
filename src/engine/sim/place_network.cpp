#include "engine/sim/place_network.hpp"

#include <algorithm>
#include <utility>

namespace kith::sim {

place_network::place_network(const machine_model& m, const model_parts& parts, std::vector<node_id> node_of_place)
    : links(m),
      counts(node_of_place.size()),
      machine_(m),
      parts_(parts),
      nodes_(std::move(node_of_place)),
      waiting_(nodes_.size()) {}

void place_network::send(place_message what, std::uint64_t bytes, picoseconds now) {
  place_figures& sent = counts[what.from];
  ++sent.messages;
  sent.message_bytes += recorded_message::header_bytes + bytes;
  const node_id from = nodes_[what.from], to = nodes_[what.to];
  const auto near = static_cast<picoseconds>(machine_.costs.push * 1000);
  const auto distance = static_cast<picoseconds>(parts_.latency ? machine_.distance(from, to) : 10);
  what.sent = now;
  what.bytes = bytes;
  const picoseconds left = links.carry(from, to, recorded_message::header_bytes + bytes, now, parts_.contention);
  const std::uint32_t place = what.to;
  std::size_t at = messages_.size();
  if (free_.empty()) {
    messages_.push_back(std::move(what));
  } else {
    at = free_.back();
    free_.pop_back();
    messages_[at] = std::move(what);
  }
  queue_.push({left + near * distance / 10, order_++, place, at});
}

place_message place_network::take_message(std::size_t message) {
  free_.push_back(message);
  return std::move(messages_[message]);
}

place_message place_network::take() {
  const entry first = queue_.top();
  queue_.pop();
  if (first.message != all_that_wait) return take_message(first.message);
  std::deque<std::size_t>& here = waiting_[first.place];
  const std::size_t message = here.front();
  here.pop_front();
  if (!here.empty()) queue_.push(first);  // to be postponed when the place has handled this one
  return take_message(message);
}

void place_network::postpone(picoseconds until) {
  const entry first = queue_.top();
  queue_.pop();
  std::deque<std::size_t>& here = waiting_[first.place];
  const bool has_entry = first.message != all_that_wait && !here.empty();
  if (first.message != all_that_wait) here.push_back(first.message);
  if (!has_entry) queue_.push({until, order_++, first.place, all_that_wait});
}

}  // namespace kith::sim
