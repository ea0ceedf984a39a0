// A child process has regions of its own: made before the parent has any, and, with an argument, also after it, where
// libgomp does not return.
#include "check.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

static int region(void) {
  int members = 0, tasks = 0, sum = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp atomic
    members++;
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task
#pragma omp atomic
      tasks++;
    }
  }
  CHECK(members == 3 && tasks == 50 && sum == 4950, "process %d: %d members, %d tasks, sum %d", (int)getpid(), members, tasks, sum);
  return wrong_results(0);
}

static void in_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = region();
    wrong += region();
    fflush(stdout);
    _exit(wrong != 0);
  }
  int status = 0;
  CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %x", (unsigned)status);
}

// The child has one thread, and is still in the region: its tasks run at once.
static void inside_a_region(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    const pid_t child = fork();
    if (child == 0) {
      int ran = 0;
#pragma omp task shared(ran)
      ran++;
#pragma omp taskwait
#pragma omp task shared(ran) if (0)
      ran++;
#pragma omp taskgroup
      {
#pragma omp task shared(ran)
        ran++;
      }
      _exit(ran);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child ended with status %x", (unsigned)status);
  }
}

int main(int argc, char** argv) {
  (void)argv;
  in_child();
  if (argc > 1) {
    region();
    in_child();
  }
  region();
  inside_a_region();
  return finish();
}
