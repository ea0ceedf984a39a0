// Threads of the program's own open regions side by side, and create tasks outside of any region.
#include "check.h"

#include <omp.h>

#include <thread>
#include <vector>

namespace {

void regions(int number, int& members, int& tasks, int& iterations) {
  for (int round = 0; round < 20; round++) {
    CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() == 0,
          "a thread of the program's own");
#pragma omp parallel num_threads(1 + (number + round) % 3)
    {
#pragma omp atomic
      members++;
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 10; i++) {
#pragma omp atomic
        iterations++;
      }
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < 10; i++) {
#pragma omp task
        {
#pragma omp critical
          tasks++;
        }
      }
    }
#pragma omp task shared(tasks)
    {
#pragma omp critical
      tasks++;
    }
#pragma omp taskwait
  }
}

}  // namespace

int main() {
  enum { threads = 4 };
  int members[threads] = {}, tasks[threads] = {}, iterations[threads] = {};
  for (int round = 0; round < 2; round++) {  // the threads of the second round are others
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) all.emplace_back([&, t] { regions(t, members[t], tasks[t], iterations[t]); });
    int mine = 0;
#pragma omp parallel
    {
#pragma omp atomic
      mine++;
    }
    CHECK(mine == omp_get_max_threads(), "the first thread's region has %d members", mine);
    for (std::thread& t : all) t.join();
  }
  for (int t = 0; t < threads; t++) {
    int expected = 0;
    for (int round = 0; round < 20; round++) expected += 2 * (1 + (t + round) % 3);
    CHECK(members[t] == expected, "thread %d: %d members, not %d", t, members[t], expected);
    CHECK(tasks[t] == 440 && iterations[t] == 400, "thread %d: %d tasks, %d iterations", t, tasks[t], iterations[t]);
  }
  return finish();
}
