// What a worker runs next: the part of its search that is on every task's path. search.cpp has the rest.
#pragma once

#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

namespace kith::native {

[[gnu::always_inline]] inline void worker::note_found() noexcept {
  if (const std::uint64_t run = engine.run_number.load(relaxed); run != run_seen_) [[unlikely]]
    note_first_task(run);
}

/// Asks the policy, or does a job of it if there is one. From time to time run_sampled() looks into the inbox as well.
[[gnu::always_inline]] inline task* worker::find_anywhere() {
  if (!engine.jobs.empty()) [[unlikely]] {
    run_job();
    return nullptr;
  }
  const poll_result polled = engine.policy.next(*this);
  if (polled.kind != poll_result::found) return found_none(polled);
  note_found();
  return polled.work;
}

/// Looks for children first, where the wait has any that may be claimed.
[[gnu::always_inline]] inline task* worker::find(const pending_wait& w) {
  if (w.may_claim_children || !adopted_.empty()) return find_child_first(w);
  return find_anywhere();
}

}  // namespace kith::native
