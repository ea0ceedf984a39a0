// A program as an explicit graph of tasks and edges, derived once from the data. For systems whose user states the
// edges instead of the data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::bench {

template <class Body>
class explicit_graph {
 public:
  using callable = decltype(std::declval<const Body&>().make());
  using index = std::uint32_t;

  template <class Program>
  explicit_graph(const Program& program, Body body)
      : body_(body), writer_(static_cast<std::size_t>(program.cells()), none), readers_(writer_.size()) {
    first_.reserve(static_cast<std::size_t>(program.tasks()) + 1);
    first_.push_back(0);
    program.emit(*this);
  }

  std::size_t size() const { return first_.size() - 1; }
  std::span<const index> predecessors(std::size_t task) const {
    return std::span(edges_).subspan(first_[task], first_[task + 1] - first_[task]);
  }

  // ---- called by the program
  template <class... In>
  void task(std::int64_t x, In... in) {
    const auto cell = static_cast<std::size_t>(x);
    depend_on(writer_[cell]);
    (depend_on(writer_[static_cast<std::size_t>(in)]), ...);
    if constexpr (Body::checks) {  // else values are not checked, and the edges from what is read suffice
      for (index r : readers_[cell]) depend_on(r);
      readers_[cell].clear();
      (readers_[static_cast<std::size_t>(in)].push_back(static_cast<index>(size())), ...);
    }
    writer_[cell] = static_cast<index>(size());
    first_.push_back(edges_.size());
  }
  void free_task() { first_.push_back(edges_.size()); }
  void reader(std::int64_t x) {
    depend_on(writer_[static_cast<std::size_t>(x)]);
    first_.push_back(edges_.size());
  }

 private:
  static constexpr index none = ~index{0};

  void depend_on(index task) {
    const auto from = edges_.begin() + static_cast<std::ptrdiff_t>(first_.back());
    if (task != none && std::find(from, edges_.end(), task) == edges_.end()) edges_.push_back(task);
  }

  Body body_;
  std::vector<index> writer_;                // by cell: the last task that wrote it
  std::vector<std::vector<index>> readers_;  // by cell: the tasks that have read it since the write
  std::vector<std::size_t> first_;           // by task: its first edge
  std::vector<index> edges_;
};

}  // namespace kith::bench
