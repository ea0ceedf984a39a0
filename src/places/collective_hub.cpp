#include "places/collective_hub.hpp"

#include "places/reduce.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ranges>
#include <utility>

namespace kith::distributed {

namespace {

using operation = collective::operation;
using element = collective::element;

std::size_t size_of(element e) noexcept {
  switch (e) {
    case element::byte: return 1;
    case element::i32:
    case element::u32:
    case element::f32: return 4;
    case element::i64:
    case element::u64:
    case element::f64: return 8;
  }
  return 0;
}

/// Whether a place's contribution carries data.
bool has_data(const collective& c, int place) noexcept {
  return c.what != operation::barrier && (c.what != operation::broadcast || c.root == place);
}

message_header header_of(const detail::byte_buffer& message) noexcept {
  message_header h;
  std::memcpy(&h, message.data(), sizeof h);
  return h;
}

/// Compares the parts of a contribution that must be the same at all places.
bool is_same(const message_header& a, const message_header& b) noexcept {
  return a.function == b.function && a.finish_home == b.finish_home && a.finish_number == b.finish_number;
}

constexpr message_header result_header{.kind = message_kind::combined};

collective_hub::answer answer_of(int to, detail::byte_buffer message) {
  return {to, std::make_shared<const detail::packed_arguments>(detail::packed_arguments{std::move(message)})};
}

}  // namespace

detail::byte_buffer contribution_of(int from, const collective& c) {
  detail::byte_buffer message(sizeof(message_header));
  if (has_data(c, from) && c.bytes != 0) message.insert(message.end(), c.data, c.data + c.bytes);
  seal(message, {.kind = message_kind::contribution,
                 .from = static_cast<std::uint32_t>(from),
                 .function = static_cast<std::uint32_t>(c.what) | static_cast<std::uint32_t>(c.element_type) << 8,
                 .finish_number = c.count,
                 .finish_home = static_cast<std::uint32_t>(c.root)});
  return message;
}

collective read_contribution(const message_header& h) {
  const std::uint32_t what = h.function & 0xff, type = h.function >> 8;
  if (what > static_cast<std::uint32_t>(operation::largest) || type > static_cast<std::uint32_t>(element::f64))
    throw error("message: unknown collective " + std::to_string(h.function), error_kind::input);
  collective c{.what = static_cast<operation>(what),
               .element_type = static_cast<element>(type),
               .root = static_cast<int>(h.finish_home),
               .count = h.finish_number};
  const bool fits = c.count <= INT_MAX && (c.what != operation::barrier || c.count == 0);
  c.bytes = fits ? c.count * size_of(c.element_type) : 0;
  const std::size_t expected = has_data(c, static_cast<int>(h.from)) ? c.bytes : 0;
  if (!fits || h.payload != expected) {
    throw error("message: " + std::to_string(h.payload) + " bytes of a collective of " + std::to_string(c.count) +
                    " elements; expected " + std::to_string(expected),
                error_kind::input);
  }
  return c;
}

collective_hub::collective_hub(int places) : members_(static_cast<std::size_t>(places)) {}

collective_hub::answers collective_hub::take(int from, detail::byte_buffer contribution) {
  member& m = at(from);
  if (m.lost) return {};
  if (!m.owed.empty()) {  // H2
    answers out{answer_of(from, sealed(result_header, m.owed.front()))};
    m.owed.pop_front();
    return out;
  }
  const message_header h = header_of(contribution);
  const std::size_t position = m.queue.size();
  m.queue.push_back(std::move(contribution));
  for (int p = 0; p < places() && !broken_; ++p) {
    const member& other = at(p);
    if (p == from || other.queue.size() <= position || is_same(h, header_of(other.queue[position]))) continue;
    broken_ = failure{static_cast<std::uint32_t>(from), differing(decided_ + position, from, p)};
  }
  return decide();
}

collective_hub::answers collective_hub::lose(const failure& why) {
  member& m = at(static_cast<int>(why.place));
  if (m.lost) return {};
  m = {.queue = {}, .owed = {}, .lost = why};
  if (!pending_) pending_ = why;
  if (!first_loss_) first_loss_ = why;
  return decide();
}

void collective_hub::begin_run() {
  if (runs_++ != 0 || !first_loss_) return;
  for (member& m : members_) m.owed.clear();  // the tasks that would have made these calls have ended
}

collective_hub::answers collective_hub::end_run() {
  --runs_;
  return decide();
}

// ---- deciding the next collective

collective_hub::answers collective_hub::decide() {
  answers out;
  while (decide_next(out)) {
  }
  return out;
}

bool collective_hub::decide_next(answers& out) {
  const bool any = std::ranges::any_of(members_, [](const member& m) { return !m.queue.empty(); });
  if (!any) return false;
  if (broken_ || (runs_ == 0 && first_loss_)) {
    fail_queued(broken_ ? *broken_ : *first_loss_, out);
    return true;
  }
  if (pending_) {
    fail_all(*std::exchange(pending_, {}), out);
    return true;
  }
  bool all = true;
  for (const member& m : members_) {
    if (m.lost) continue;
    all = all && !m.queue.empty();
    if (m.queue.empty()) continue;
    const collective c = read_contribution(header_of(m.queue.front()));
    const std::optional<failure>& lost = at(c.root).lost;
    if (c.what != operation::broadcast || !lost) continue;
    fail_all(*lost, out);
    return true;
  }
  if (all) combine(out);
  return all;
}

/// The next collective fails at all places. A place that has not called it yet gets the failure at that call (H2).
void collective_hub::fail_all(const failure& why, answers& out) {
  for (int p = 0; p < places(); ++p) {
    member& m = at(p);
    if (m.lost) continue;
    if (m.queue.empty()) {
      m.owed.push_back(why);
      continue;
    }
    m.queue.pop_front();
    out.push_back(answer_of(p, sealed(result_header, why)));
  }
  ++decided_;
}

/// All queued calls fail, and no later call does on their account.
void collective_hub::fail_queued(const failure& why, answers& out) {
  for (int p = 0; p < places(); ++p) {
    for (; !at(p).queue.empty(); at(p).queue.pop_front()) out.push_back(answer_of(p, sealed(result_header, why)));
  }
}

/// Combines the contributions of all survivors. The first message with data becomes the result.
void collective_hub::combine(answers& out) {
  std::optional<detail::byte_buffer> result;
  collective into;
  for (int p = 0; p < places(); ++p) {  // a fixed order, so that sums do not depend on the order of arrival
    member& m = at(p);
    if (m.lost) continue;
    detail::byte_buffer mine = std::move(m.queue.front());
    m.queue.pop_front();
    const collective c = read_contribution(header_of(mine));
    into.root = c.root;
    if (!has_data(c, p)) {
      into.what = c.what;
    } else if (!result) {
      result = std::move(mine);
      into = c;
      into.data = result->data() + sizeof(message_header);
    } else {
      reduce(into, mine.data() + sizeof(message_header));
    }
  }
  if (result) seal(*result, result_header);
  const answer empty = answer_of(0, sealed(result_header));
  const answer shared = result ? answer_of(0, std::move(*result)) : empty;
  for (int p = 0; p < places(); ++p) {
    if (at(p).lost) continue;
    const bool has_it = into.what == operation::broadcast && p == into.root;
    out.push_back({p, has_it ? empty.message : shared.message});
  }
  ++decided_;
}

}  // namespace kith::distributed
