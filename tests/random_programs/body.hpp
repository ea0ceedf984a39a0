// One running body, and what it may do. Each kind of action is a function in accesses.cpp, tasks.cpp,
// graphs.cpp or failures.cpp, and a line in body.cpp.
#pragma once

#include "program.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kith::random_programs {

/// The data that the tasks of one body access: single words, two of them behind handles, and an array.
struct data {
  static constexpr int singles = 8, handles = 2, array = 16;
  std::array<word, singles + array> words{};
  handle<word> first{words[0]}, second{words[1]};
  witness held;

  data() = default;
  data(const data&) = delete;  // handles name these words
  data& operator=(const data&) = delete;
};

struct body {
  body(const context& given, word seed);

  const context where;
  const word seed;
  word sum;
  const std::shared_ptr<data> cells;  // shared with tasks, which may end later than the body
  data expected;                      // the words after all tasks that were created so far
  std::vector<promise> promises;

  /// The context of a child. Without `waits`, neither the child nor its descendants wait for tasks of
  /// their creators.
  context child(bool waits = true) const;
  /// The context of a child that may wait for what this body was promised.
  context child_with_elders() const;
  /// Notes a promise. In the model: of a task that was run at its creation. In the run: of a task that was created.
  void promised(word value);
  void promised(future<word> f);
  /// Waits for all children, and compares the words.
  void wait_for_all() const;
};

/// The values drawn for every action.
struct draw {
  explicit draw(word s);
  word seed;
  dice choose;
  priority urgency;
  color preferred;
  node place;
};

using action = void (*)(body&, draw&);

// accesses.cpp
void task_with_accesses(body& b, draw& d);
void commutative_tasks(body& b, draw& d);

// tasks.cpp
void subtree(body& b, draw& d);
void subtree_with_value(body& b, draw& d);
void value_of_one(body& b, draw& d);
void wait_for_one(body& b, draw& d);
void wait_for_elder(body& b, draw& d);
void wait_for_children(body& b, draw& d);
void filled_group(body& b, draw& d);
void task_after_task(body& b, draw& d);
void continuation(body& b, draw& d);
void submitted(body& b, draw& d);
void nested_runtime(body& b, draw& d);

// graphs.cpp
void loop(body& b, draw& d);
void reduction(body& b, draw& d);
void keyed_grid(body& b, draw& d);
void static_nodes(body& b, draw& d);

// failures.cpp
void domain_of_exceptions(body& b, draw& d);

}  // namespace kith::random_programs
