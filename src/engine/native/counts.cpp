#include "engine/native/counts.hpp"

#include "machine/perf_events.hpp"

#include <cmath>
#include <memory>

namespace kith::native {

namespace {

/// The counters of a thread, for all workers that the thread becomes.
struct thread_counters {
  opened_counters opened;
  counter_set wanted;
  counter_opener opener = nullptr;
};
thread_local constinit std::unique_ptr<thread_counters> of_this_thread;

}  // namespace

counter_set worker_counts::begin(counter_set wanted) noexcept {
  on_ = true;
  now_ = nullptr;
  try {
    const counter_opener opener = the_counter_opener();
    if (of_this_thread == nullptr || of_this_thread->wanted != wanted || of_this_thread->opener != opener) {
      of_this_thread.reset();
      of_this_thread.reset(new thread_counters{open_counters(wanted), wanted, opener});
    }
    source_ = of_this_thread->opened.source.get();
    there_ = of_this_thread->opened.there;
    in_turns_ = of_this_thread->opened.in_turns;
  } catch (const std::bad_alloc&) {
    source_ = nullptr;
  }
  if (source_ == nullptr) there_ = in_turns_ = {};
  return there_;
}

void worker_counts::read() noexcept {
  counter_reading now;
  const bool read = source_ != nullptr && source_->read(now);
  if (now_ != nullptr) {
    now_->whole = now_->whole && read && !failed_;
    for (std::size_t i = 0; i < counters; ++i) now_->values[i] += now.values[i] - last_.values[i];
    now_->enabled += now.enabled - last_.enabled;
    now_->running += now.running - last_.running;
  }
  failed_ = !read;
  last_ = now;
}

counter_set settle(body_counts& c, counter_set counted, counter_set in_turns) noexcept {
  if (!c.whole) return {};
  if (c.running >= c.enabled) return counted;
  counter_set known;
  counted.for_each([&](counter what) {
    if (!in_turns.has(what)) return known.add(what);
    if (c.running == 0) return;  // other groups had the processor's counters all the time
    std::uint64_t& value = c.values[static_cast<std::size_t>(what)];
    value = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(value) * static_cast<double>(c.enabled) / static_cast<double>(c.running)));
    known.add(what);
  });
  return known;
}

}  // namespace kith::native
