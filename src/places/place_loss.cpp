// What a place does when another one is lost. Idempotent activities then run again elsewhere (P6).
#include "places/place.hpp"

#include <utility>

namespace kith::distributed {

// ---- idempotent activities

void place::spawn_idempotent(const activity_record& spawner, int to, const detail::remote_function& f,
                             detail::packed_arguments message, std::shared_ptr<detail::remote_result> result) {
  if (is_here(to)) return spawn(spawner, to, f, std::move(message), std::move(result));  // lost with its spawner
  message = {std::move(message).flattened()};
  std::shared_ptr<offer> mine;
  {
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    finishes_.add_edge(spawner.in);
    results_[++last_number_] = {.result = std::move(result), .in = spawner.in, .function = &f};
    mine = offer_idempotent(last_number_, to, std::move(message));
  }
  net_.ring();
  if (mine != nullptr) wait_for(*mine);
}

/// Sends the activity of that result to place `to`, or to another one if that was lost. Null if it runs here. REQUIRES:
/// guard_ is held.
std::shared_ptr<place::offer> place::offer_idempotent(std::uint64_t result, int to, detail::packed_arguments message) {
  awaited& r = results_.at(result);
  r.from = living_place(to);
  if (r.from == number_) {
    auto a = make_activity(r.in, number_, *r.function, std::move(message));
    a->result = result;
    r.message = nullptr;
    finishes_.add(r.in);
    arrived_.push_back(std::move(a));
    return nullptr;
  }
  auto made = std::make_shared<offer>();
  made->to = r.from;
  made->in = r.in;
  made->idempotent = true;
  register_offer(made, std::move(message),
                 {.kind = message_kind::spawn,
                  .flags = message_header::idempotent,
                  .from = static_cast<std::uint32_t>(number_),
                  .function = r.function->number,
                  .finish_number = r.in.number,
                  .result = result,
                  .finish_home = r.in.home,
                  .task = records_ ? running_task() : 0},
                 *r.function);
  r.message = made->message;
  return made;
}

/// `preferred`; if it was lost, one of the others, in turn. REQUIRES: guard_ is held.
int place::living_place(int preferred) {
  if (!lost_places_[static_cast<std::size_t>(preferred)]) return preferred;
  do {
    last_substitute_ = (last_substitute_ + 1) % job_.places;
  } while (lost_places_[static_cast<std::size_t>(last_substitute_)]);
  return last_substitute_;
}

/// An idempotent activity has arrived: its result is sent when the activity and all that it has spawned have ended.
/// conclude() and end() hold the finish while they call `resume`. REQUIRES: guard_ is held.
void place::open_own_finish(const message_header& h, activity_record& a) {
  a.in = finishes_.open();
  a.own = std::make_shared<own_finish>();
  a.own->begun = true;
  a.own->resume = [this, own = a.own.get(), to = h.from, result = h.result] {
    send_result(to, result, own->task, std::move(own->value), own->body_failed ? own->body_failed : own->failed);
  };
  waits_[a.in.number] = a.own;
}

// ---- losses

bool place::has_lost(int number) const {
  const std::lock_guard lock(guard_);
  if (lost_ && lost_->place == static_cast<std::uint32_t>(number)) return true;
  return job_.survives_losses && lost_places_[static_cast<std::size_t>(number)].has_value();
}

void place::lose(const lost_place& what) {
  const failure why{static_cast<std::uint32_t>(what.place), "was lost: " + what.why, false, true};
  if (job_.survives_losses && what.place != 0) {
    lose_one(why);
  } else {
    lose_all(why);
  }
}

/// Everything that waits for messages ends with this failure: what the lost place had is not known.
void place::lose_all(const failure& why) {
  std::vector<std::shared_ptr<finish_wait>> waits;
  std::vector<std::shared_ptr<offer>> offers;
  std::vector<std::shared_ptr<detail::remote_result>> results;
  std::vector<std::unique_ptr<activity_record>> arrived;  // never run; their finishes and results fail
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    lost_ = why;
    for (auto& [number, w] : waits_) waits.push_back(std::move(w));
    for (auto& [number, o] : offers_) offers.push_back(std::move(o));
    for (auto& [number, r] : results_) results.push_back(std::move(r.result));
    arrived.swap(arrived_);
    wait_for_credit_.clear();
    for (auto& p : new_collectives_) started_collectives_.push_back(std::move(p));
    new_collectives_.clear();
    waits_.clear();
    offers_.clear();
    results_.clear();
  }
  again_.clear();
  drop(std::move(offers));
  end_collectives(why, nullptr);
  for (const auto& r : results) {
    r->failure = exception_of(why);
    r->complete();
  }
  lost_results_ = std::move(results);
  for (const auto& w : waits) {
    w->given_up = true;
    w->failed = why;
    w->complete();
  }
  control_.lose(why);
}

/// Everything that waits for that place ends with this failure, except idempotent activities, which run again.
void place::lose_one(const failure& why) {
  const auto at = static_cast<int>(why.place);
  if (hub_ != nullptr) {  // before is_lost() is true: then the next collective of a task that saw it true fails
    const std::lock_guard order(hub_guard_);
    send_answers(hub_->lose(why));
  }
  std::vector<std::shared_ptr<offer>> offers;
  std::vector<std::uint64_t> failing, again;  // results
  std::vector<std::pair<finish_id, std::uint64_t>> unanswered;
  {
    const std::lock_guard lock(guard_);
    std::optional<failure>& known = lost_places_[why.place];
    if (lost_ || known) return;
    known = why;
    std::erase_if(offers_, [&](const auto& o) {
      if (o.second->to != at) return false;
      offers.push_back(o.second);
      return true;
    });
    wait_for_credit_.erase(at);
    for (const auto& [number, r] : results_) {
      if (r.from == at) (r.message != nullptr ? again : failing).push_back(number);
    }
    unanswered = finishes_.lose(why.place);
  }
  std::erase_if(again_, [at](const auto& o) { return o.second->to == at; });
  drop(std::move(offers));
  for (const std::uint64_t number : failing) deliver(number, {}, why);
  for (const auto& [f, times] : unanswered) {
    for (std::uint64_t i = 0; i < times; ++i) end(f, why);
  }
  for (const std::uint64_t number : again) {
    const std::lock_guard lock(guard_);
    offer_idempotent(number, at, *results_.at(number).message);
  }
  control_.lose_one(at);
}

/// No place will answer these offers.
void place::drop(std::vector<std::shared_ptr<offer>> offers) {
  dropped_.insert(dropped_.end(), std::make_move_iterator(offers.begin()), std::make_move_iterator(offers.end()));
  offers.clear();
  send_outgoing(!lost_);
  end_dropped_offers();
}

/// Completes an offer once no transport has its message: then the spawner may free the arguments. All other references
/// are the progress thread's.
bool place::end_dropped_offers() {
  return std::erase_if(dropped_, [](const std::shared_ptr<offer>& o) {
           if (o->message.use_count() > 1) return false;
           o->dropped.store(true, relaxed);
           o->complete();
           return true;
         }) != 0;
}

}  // namespace kith::distributed
