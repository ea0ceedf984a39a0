// The functions of a program's tasks, for systems that are told the edges (explicit_graph.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kith::bench {

/// The callables of a program's tasks, in order; only one if every task does the same.
template <class Body>
class callables {
 public:
  template <class Program>
  callables(const Program& program, Body body) : body_(body) {
    if constexpr (Body::checks) program.emit(*this);
  }
  void run(std::size_t task) {
    if constexpr (Body::checks) {
      recorded_[task]();
    } else {
      body_.make()();
    }
  }
  template <class... In>
  void task(std::int64_t x, In... in) {
    recorded_.emplace_back(body_.make(x, in...));
  }
  void free_task() { recorded_.emplace_back(body_.make()); }
  void reader(std::int64_t) { free_task(); }

 private:
  Body body_;
  std::vector<std::function<void()>> recorded_;
};

}  // namespace kith::bench
