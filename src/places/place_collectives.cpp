// Collectives of a place: tasks take part in them; the progress thread starts them and handles their ends.
#include "places/place.hpp"

#include "base/invariant.hpp"

#include <cstring>
#include <utility>

namespace kith::distributed {

void place::take_part(const char* call, const collective& c) {
  if (job_.one_group)
    throw error(std::string(call) + ": all workers are one group under cws; expected separate places");
  const auto mine = std::make_shared<pending_collective>();
  mine->what = c;
  if (job_.survives_losses) {
    contribute(mine, contribution_of(number_, c));
  } else {
    if (c.bytes != 0) {  // copied: the caller may leave early (no stack, or a lost place)
      const auto data = std::make_shared<detail::byte_buffer>(c.data, c.data + c.bytes);
      mine->what.data = data->data();
      mine->what.owner = data;
    }
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    new_collectives_.push_back(mine);
  }
  net_.ring();
  mine->ended.wait();
  if (mine->failed) std::rethrow_exception(exception_of(*mine->failed));
  if (mine->refused) throw error(std::string(call) + ": " + mine->refused->what(), mine->refused->kind());
  const std::byte* const result = job_.survives_losses ? mine->combined.get() : mine->what.data;
  if (c.bytes != 0 && result != nullptr) std::memcpy(c.data, result, c.bytes);
}

// ---- over place 0, where losses are survived (collective_hub.hpp)

void place::contribute(const std::shared_ptr<pending_collective>& mine, detail::byte_buffer message) {
  const std::lock_guard order(hub_guard_);
  {
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    new_collectives_.push_back(mine);
    if (hub_ == nullptr) return post(0, std::move(message));
  }
  send_answers(hub_->take(number_, std::move(message)));
}

/// REQUIRES: hub_guard_ is held.
void place::send_answers(const collective_hub::answers& answers) {
  for (const collective_hub::answer& a : answers) {
    if (a.to == number_) {
      end_first_collective(a.message);
    } else {
      outbox_.push(*new outgoing{a.to, {}, a.message});
    }
  }
  if (!answers.empty()) net_.ring();
}

/// Ends the first of the open collectives that this place has called.
void place::end_first_collective(const std::shared_ptr<const detail::packed_arguments>& message) {
  std::shared_ptr<pending_collective> first;
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    KITH_INVARIANT(!new_collectives_.empty(), "a result of a collective is waited for");
    first = std::move(new_collectives_.front());
    new_collectives_.erase(new_collectives_.begin());
  }
  const std::span<const std::byte> bytes(message->buffer);
  message_header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.has(message_header::failed)) {
    failure why = read_failure(payload_of(bytes));
    if (why.lost) {
      first->failed = std::move(why);
    } else {
      first->refused.emplace(why.what);
    }
  } else if (h.payload != 0) {
    KITH_INVARIANT(h.payload == first->what.bytes, "a result of a collective has the size of what was sent");
    first->combined = {message, payload_of(bytes).data()};
  }
  first->ended.complete();
}

void place::begin_run() {
  if (hub_ == nullptr) return;
  const std::lock_guard order(hub_guard_);
  hub_->begin_run();
}

void place::end_run() {
  if (hub_ == nullptr) return;
  const std::lock_guard order(hub_guard_);
  send_answers(hub_->end_run());
}

// ---- by the transport

bool place::do_collectives() {
  if (job_.survives_losses) return false;
  std::vector<std::shared_ptr<pending_collective>> starting;
  {
    const std::lock_guard lock(guard_);
    starting.swap(new_collectives_);
  }
  started_collectives_.insert(started_collectives_.end(), starting.begin(), starting.end());
  if (started_collectives_.empty()) return false;
  try {
    for (const auto& p : starting) net_.start(p->what);
    std::uint64_t ended = net_.ended_collectives();
    while (collectives_ended_ < ended) {
      started_collectives_.front()->ended.complete();
      started_collectives_.pop_front();
      if (++collectives_ended_ == ended && !started_collectives_.empty())
        ended = net_.ended_collectives();  // throws start()'s error
    }
  } catch (const error& e) {
    end_collectives({}, &e);
  }
  return !starting.empty();
}

void place::end_collectives(const std::optional<failure>& failed, const error* refused) {
  for (const auto& p : started_collectives_) {
    p->failed = failed;
    if (refused != nullptr) p->refused.emplace(std::string(refused->what()), refused->kind());
    p->ended.complete();
  }
  started_collectives_.clear();
}

}  // namespace kith::distributed
