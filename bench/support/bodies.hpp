// The bodies of a program's tasks: nothing, work, a check of the order, or a wait until all tasks are created. A system
// gets the callable of each task from the body when it creates the task. It must call creating() before the first task
// and created() after the last.
#pragma once

#include "kernel.hpp"
#include "memory.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace kith::bench {

struct empty_body {
  static constexpr bool checks = false;
  template <class... In>
  auto make(In...) const {
    return [] {};
  }
  void creating() {}
  void created() {}
};

struct kernel_body {
  std::int64_t iterations;
  static constexpr bool checks = false;
  template <class... In>
  auto make(In...) const {
    return [n = iterations] { busy(n); };
  }
  void creating() {}
  void created() {}
};

/// Each task mixes the values that it reads into those that it writes. So the final values of the cells show whether
/// every task ran once, in an order that its data allows. `free` counts tasks that write nothing.
struct check_body {
  static constexpr bool checks = true;
  std::uint64_t* cells;
  std::atomic<std::int64_t>* free;

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ (a >> 29);
  }

  auto make() const {
    return [f = free] { f->fetch_add(1, std::memory_order_relaxed); };
  }
  template <class X, class... In>
  auto make(X x, In... in) const {
    return [c = cells, x, in...] {
      std::uint64_t value = mix(c[x], 1);
      ((value = mix(value, c[in])), ...);
      c[x] = value;
    };
  }
  void creating() {}
  void created() {}
};

/// The first task waits until all tasks are created; then their memory is measured.
struct gate_body {
  struct gate {
    std::atomic<bool> open{false}, made{false};
    std::int64_t before = 0, grown = 0;
    bool heap_only = false;

    std::int64_t bytes() const { return heap_only ? heap_bytes() : live_bytes(); }
  };
  gate* shared;
  static constexpr bool checks = false;

  template <class... In>
  auto make(In...) const {
    gate* const here = shared->made.exchange(true, std::memory_order_relaxed) ? nullptr : shared;
    return [here] {
      while (here != nullptr && !here->open.load(std::memory_order_acquire)) relax();
    };
  }
  void creating() { shared->before = shared->bytes(); }
  void created() {
    shared->grown = shared->bytes() - shared->before;
    shared->open.store(true, std::memory_order_release);
  }
};

/// Runs a program serially, task by task, which defines the correct result.
template <class Body>
struct serial_emitter {
  Body body;
  template <class... In>
  void task(std::int64_t x, In... in) {
    body.make(x, in...)();
  }
  void free_task() { body.make()(); }
  void reader(std::int64_t) { body.make()(); }
};

}  // namespace kith::bench
