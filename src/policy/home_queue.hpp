// Queues of nodes and workers, allocated from the memory of the node.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/make_in.hpp"
#include "queue/shared_queue.hpp"

#include <memory>

namespace kith {

/// The option of policies whose queues may have either order: ready or created.
inline constexpr policy_option ready_order =
    one_of("order", "ready|created", "which waiting task is first: the one that was ready, or was created, first");
inline queue_order order_in(const policy_options& options) {
  return options.is("order", "created") ? queue_order::created : queue_order::fifo;
}

template <class World>
using home_queue = std::shared_ptr<shared_queue<World>>;

/// A queue for the workers that serve node n.
template <class World>
home_queue<World> make_queue(const policy_context& context, node_id n, queue_order order) {
  return make_in<shared_queue<World>>(context.memory_of(n), context.workers.serving(n), order, worker_id(),
                                      context.seed);
}
/// A queue for worker w.
template <class World>
home_queue<World> make_queue(const policy_context& context, worker_id w, queue_order order) {
  return make_in<shared_queue<World>>(context.memory_of(w), worker_set::only(w), order, w, context.seed);
}

}  // namespace kith
