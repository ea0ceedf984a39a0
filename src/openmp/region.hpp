// Parallel regions.
#pragma once

#include "openmp/context.hpp"
#include "openmp/task_types.hpp"
#include "openmp/team.hpp"

namespace kith::openmp {

/// A parallel region as the program passes it.
struct region_request {
  body_code code;       // by which recordings name the members
  void (*body)(void*);  // of each member
  void* data;
  unsigned threads = 0;                               // that the program asks for; 0: the setting
  void (*prepare)(team& made, void* with) = nullptr;  // called before any member begins
  void* with = nullptr;
};

/// Runs the body in each member of a new team. Returns when all members and their explicit tasks have ended, with the
/// number of members.
int run_region(const region_request&);

/// The whole life of a member. At its end it waits for its explicit tasks.
class membership {
 public:
  membership(team&, int number);
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

 private:
  team& in_;
  context own_;
  const enters_context entered_;
};

}  // namespace kith::openmp
