// Allocations of this engine's runtime, and their recording.
#include "engine/native/engine.hpp"

#include "base/access_tracer.hpp"
#include "base/clock.hpp"

namespace kith::native {

void* engine::allocate(std::size_t bytes, distribution how) {
  const worker* const w = worker::find_on_stack(*this);
  const memory_block b = memory.allocate(bytes, how, w != nullptr ? w->node : node_id());
  if (recorder_) note(b, log_kind::allocation);
  return b.at->address();
}

/// Writes to the calling worker's log, or to the log for threads that are no workers. Creating a task may
/// allocate memory (for its closure), so outside_seat::creating may be held here, by this thread or another.
void engine::note(const memory_block& b, log_kind what) {
  log_cell head{.kind = what, .large = b.at->begin};
  if (recorder_->addresses() != nullptr) {
    if (what == log_kind::allocation) {
      the_access_tracer()->allocated(b.at->address(), b.at->bytes);
    } else {
      the_access_tracer()->released(b.at->address());
    }
  }
  if (what == log_kind::allocation) {
    head.flags = static_cast<std::uint8_t>(b.asked.what() | (b.asked.huge() ? log_huge : 0));
    head.small = static_cast<std::uint16_t>(b.at->nodes.size() == 1 ? b.at->nodes.front().value : -1);
  }
  if (worker* const w = worker::find_on_stack(*this); w != nullptr) {
    w->log->append(head, {b.at->bytes, ticks()});
  } else {
    std::lock_guard lock(noting_);
    recorder_->of_no_seat().append(head, {b.at->bytes, ticks()});
  }
}

stack_home engine::home_of_stack(const worker& w) const noexcept {
  if (memory.nodes() < 2 || memory.pretended()) return {};
  return {memory.system_node(memory.nearest(w.node)), w.binding.cpus.empty() ? -1 : w.binding.cpus.front()};
}

}  // namespace kith::native
