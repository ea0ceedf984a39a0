// Tasks that one given worker runs: no policy sees them. A team of OpenMP has one for each of its threads (src/openmp).
#pragma once

#include "engine/native/worker.hpp"

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace kith::native {

/// Submits a draft of `creator`'s as a task that only worker `at` runs, as soon as that looks for work. Called by
/// `creator`. The task has no accesses and no predecessors, counts as a child of the running one, and must not throw.
/// REQUIRES: the engine has no gate, because an order of tasks that is imposed could never contain it.
void submit_addressed(worker& creator, worker_id at, detail::draft d, detail::task_code code, std::uint16_t type);

/// The same for a function object. Its constructor must not throw. `type`: the number of its task_type.
template <class F>
void create_addressed(worker& creator, worker_id at, std::uint16_t type, F&& f) {
  using body = std::decay_t<F>;
  const detail::draft d =
      detail::begin(creator.children(), detail::task_room(sizeof(body), alignof(body), std::size_t{0}));
  ::new (d.closure) body(std::forward<F>(f));
  submit_addressed(creator, at, d, &detail::code_of<body>, type);
}

}  // namespace kith::native
