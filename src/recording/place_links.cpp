#include "recording/place_links.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace kith {

namespace {

/// The part's last time.
double last_time(const place_part& p) {
  std::uint64_t last = 0;
  for (const recorded_task& t : p.recorded.tasks) last = std::max({last, t.create_until, t.ended, t.completed});
  for (const place_part::message& m : p.messages) last = std::max(last, m.at);
  return static_cast<double>(last);
}

double difference(std::uint64_t later, std::uint64_t earlier) {
  return static_cast<double>(static_cast<std::int64_t>(later - earlier));
}

/// Whether the place reads the clock that place 0 reads, as processes of one machine do: each of its questions was
/// asked before place 0 answered, and was answered before the answer arrived, all in its own ticks. The clocks of two
/// machines differ by the time between their starts, and a round trip is longer than that only by chance; so the host
/// names must be equal as well.
bool reads_same_clock(const place_part& p, const place_part& first) {
  constexpr double rounding = 1;
  return p.host == first.host && !p.clocks.empty() &&
         std::ranges::all_of(p.clocks, [&p](const place_part::clock_reading& c) {
           const double there = difference(c.there, p.began) * p.ns_per_tick;
           return there >= static_cast<double>(c.sent) - rounding &&
                  there <= static_cast<double>(c.received) + rounding;
         });
}

}  // namespace

std::vector<clock_relation> clocks_of(std::span<const place_part> parts) {
  std::vector<clock_relation> all(parts.size());
  const place_part& first = parts.front();
  // The begin of place 0; if place 0 is lost, the time of its first answer, in another place's unit of time.
  std::uint64_t began = first.began;
  if (first.number != 0 && !first.clocks.empty()) began = first.clocks.front().there;
  double earliest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const place_part& p = parts[i];
    if (p.clock == first.clock && (first.number == 0 || p.clocks.empty())) {
      all[i].offset = difference(p.began, first.began) * first.ns_per_tick;
    } else if (reads_same_clock(p, first)) {
      // Each process has measured the length of a tick.
      all[i] = {.offset = difference(p.began, began) * first.ns_per_tick,
                .drift = first.ns_per_tick / p.ns_per_tick - 1};
    } else {
      std::vector<clock_sample> samples;
      for (const place_part::clock_reading& c : p.clocks)
        samples.push_back({static_cast<double>(c.sent), static_cast<double>(c.received),
                           difference(c.there, began) * first.ns_per_tick});
      if (samples.empty())
        throw error("place " + std::to_string(p.number) + " has never read the clock of place 0", error_kind::input);
      all[i] = relate_clocks(samples, last_time(p));
    }
    earliest = i == 0 ? all[i].offset : std::min(earliest, all[i].offset);
  }
  for (clock_relation& c : all) c.offset -= earliest;
  return all;
}

std::optional<std::size_t> part_of(std::span<const place_part> parts, std::uint16_t number) {
  const auto at = std::ranges::lower_bound(parts, number, {}, &place_part::number);
  if (at == parts.end() || at->number != number) return {};
  return static_cast<std::size_t>(at - parts.begin());
}

/// The n-th message sent is the n-th received.
std::vector<message_link> links_between(std::span<const place_part> parts, std::uint32_t places) {
  using way = std::pair<std::uint16_t, std::uint16_t>;
  std::map<way, std::vector<message_link>> by_way;
  for (const bool received : {false, true}) {
    std::map<way, std::size_t> next;
    for (const place_part& p : parts) {
      for (const place_part::message& m : p.messages) {
        if (m.received != received || m.peer >= places || m.peer == p.number) continue;
        const way direction = received ? way(m.peer, p.number) : way(p.number, m.peer);
        std::vector<message_link>& all = by_way[direction];
        std::size_t& n = next[direction];
        if (n == all.size()) all.push_back({direction.first, direction.second});
        (received ? all[n].received : all[n].sent) = &m;
        ++n;
      }
    }
  }
  std::vector<message_link> links;
  for (const auto& [direction, all] : by_way) links.insert(links.end(), all.begin(), all.end());
  return links;
}

spawned_by_task spawned_tasks(std::span<const place_part> parts, std::span<const message_link> links) {
  struct offer {
    std::uint64_t sent = 0, accepted = 0;
  };
  std::vector<std::unordered_map<std::uint64_t, offer>> offers(parts.size());  // by sequence number
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const place_part::message& m : parts[i].messages) {
      if (!m.received && m.kind == recorded_message::spawn) {
        offer& o = offers[i][m.sequence];
        if (o.sent == 0) o.sent = m.at;
      } else if (m.received && m.kind == recorded_message::accepted) {
        offers[i][m.sequence].accepted = m.at;
      }
    }
  }
  spawned_by_task all;
  for (const message_link& l : links) {
    if (l.received == nullptr || l.received->kind != recorded_message::spawn || l.received->task < 0) continue;
    if (l.sent == nullptr || l.sent->kind != recorded_message::spawn || l.sent->task < 0) continue;
    const std::optional<std::size_t> from = part_of(parts, l.source), to = part_of(parts, l.destination);
    if (!from || !to) continue;
    const offer& o = offers[*from][l.sent->sequence];
    all[{*to, l.received->task}] = {*from, l.sent->task, o.sent, o.accepted, l.sent->result != 0};
  }
  return all;
}

known_results results_of(std::span<const place_part> parts, std::span<const message_link> links) {
  known_results all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const place_part::made_task& m : parts[i].made) {
      if (!m.continues && m.result != 0 && m.task >= 0) all.begun[{i, m.result}] = {i, m.task};
    }
  }
  for (const message_link& l : links) {
    const std::optional<std::size_t> from = part_of(parts, l.source), to = part_of(parts, l.destination);
    if (l.sent == nullptr || l.received == nullptr || !from || !to) continue;
    if (l.sent->kind == recorded_message::spawn && l.sent->result != 0 && l.received->task >= 0)
      all.begun[{*from, l.sent->result}] = {*to, l.received->task};
    if (l.sent->kind == recorded_message::result && l.sent->task >= 0)
      all.sent[{*to, l.received->result}] = {{*from, l.sent->task}, recorded_message::payload_of(l.sent->bytes)};
  }
  return all;
}

}  // namespace kith
