// From accesses to dependences, when everything is known: the rules that the task layer applies while tasks run.
//
// There, an edge to a task that has ended is left out, so a log cannot hold the edges. They are found again here, in the
// same order and with the same fences (task/dependences.hpp): a replay releases tasks as the run did.
#pragma once

#include <kith/access.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kith {

/// The siblings of one scope.
class siblings {
 public:
  /// The accesses of `task` to a region, in their order. before(task, bytes) is told each dependence; fence(members)
  /// must make a task that ends after all of them, and return it. True if the task has named the region before.
  template <class Before, class Fence>
  bool access(std::int32_t task, std::uint64_t address, std::uint64_t bytes, mode how, Before&& before, Fence&& fence) {
    state& k = states_[address];
    const bool again = k.named == task;
    k.named = task;
    const bool reads = how != mode::out;
    if (how == mode::out || how == mode::inout) {
      if (k.members.empty()) {
        if (k.writer >= 0 && k.writer != task) before(k.writer, reads ? bytes : 0);
      } else {
        for (std::int32_t m : k.members) {
          if (m != task) before(m, reads && k.kind != mode::in ? bytes : 0);
        }
        k.members.clear();
      }
      k.writer = task;
      return again;
    }
    if (!k.members.empty() && k.kind != how) {
      if (k.members.size() == 1) {
        k.writer = k.members.front();
      } else {
        std::erase(k.members, task);
        k.writer = fence(k.members);
      }
      k.members.clear();
    }
    if (k.writer >= 0 && k.writer != task) before(k.writer, bytes);
    if (k.members.empty() || k.members.back() != task) k.members.push_back(task);
    k.kind = how;
    return again;
  }

 private:
  struct state {
    std::int32_t writer = -1;
    std::int32_t named = -1;  // the last task
    mode kind = mode::in;     // of the members
    std::vector<std::int32_t> members;
  };
  std::unordered_map<std::uint64_t, state> states_;
};

}  // namespace kith
