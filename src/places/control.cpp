#include "places/control.hpp"

#include <algorithm>
#include <utility>

namespace kith {

// The members that cereal writes. The sizes below fail the build when a member is added to a struct but not to its
// list.
constexpr std::size_t word = 8;
static_assert(sizeof(worker_statistics) == 19 * word && sizeof(statistics) == sizeof(std::vector<int>) + 34 * word &&
              sizeof(place_statistics) == 21 * word + sizeof(statistics));
template <class Archive>
void serialize(Archive& a, worker_statistics& w) {
  a(w.tasks, w.created, w.steal_attempts, w.steals, w.colored_attempts, w.colored_steals, w.parks, w.wakes,
    w.busy_seconds, w.idle_seconds, w.first_steal_seconds, w.stalled, w.halves, w.steal_seconds, w.arrival_attempts,
    w.arrival_seconds, w.deque_samples, w.deque_mean, w.deque_peak);
}
template <class Archive>
void serialize(Archive& a, statistics& s) {
  a(s.workers, s.total, s.seconds, s.throttled, s.throttle_exceeded, s.cancelled, s.load_balance_percent,
    s.remote_access_percent, s.local_accesses, s.remote_accesses, s.migrated_bytes, s.homes_asked, s.homes_elsewhere,
    s.windows, s.partitioned_tasks, s.partition_seconds, s.pretended);
}
template <class Archive>
void serialize(Archive& a, place_statistics& s) {
  a(s.messages, s.message_bytes, s.spawns_sent, s.spawn_bytes, s.answers_sent, s.answer_bytes, s.results_sent,
    s.result_bytes, s.dones_sent, s.done_bytes, s.credits_sent, s.credit_bytes, s.largest_spawn, s.most_edges,
    s.spawns_accepted, s.spawns_refused, s.spawns_forced, s.spawns_waited, s.activities, s.fab_peak, s.fab_mean,
    s.tasks);
}

namespace distributed {

std::exception_ptr exception_of(const failure& f) {
  const auto place = static_cast<int>(f.place);
  return f.lost ? std::make_exception_ptr(place_lost(place, f.what))
                : std::make_exception_ptr(place_error(place, f.what));
}

failure current_failure(int here) {
  const auto failed = [](int place, std::string what) {
    return failure{static_cast<std::uint32_t>(place), std::move(what)};
  };
  try {
    throw;
  } catch (const place_error& e) {
    failure f = failed(e.place(), e.reason());
    f.lost = dynamic_cast<const place_lost*>(&e) != nullptr;
    return f;
  } catch (const std::exception& e) {
    return failed(here, e.what());
  } catch (...) {
    return failed(here, "an exception that is no std::exception");
  }
}

detail::byte_buffer sealed(const message_header& h, const place_statistics& counts) {
  detail::byte_buffer message(sizeof h);
  detail::output_archive to(message);
  to(counts);
  seal(message, h);
  return message;
}

place_statistics read_counts(std::span<const std::byte> payload) {
  detail::input_archive from(payload);
  place_statistics counts;
  from(counts);
  from.expect_end();
  return counts;
}

// ---- called by the progress thread

void control::end_run(std::optional<failure> why) {
  const std::lock_guard lock(guard_);
  ended_runs_.push_back(std::move(why));
  changed_.notify_all();
}

void control::end_job() {
  const std::lock_guard lock(guard_);
  job_ended_ = true;
  changed_.notify_all();
}

void control::take(int from, place_statistics counts) {
  const std::lock_guard lock(guard_);
  answers_.insert_or_assign(from, std::move(counts));
  changed_.notify_all();
}

void control::has_left() {
  const std::lock_guard lock(guard_);
  left_ = true;
  changed_.notify_all();
}

void control::lose(const failure& why) {
  const std::lock_guard lock(guard_);
  lost_ = why;
  changed_.notify_all();
}

void control::lose_one(int place) {
  const std::lock_guard lock(guard_);
  lost_places_.push_back(place);
  changed_.notify_all();
}

// ---- waiting

template <class F>
void control::wait_until(std::unique_lock<std::mutex>& lock, F&& come) {
  changed_.wait(lock, [&] { return lost_ || come(); });
  if (lost_) std::rethrow_exception(exception_of(*lost_));
}

void control::await_run() {
  std::unique_lock lock(guard_);
  wait_until(lock, [this] { return !ended_runs_.empty() || job_ended_; });
  if (ended_runs_.empty()) {
    throw error(
        "place_runtime::run(): place 0 has ended its place_runtime after fewer runs; expected the same calls of run() "
        "in "
        "all processes, or serve() in the others");
  }
  const std::optional<failure> why = std::move(ended_runs_.front());
  ended_runs_.pop_front();
  if (why) std::rethrow_exception(exception_of(*why));
}

void control::await_job() {
  std::unique_lock lock(guard_);
  wait_until(lock, [this] { return job_ended_; });
}

std::map<int, place_statistics> control::await_answers(std::size_t places) {
  std::unique_lock lock(guard_);
  wait_until(lock, [&] {
    const auto is_missing = [this](int place) { return !answers_.contains(place); };
    return answers_.size() + static_cast<std::size_t>(std::ranges::count_if(lost_places_, is_missing)) == places;
  });
  return std::exchange(answers_, {});
}

void control::await_left() {
  std::unique_lock lock(guard_);
  changed_.wait(lock, [this] { return left_; });
}

}  // namespace distributed

}  // namespace kith
