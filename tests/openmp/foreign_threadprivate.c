// Two threads of the program open regions in turn: each finds the variables of its own regions' threads again.
#include <omp.h>
#include <pthread.h>

#include "check.h"

static int mine = -1;
#pragma omp threadprivate(mine)
static pthread_barrier_t both;

static void* open_regions(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < 100; i++) {
#pragma omp parallel num_threads(2)
    {
      CHECK(i == 0 || mine == me, "%d instead of %d", mine, me);
      mine = me;
    }
    pthread_barrier_wait(&both);
  }
  return NULL;
}

int main(void) {
  omp_set_dynamic(0);
  pthread_barrier_init(&both, NULL, 2);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, open_regions, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return finish();
}
