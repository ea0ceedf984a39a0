// Exceptions that are caught where they must be: in the same task, region, loop or critical section.
#include "check.h"

#include <omp.h>

#include <stdexcept>
#include <string>

namespace {

void thrower(int i) {
  if (i % 2) throw std::runtime_error(std::to_string(i));
}

int nested(int depth) {
  if (depth == 0) throw depth;
  int caught = 0;
#pragma omp task shared(caught)
  {
    try {
      caught += nested(depth - 1);
    } catch (int) {
      caught++;
    }
  }
#pragma omp taskwait
  if (depth % 2 == 0) {
    try {
      throw std::string("after a wait");
    } catch (const std::string& s) {
      caught += s == "after a wait" ? 10 : 0;
    }
  }
  return caught;
}

}  // namespace

int main() {
  int in_tasks = 0, in_critical = 0, in_loop = 0, of_depth = 0, over_a_wait = 0;
#pragma omp parallel
  {
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task
      {
        try {
          thrower(i);
        } catch (const std::runtime_error& e) {
          CHECK(e.what() == std::to_string(i), "another exception: %s", e.what());
#pragma omp atomic
          in_tasks++;
        }
      }
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      try {
        thrower(i);
      } catch (const std::exception&) {
#pragma omp atomic
        in_loop++;
      }
#pragma omp critical
      {
        try {
          thrower(i);
        } catch (const std::exception&) {
          in_critical++;
        }
      }
    }
#pragma omp single
    of_depth = nested(6);
    // A handler that waits: what it has caught stays its own while the thread runs other tasks.
#pragma omp single
    for (int i = 0; i < 40; i++) {
#pragma omp task
      {
        try {
          thrower(2 * i + 1);
        } catch (const std::runtime_error& e) {
          for (int j = 0; j < 3; j++) {
#pragma omp task
            {
              try {
                thrower(2 * j + 1001);
              } catch (const std::exception&) {
              }
            }
          }
#pragma omp taskwait
          CHECK(e.what() == std::to_string(2 * i + 1), "after a wait another exception: %s", e.what());
          try {
            throw;
          } catch (const std::runtime_error& again) {
            CHECK(again.what() == std::to_string(2 * i + 1), "thrown again, another exception: %s", again.what());
          }
          CHECK(std::uncaught_exceptions() == 0, "%d exceptions are on their way", std::uncaught_exceptions());
#pragma omp atomic
          over_a_wait++;
        }
      }
    }
  }
  CHECK(in_tasks == 50 && in_loop == 50 && in_critical == 50, "caught %d, %d, %d", in_tasks, in_loop, in_critical);
  CHECK(of_depth == 31, "tasks in tasks: %d", of_depth);
  CHECK(over_a_wait == 40, "caught over a wait: %d", over_a_wait);
  return finish();
}
