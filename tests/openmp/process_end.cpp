// The end of the process: destructors of global objects use OpenMP, and other threads open regions meanwhile.
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "check.h"

namespace {

int members() {
  int count = 0;
#pragma omp parallel reduction(+ : count)
  count += 1;
  return count;
}

struct uses_openmp_at_the_end {
  int before = 0;
  ~uses_openmp_at_the_end() {
    const int now = members();
    CHECK(omp_get_level() == 0 && omp_get_num_threads() == 1, "inside of a region");
    CHECK(now == before, "%d threads, and %d before", now, before);
    if (wrong_results(0) != 0) _exit(1);
  }
} at_the_end;

void* open_regions(void*) {
  for (int i = 0;; i++) {
    int count = 0;
#pragma omp parallel num_threads(2 + i % 3) reduction(+ : count)
    count += 1;
  }
}

}  // namespace

int main() {
  at_the_end.before = members();
  pthread_t other;
  for (int i = 0; i < 3; i++) pthread_create(&other, nullptr, open_regions, nullptr);
  usleep(20000);
  exit(finish());
}
