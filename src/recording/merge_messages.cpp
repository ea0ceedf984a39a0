#include "recording/merge_messages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

namespace {

using sent_message = place_part::message;
using spawners_of_results = std::map<std::pair<std::size_t, std::uint64_t>, std::int32_t>;  // by place and result

spawners_of_results find_spawners(std::span<const message_link> links) {
  spawners_of_results asked;
  for (const message_link& l : links) {
    if (l.sent != nullptr && l.sent->kind == recorded_message::spawn && l.sent->result != 0)
      asked[{l.source, l.sent->result}] = l.sent->task;
  }
  return asked;
}

/// What one of the two sides has recorded.
const sent_message& any_side(const message_link& l) noexcept { return l.sent != nullptr ? *l.sent : *l.received; }

/// The task for which a received message is, as its part numbers it: for a result, the spawner that waits for it; -1:
/// not known.
std::int32_t receiver_of(const message_link& l, const spawners_of_results& asked) {
  if (any_side(l).kind != recorded_message::result) return l.received->task;
  const auto who = asked.find({l.destination, l.received->result});
  return who == asked.end() ? -1 : who->second;
}

}  // namespace

void add_messages(std::span<const place_part> parts, std::span<const part_numbers> numbers,
                  std::span<const message_link> links, recording& out, time_corrections& corrections) {
  const spawners_of_results asked = find_spawners(links);
  for (const message_link& l : links) {
    recorded_message m{.kind = any_side(l).kind,
                       .source = static_cast<std::uint16_t>(l.source),
                       .destination = static_cast<std::uint16_t>(l.destination),
                       .bytes = any_side(l).bytes};
    const std::optional<std::size_t> from = part_of(parts, m.source), to = part_of(parts, m.destination);
    if (l.sent != nullptr && from) {
      m.sent = numbers[*from].time(l.sent->at);
      if (l.sent->task >= 0) m.spawner = numbers[*from].task(l.sent->task);
    }
    if (l.received != nullptr && to) {
      m.received = numbers[*to].time(l.received->at);
      const std::int32_t task = receiver_of(l, asked);
      if (task >= 0) m.task = numbers[*to].task(task);
      if (l.sent == nullptr) m.sent = m.received;
      corrections.correct(m.received, m.sent);
    }
    if (m.kind == recorded_message::spawn && m.task >= 0 && out.task(m.task).creator != m.spawner) m.task = -1;
    out.messages.push_back(m);
  }
  std::ranges::sort(out.messages, {}, [](const recorded_message& m) {
    return std::tuple(m.sent, m.source, m.destination, m.received, m.kind, m.task);
  });
}

void name_awaited_results(recording& out) {
  std::unordered_map<std::int32_t, std::vector<const recorded_message*>> came;  // by the waiting task
  for (const recorded_message& m : out.messages) {
    if (m.kind == recorded_message::result && m.task >= 0 && m.spawner >= 0) came[m.task].push_back(&m);
  }
  for (recorded_wait& w : out.waits) {
    const auto results = came.find(w.task);
    if (w.scope != recorded_wait::for_future || results == came.end()) continue;
    const recorded_message* last = nullptr;
    for (const recorded_message* m : results->second) {
      if (m->received >= w.begun && m->received <= w.ended && (last == nullptr || m->received > last->received))
        last = m;
    }
    if (last == nullptr) continue;
    const recorded_task& activity = out.task(out.first_part_of(last->spawner));
    if (activity.creator == w.task && !activity.of_data_flow()) w.scope = activity.scope;
  }
}

}  // namespace kith
