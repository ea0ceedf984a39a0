// taskloop: grainsize, num_tasks, strict, nogroup, collapse, if, final, reductions, all kinds of bounds.
#include "iterations.h"

#include <limits.h>
#include <omp.h>
#include <string.h>

typedef unsigned long long ull;

static int task_of[most], tasks;

/// Counts the iterations of a task in `n`, a private variable that begins as 0 in each task.
static void ran_in(int i, int* n, int* task) {
  if ((*n)++ == 0) {
#pragma omp atomic capture
    *task = tasks++;
  }
  task_of[i] = *task;
  ran(i);
}

/// The number of iterations of the task that has the fewest, and of the one that has the most.
static void iterations_of_tasks(int n, int* least, int* largest) {
  int sizes[most] = {0};
  for (int i = 0; i < n; i++) sizes[task_of[i]]++;
  *least = most;
  *largest = 0;
  for (int t = 0; t < tasks; t++) {
    if (sizes[t] < *least) *least = sizes[t];
    if (sizes[t] > *largest) *largest = sizes[t];
  }
}

static void grains(int n) {
  int k = 0, task = 0, least, largest;
  tasks = 0;
#pragma omp taskloop grainsize(7) firstprivate(k, task)
  for (int i = 0; i < n; i++) ran_in(i, &k, &task);
  iterations_of_tasks(n, &least, &largest);
  CHECK(least >= 7 && largest < 14, "grainsize(7): %d to %d iterations", least, largest);
  expect("grainsize", 0, n, 1);

#ifndef __clang__  // which does not pass the modifier on
  tasks = 0;
#pragma omp taskloop grainsize(strict : 7) firstprivate(k, task)
  for (int i = 0; i < n; i++) ran_in(i, &k, &task);
  iterations_of_tasks(n, &least, &largest);
  CHECK(largest == 7 && least == (n % 7 ? n % 7 : 7) && tasks == (n + 6) / 7, "grainsize(strict: 7): %d tasks, %d to %d iterations",
        tasks, least, largest);
  expect("grainsize(strict)", 0, n, 1);
#endif

  tasks = 0;
#pragma omp taskloop num_tasks(6) firstprivate(k, task)
  for (int i = 0; i < n; i++) ran_in(i, &k, &task);
  iterations_of_tasks(n, &least, &largest);
  CHECK(tasks == 6 && largest - least <= 1, "num_tasks(6): %d tasks, %d to %d iterations", tasks, least, largest);
  expect("num_tasks", 0, n, 1);

  tasks = 0;
#pragma omp taskloop num_tasks(strict : 6) firstprivate(k, task)
  for (int i = 0; i < n; i++) ran_in(i, &k, &task);
  CHECK(tasks == 6, "num_tasks(strict: 6): %d tasks", tasks);
  expect("num_tasks(strict)", 0, n, 1);

  tasks = 0;
#pragma omp taskloop num_tasks(500) firstprivate(k, task)
  for (int i = 0; i < 5; i++) ran_in(i, &k, &task);
  CHECK(tasks == 5, "num_tasks(500) of 5 iterations: %d tasks", tasks);
  expect("more tasks than iterations", 0, 5, 1);

  tasks = 0;
#pragma omp taskloop grainsize(100) firstprivate(k, task)
  for (int i = 0; i < 5; i++) ran_in(i, &k, &task);
  CHECK(tasks == 1, "grainsize(100) of 5 iterations: %d tasks", tasks);
  expect("a larger grain than the loop", 0, 5, 1);
}

static void bounds(int n) {
#pragma omp taskloop
  for (int i = n; i > 0; i -= 3) ran(i);
  expect("down", n - (n - 1) / 3 * 3, n + 1, 3);
#pragma omp taskloop grainsize(4)
  for (long i = 2; i < n; i += 5) ran(i);
  expect("by 5", 2, n, 5);
#pragma omp taskloop
  for (int i = n; i < 3; i++) ran(i);
#pragma omp taskloop num_tasks(4)
  for (int i = 0; i > n; i--) ran(i);
  expect("empty", 0, 0, 1);
  const ull high = ULLONG_MAX - 500, un = (ull)n;
#pragma omp taskloop grainsize(9)
  for (ull i = high; i < ULLONG_MAX - 100; i += 7) ran((long)(i - high));
  expect("near ULLONG_MAX", 0, 400, 7);
#pragma omp taskloop num_tasks(5)
  for (ull i = ULLONG_MAX - 101; i >= high; i -= 1) ran((long)(i - high));
  expect("down from ULLONG_MAX", 0, 400, 1);
#pragma omp taskloop
  for (ull i = un; i < 5; i++) ran((long)i);
  expect("empty, of unsigned long long", 0, 0, 1);
#pragma omp taskloop collapse(2) grainsize(3)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) ran(i * 30 + j);
  expect("collapse(2)", 0, 600, 1);
#pragma omp taskloop collapse(3) num_tasks(7)
  for (int i = 4; i >= 0; i--)
    for (ull j = 0; j < 5; j++)
      for (int k = 0; k < 6; k += 2) ran(i * 30 + (int)j * 6 + k);
  expect("collapse(3)", 0, 150, 2);
}

