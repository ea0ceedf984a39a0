#include "engine/native/seat_log.hpp"

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "task/type_names.hpp"

#include <kith/detail/access_maker.hpp>

#include <cmath>
#include <string>

namespace kith::native {

namespace {

std::uint64_t touched_bytes(const detail::access_record& a) noexcept {
  if (a.touched >= 1) return a.bytes;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(a.bytes) * static_cast<double>(a.touched)));
}

}  // namespace

void seat_log::name_type(std::uint16_t type) {
  if (type >= named_.size()) named_.resize(type + std::size_t{1});
  if (named_[type]) return;
  named_[type] = true;
  const std::string name = task_type_name(type);
  append_text({.kind = log_kind::type, .small = type, .middle = static_cast<std::uint32_t>(name.size())}, name);
}

void seat_log::created(const created_task& b) {
  const std::uint64_t until = ticks();
  const detail::hints& h = b.what.h;
  name_type(h.type);
  if (b.scope != scope_ || b.parent != parent_) {
    scope_ = b.scope;
    parent_ = b.parent;
    append({.kind = log_kind::family, .large = scope_}, {parent_, 0});
  }
  const auto node = std::uint32_t{h.node};
  const auto flags = static_cast<std::uint8_t>(b.flags | h.priority);
  // Its duration takes 56 bits, packed beside the node and the color, because a creator at the throttle may
  // help for long.
  const std::uint64_t took = until - b.began;
  append({log_kind::task, flags, h.type, node | static_cast<std::uint32_t>(took >> 32 << 8), b.task.packed().value},
         {b.began, (took & 0xffffffff) | std::uint64_t{static_cast<std::uint32_t>(h.color)} << 32});
  if ((b.flags & (log_keyed | log_generated)) != 0) append({.kind = log_kind::key, .large = b.key});
  for (task_ref r : b.what.before) needs(b.task.packed().value, r.value);
  for (const detail::access_record& a : b.what.accesses) {
    const bool by_handle =
        a.handle != nullptr &&
        std::atomic_ref<const void*>(detail::internals::scope(*a.handle)).load(std::memory_order_relaxed) == b.children;
    const auto how = static_cast<std::uint8_t>(static_cast<std::uint8_t>(a.how) | (by_handle ? log_by_handle : 0));
    append({log_kind::access, how, static_cast<std::uint16_t>(a.bytes >> 32), static_cast<std::uint32_t>(a.bytes),
            reinterpret_cast<std::uint64_t>(a.address)});
    if (a.touched < 1) append({.kind = log_kind::touched, .large = touched_bytes(a)});
  }
  if (h.work >= 0) append({.kind = log_kind::work, .large = static_cast<std::uint64_t>(h.work)});
  account(b.parent, ticks() - until);
}

void seat_log::delivered(std::uint64_t task, std::size_t number, const detail::argument& what, std::uint64_t deliverer,
                         bool by_owner) noexcept {
  const detail::access_record& a = what.uses;
  const bool used = what.what == detail::argument::kind::used;
  const auto flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(a.how) | (used ? log_used : 0) |
                                               (by_owner ? log_by_owner : 0));
  append({log_kind::delivered, flags, static_cast<std::uint16_t>(a.bytes >> 32), static_cast<std::uint32_t>(a.bytes),
          task},
         {reinterpret_cast<std::uint64_t>(a.address), touched_bytes(a)}, {deliverer, number});
}

void seat_log::account(std::uint64_t task, std::uint64_t spent) noexcept {
  if (task != charged_) settle();
  charged_ = task;
  spent_ += spent;
}

void seat_log::settle() noexcept {
  if (spent_ != 0 && charged_ != 0) append({.kind = log_kind::recorder, .large = charged_}, {spent_, 0});
  spent_ = 0;
}

void seat_log::executed(std::uint64_t task, std::uint64_t began, std::uint64_t ended, std::uint8_t flags) noexcept {
  if (task == charged_) settle();
  const std::uint64_t gap = began - run_ended_, took = ended - began;  // huge if the previous task ran inside this one
  run_ended_ = ended;
  if (gap <= 0xffff && took <= 0xffffffff) {
    append({log_kind::ran, flags, static_cast<std::uint16_t>(gap), static_cast<std::uint32_t>(took), task});
  } else {
    append({.kind = log_kind::executed, .flags = flags, .large = task}, {began, ended});
  }
}

void seat_log::completed(std::uint64_t task) noexcept {
  append({.kind = log_kind::completed, .large = task}, {ticks(), 0});
}

void seat_log::sampled(std::uint64_t task, std::uint64_t cold, std::uint64_t warm, std::uint64_t hot) noexcept {
  append({.kind = log_kind::sample, .large = task}, {cold, warm}, {hot, 0});
}

void seat_log::waited(std::uint64_t task, std::uint64_t scope, std::uint64_t began) noexcept {
  append({.kind = log_kind::wait, .large = scope}, {began, ticks()}, {task, 0});
}

void seat_log::counted(std::uint64_t task, counter_set what, const body_counts& counts) noexcept {
  std::array<std::uint64_t, counters + 2> numbers{};
  std::size_t count = 0;
  what.for_each([&](counter c) { numbers[count++] = counts.values[static_cast<std::size_t>(c)]; });
  numbers[count++] = counts.enabled;
  numbers[count++] = counts.running;
  append_numbers({.kind = log_kind::counts, .small = what.bits(), .large = task}, {numbers.data(), count});
}

void seat_log::idle(std::uint64_t began) noexcept { append({.kind = log_kind::idle}, {began, ticks()}); }

void seat_log::job(std::uint64_t began, const job_size& size) noexcept {
  append({.kind = log_kind::job, .middle = static_cast<std::uint32_t>(size.tasks), .large = size.dependences},
         {began, ticks()});
}

std::uint64_t seat_log::root(std::uint64_t task, std::uint16_t type) {
  name_type(type);
  const std::uint64_t now = ticks();
  append({.kind = log_kind::run, .small = type, .large = task}, {now, 0});
  return now;
}

}  // namespace kith::native
