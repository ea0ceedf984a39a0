// What the running code is to OpenMP: a member of a team (an implicit task), or an explicit task.
#pragma once

#include "openmp/icv.hpp"

#include <memory>

namespace kith::openmp {

class team;
struct member;
struct task_group;

/// What a task takes over from its creator: the control variables as they are then.
struct data_environment {
  openmp::team* team;
  icv_set icv;
};

/// The context of the running code. It lives in the frame that runs the code, except that of a thread which no region
/// has: each such thread has one, in a team of its own.
struct context {
  openmp::team* team = nullptr;      // never null
  openmp::member* member = nullptr;  // of an implicit task: its own state in the team; null in explicit tasks
  task_group* group = nullptr;       // the innermost one that is open; null: none
  int thread = 0;                    // the number of the running thread in the team. A task never changes threads.
  bool final_task = false;           // all tasks that it makes are final, too, and run at once
  int locks = 0;                     // that the task holds
  // Of LLVM's programs: whether it has made a task that depends on omp_all_memory, and one whose items overlap others
  // in part.
  bool uses_all_memory = false, has_overlaps = false;
  const data_environment* environment = nullptr;  // never null

  const icv_set& icv() const noexcept { return environment->icv; }
  /// For changes: of this task alone.
  icv_set& own_icv();
  /// Called before another task gets the environment: it then lives as long as the team.
  void share_environment();
  std::unique_ptr<data_environment> own_environment;  // null: the task has changed nothing that only it has
};

/// The calling thread's; null before its first use of OpenMP. A compiler may keep the address of a thread's variable
/// over calls, which is right here, because no task changes threads.
extern constinit thread_local context* context_of_thread [[gnu::tls_model("initial-exec")]];
/// Called by a thread that no region has, once.
context& make_initial_context() noexcept;

/// The calling thread's context.
inline context& here() noexcept {
  context* const c = context_of_thread;
  return c != nullptr ? *c : make_initial_context();
}

/// Makes `c` the calling thread's context while it lives.
class enters_context {
 public:
  explicit enters_context(context& c) noexcept : before_(context_of_thread) { context_of_thread = &c; }
  ~enters_context() { context_of_thread = before_; }
  enters_context(const enters_context&) = delete;
  enters_context& operator=(const enters_context&) = delete;

 private:
  context* const before_;
};

/// Keeps the thread's context over a wait: meanwhile the thread runs other code, on other stacks too.
class keeps_context {
 public:
  keeps_context() noexcept : mine_(context_of_thread) {}
  ~keeps_context() { context_of_thread = mine_; }
  keeps_context(const keeps_context&) = delete;
  keeps_context& operator=(const keeps_context&) = delete;

 private:
  context* const mine_;
};

}  // namespace kith::openmp
