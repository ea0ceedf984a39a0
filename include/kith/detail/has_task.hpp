// Which types stand for a task.
#pragma once

#include <concepts>

namespace kith {

struct task_ref;

}  // namespace kith

namespace kith::detail {

/// A future: its task can be waited for.
template <class T>
concept has_task = requires(const T& t) {
  { t.task() } -> std::same_as<task_ref>;
  { t.valid() } -> std::same_as<bool>;
};

}  // namespace kith::detail
