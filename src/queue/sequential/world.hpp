// A sequential world, for simulation and for tests of policies: one caller at a time, so containers need no atomics.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "base/identity.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "queue/job.hpp"
#include "queue/poll_result.hpp"
#include "queue/theft_size.hpp"

#include <kith/error.hpp>

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <string>
#include <utility>

namespace kith::sequential {

/// As native::worker_view. A derived class charges the cost of operations.
class worker_view {
 public:
  worker_view(worker_id self, node_id at) noexcept : id(self), node(at) {}
  virtual ~worker_view() = default;
  worker_view(const worker_view&) = delete;
  worker_view& operator=(const worker_view&) = delete;

  const worker_id id;
  const node_id node;
  theft_size thefts;

  /// The innermost task on this worker, or the root. Kept only if there is a gate.
  virtual const identity::naming_state& innermost() const noexcept { return nothing_; }

  void meter(event e, worker_id owner, std::uint64_t amount = 1) {
    sums.add(e, amount);
    charge(e, owner);
  }
  /// The time, in the unit of derived classes.
  virtual std::uint64_t now() const noexcept { return 0; }
  /// Names the queue of the next operations.
  void at(const void* q) noexcept { here_ = q; }
  virtual void refuse(task& /*t*/, const std::string& why) { throw error("a task " + why); }
  virtual bool all_sleep() const noexcept { return true; }
  virtual bool ring(const worker_set& /*audience*/) { return false; }
  virtual bool anybody_sleeps() const noexcept { return true; }
  virtual void submit(job<worker_view>& j, const worker_set& /*audience*/) { jobs.push_back(&j); }
  virtual bool drop_if_dead(task& /*t*/) { return false; }

  event_sums sums;
  dead_entries dead;
  std::deque<job<worker_view>*> jobs;  // submitted jobs; the caller of the policy runs them

 protected:
  virtual void charge(event, worker_id /*owner*/) {}
  const void* here() const noexcept { return here_; }

 private:
  const void* here_ = nullptr;
  identity::naming_state nothing_;
};

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

/// A value with those functions of an atomic that policies use.
template <class T>
class unshared_value {
 public:
  unshared_value() = default;
  unshared_value(T v) : value_(v) {}
  T load(std::memory_order) const noexcept { return value_; }
  void store(T v, std::memory_order) noexcept { value_ = v; }
  T exchange(T v, std::memory_order) noexcept { return std::exchange(value_, v); }
  T fetch_add(T v, std::memory_order) noexcept { return exchange(static_cast<T>(value_ + v), relaxed); }
  T fetch_sub(T v, std::memory_order) noexcept { return exchange(static_cast<T>(value_ - v), relaxed); }
  bool compare_exchange_strong(T& expected, T v, std::memory_order, std::memory_order = relaxed) noexcept {
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = v;
    return true;
  }
  bool compare_exchange_weak(T& expected, T v, std::memory_order o, std::memory_order = relaxed) noexcept {
    return compare_exchange_strong(expected, v, o);
  }

 private:
  T value_{};
};

/// As native::work_deque, for one caller at a time.
template <class T>
class deque {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  explicit deque(allocator_type memory) : entries_(memory) {}

  void push(T* entry) { entries_.push_back(entry); }
  void push_in_room(T* entry) { push(entry); }
  static constexpr bool has_room() noexcept { return true; }
  static constexpr void make_room() noexcept {}
  [[nodiscard]] T* pop() {
    if (entries_.empty()) return nullptr;
    T* entry = entries_.back();
    entries_.pop_back();
    return entry;
  }
  steal_result steal(T*& entry) {
    return steal(entry, [](const T&) { return true; });
  }
  template <class Wanted>
  steal_result steal(T*& entry, Wanted&& wanted) {
    if (entries_.empty()) return steal_result::empty;
    if (!wanted(*entries_.front())) return steal_result::unwanted;
    entry = entries_.front();
    entries_.pop_front();
    ++taken_;
    return steal_result::got;
  }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t bottom() const noexcept { return taken_ + size(); }

 private:
  std::pmr::deque<T*> entries_;
  std::int64_t taken_ = 0;
};

struct world {
  using worker = worker_view;
  using mutex = no_mutex;
  template <class T>
  using shared = unshared_value<T>;
  template <class T>
  using deque = sequential::deque<T>;
};

}  // namespace kith::sequential