static void clauses(int n) {
  int last = 0;
#pragma omp taskloop lastprivate(last) grainsize(10)
  for (int i = 0; i < n; i++) {
    ran(i);
    last = i;
  }
  CHECK(last == n - 1, "lastprivate: %d", last);
  expect("lastprivate", 0, n, 1);
  volatile int no = 0;
  const int here = omp_get_thread_num();
#pragma omp taskloop if (no) grainsize(10)
  for (int i = 0; i < n; i++) {
    CHECK(omp_get_thread_num() == here, "an undeferred task of a taskloop runs on another thread");
    ran(i);
  }
  expect("if(0)", 0, n, 1);
#pragma omp taskloop final(1) mergeable
  for (int i = 0; i < n; i++) {
    CHECK(omp_in_final(), "a task of a taskloop is not final");
    ran(i);
  }
  expect("final", 0, n, 1);
#pragma omp taskloop untied priority(2) num_tasks(20)
  for (int i = 0; i < n; i++) ran(i);
  expect("untied priority", 0, n, 1);
  // Without nogroup the construct waits for descendants, too.
  int inner = 0;
#pragma omp taskloop shared(inner) grainsize(1)
  for (int i = 0; i < 20; i++) {
#pragma omp task shared(inner)
#pragma omp atomic
    inner++;
  }
  CHECK(inner == 20, "%d children of a taskloop's tasks have ended", inner);
#pragma omp taskgroup
  {
#pragma omp taskloop nogroup grainsize(5)
    for (int i = 0; i < n; i++) ran(i);
#pragma omp taskloop nogroup num_tasks(3)
    for (int i = n; i < 2 * n; i++) ran(i);
  }
  expect("nogroup", 0, 2 * n, 1);
#pragma omp taskloop nogroup
  for (int i = 0; i < n; i++) ran(i);
#pragma omp taskwait
  expect("nogroup, taskwait", 0, n, 1);
}

static void reductions(int n) {
  long sum = 5, most_seen = 0;
#pragma omp taskloop reduction(+ : sum) reduction(max : most_seen) grainsize(3)
  for (int i = 0; i < n; i++) {
    sum += i;
    if (i > most_seen) most_seen = i;
  }
  CHECK(sum == 5 + n * (n - 1L) / 2 && most_seen == n - 1, "reduction: %ld, %ld", sum, most_seen);
  long both = 1;
#pragma omp taskgroup task_reduction(+ : both)
  {
#pragma omp taskloop in_reduction(+ : both) num_tasks(8)
    for (int i = 0; i < n; i++) both += i;
#pragma omp taskloop in_reduction(+ : both) nogroup
    for (ull i = 0; i < 10; i++) both += 1;
  }
  CHECK(both == 11 + n * (n - 1L) / 2, "in_reduction: %ld", both);
  int array[4] = {1, 2, 3, 4};
#pragma omp taskloop reduction(+ : array[0 : 4]) collapse(2) num_tasks(9)
  for (int i = 0; i < 50; i++)
    for (int j = 0; j < 4; j++) array[j] += j;
  for (int j = 0; j < 4; j++) CHECK(array[j] == 1 + j + 50 * j, "reduction of an array: %d at %d", array[j], j);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    grains(100);
    grains(331);
    bounds(100);
    clauses(100);
    reductions(200);
  }
  // Outside of any region.
  bounds(50);
  clauses(50);
  reductions(50);
  // Combined with the region, and created by all threads.
#pragma omp parallel master taskloop grainsize(10)
  for (int i = 0; i < 300; i++) ran(i);
  expect("parallel master taskloop", 0, 300, 1);
  int sum = 0;
#pragma omp parallel
#pragma omp taskloop shared(sum)
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    sum++;
  }
  CHECK(sum == 100 * omp_get_max_threads(), "a taskloop of each thread: %d iterations", sum);
  return finish();
}
