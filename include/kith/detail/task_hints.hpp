// The options of a task as the runtime receives them, and the types that are options.
#pragma once

#include <kith/options.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace kith::detail {

/// The task starts after all of these.
struct after_all {
  std::span<const task_ref> tasks;
};

/// The options that a task keeps, besides its order. One word, so that it is copied at once.
struct alignas(8) kept_hints {
  static constexpr std::uint8_t no_node = 255;

  std::int32_t color = -1;
  std::uint16_t type = 0;
  std::uint8_t node = no_node;
  std::uint8_t priority : 2 = 0;   // a kith::priority
  std::uint8_t exploring : 1 = 0;  // a keyed node that has not yet named what it waits for
  std::uint8_t colored : 1 = 0;    // a keyed node whose remote accesses are counted by color
  std::uint8_t accesses : 4 = 0;   // the number of its accesses; if above 15, task::extension_header has it
};
static_assert(sizeof(kept_hints) == 8);

struct hints : kept_hints {
  double work = -1;  // nanoseconds; negative: not given
};

inline void apply(hints& h, color c) noexcept { h.color = c.value; }
inline void apply(hints& h, node n) {
  if (n.value < 0 || n.value > 254) throw error("kith::node{" + std::to_string(n.value) + "}: expected 0 to 254");
  h.node = static_cast<std::uint8_t>(n.value);
}
inline void apply(hints& h, work w) {
  if (!(w.nanoseconds >= 0 && w.nanoseconds < 1e18))
    throw error("kith::work{" + std::to_string(w.nanoseconds) + "}: expected nanoseconds, 0 or more and below 1e18");
  h.work = w.nanoseconds;
}
inline void apply(hints& h, priority p) {
  if (p > priority::low)
    throw error("kith::priority{" + std::to_string(static_cast<int>(p)) + "}: expected normal, high or low");
  h.priority = static_cast<std::uint8_t>(p) & 3;
}
inline void apply(hints& h, const task_type& t) noexcept { h.type = t.number(); }
inline void apply(hints& h, const name& n) noexcept { h.type = n.number(); }

template <class T, class... Kinds>
concept one_of = (std::is_same_v<T, Kinds> || ...);
/// An option that sets one of a task's hints.
template <class T>
concept hint = one_of<T, color, node, work, priority, task_type, name>;
/// An option that orders a task against others.
template <class T>
concept order = is_access<T> || one_of<T, access_list, after, after_all>;
/// The arguments that spawn() takes besides the function.
template <class T>
concept option = hint<T> || order<T>;

}  // namespace kith::detail
