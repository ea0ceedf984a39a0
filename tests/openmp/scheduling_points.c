// A thread that waits runs other tasks only at task scheduling points, and there, except at barriers, only tasks below the
// one that waits. A task can tell: it holds a mutex of the system over the wait, and the thread has a variable of its own.
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { tasks = 40, iterations = 12 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t of_thread[64];
static int mine;
#pragma omp threadprivate(mine)
static atomic_int in_critical, ran, changed;

static void change_mine(void) {
  mine = -1;
  ran++;
}

/// A task of another thread is in a critical section for a while, which this thread's tasks want to enter with a mutex.
static void critical_with_mutex(void) {
  in_critical = ran = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
#pragma omp critical
    {
      in_critical = 1;
      usleep(10000);
    }
    for (int i = 0; i < tasks; i++) {
#pragma omp task
      {
        pthread_mutex_lock(&mutex);
        if (omp_get_num_threads() > 1 && i < 2) {
          for (int looks = 0; !in_critical && looks < 100; looks++) usleep(100);
        }
        mine = i;
#pragma omp critical
        ran++;
        if (mine != i) changed++;
        pthread_mutex_unlock(&mutex);
      }
    }
  }
  CHECK(ran == tasks && changed == 0, "%d tasks, %d saw another one's variable after a critical section", ran, changed);
}

/// A member waits for its turn with its thread's mutex, which queued tasks want.
static void ordered_with_mutex(void) {
  ran = changed = 0;
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < iterations; i++) {
#pragma omp task
    {
      pthread_mutex_t *const m = &of_thread[omp_get_thread_num()];
      pthread_mutex_lock(m);
      change_mine();
      pthread_mutex_unlock(m);
    }
    pthread_mutex_t *const m = &of_thread[omp_get_thread_num()];
    pthread_mutex_lock(m);
    mine = i;
#pragma omp ordered
    usleep(1000);
    if (mine != i) changed++;
    pthread_mutex_unlock(m);
  }
  CHECK(ran == iterations && changed == 0, "%d tasks, %d iterations saw another one's variable", ran, changed);
}

/// The same with a wait for an iteration.
static void sink_with_mutex(void) {
  ran = changed = 0;
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < iterations; i++) {
#pragma omp task
    change_mine();
    pthread_mutex_t *const m = &of_thread[omp_get_thread_num()];
    pthread_mutex_lock(m);
    mine = i;
#pragma omp ordered depend(sink : i - 1)
    usleep(1000);
    if (mine != i) changed++;
#pragma omp ordered depend(source)
    pthread_mutex_unlock(m);
  }
  CHECK(ran == iterations && changed == 0, "%d tasks, %d iterations saw another one's variable", ran, changed);
}

/// `how`: waits for a child by taskwait, by a group, or as the predecessor of an undeferred task.
static void wait_with_mutex(int how) {
  ran = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++) {
#pragma omp task
    {
      int child = 0;
      pthread_mutex_lock(&mutex);
      if (how == 0) {
#pragma omp task shared(child)
        {
          usleep(500);
          child = 1;
        }
#pragma omp taskwait
      } else if (how == 1) {
#pragma omp taskgroup
        {
#pragma omp task shared(child)
          {
#pragma omp task shared(child)
            {
              usleep(500);
              child = 1;
            }
          }
        }
      } else {
#pragma omp task shared(child) depend(out : child)
        {
          usleep(500);
          child = 1;
        }
#pragma omp task shared(child) depend(inout : child) if (0)
        child++;
      }
      ran += child != 0;
      pthread_mutex_unlock(&mutex);
    }
  }
  CHECK(ran == tasks, "%d of %d tasks with a child that has ended", ran, tasks);
}

/// While a task holds the mutex it creates more tasks than are to be unfinished at a time.
static void creation_with_mutex(void) {
  ran = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4; i++) {
#pragma omp task
    {
      pthread_mutex_lock(&mutex);
      for (int j = 0; j < 3000; j++) {
#pragma omp task
        ran++;
      }
      pthread_mutex_unlock(&mutex);
    }
  }
  CHECK(ran == 4 * 3000, "%d tasks", ran);
}

int main(void) {
  for (int i = 0; i < 64; i++) pthread_mutex_init(&of_thread[i], NULL);
  critical_with_mutex();
  ordered_with_mutex();
  sink_with_mutex();
  for (int how = 0; how < 3; how++) wait_with_mutex(how);
  creation_with_mutex();
  return finish();
}
