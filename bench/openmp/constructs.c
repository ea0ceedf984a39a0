// What OpenMP's constructs cost: one line for each, its name and nanoseconds. Run by bench/openmp.py.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void nothing(void) { __asm__ volatile("" ::: "memory"); }

static void regions(int count) {
  for (int i = 0; i < count; i++) {
#pragma omp parallel
    nothing();
  }
}

static void barriers(int count) {
#pragma omp parallel
  for (int i = 0; i < count; i++) {
#pragma omp barrier
  }
}

static void static_loops(int count) {
#pragma omp parallel
  for (int i = 0; i < count; i++) {
#pragma omp for schedule(static)
    for (int j = 0; j < 64; j++) nothing();
  }
}

static void dynamic_iterations(int count) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < count; i++) nothing();
}

static void critical_sections(int count) {
  static int total;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; i++) {
#pragma omp critical
    total++;
  }
}

static void independent_tasks(int count) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
    nothing();
  }
}

// A hundred chains side by side.
static void chained_tasks(int count) {
  static char data[100];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < count; i++) {
#pragma omp task depend(inout : data[i % 100])
    nothing();
  }
}

// Each task waits for its left, upper and diagonal neighbours.
static void wavefront_tasks(int count) {
  enum { side = 100 };
  static char data[side + 1][side + 1];
  for (int done = 0; done < count; done += side * side) {
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= side; i++) {
      for (int j = 1; j <= side; j++) {
#pragma omp task depend(in : data[i - 1][j], data[i][j - 1]) depend(inout : data[i][j])
        nothing();
      }
    }
  }
}

static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static int tasks_of_fib(int n) { return n < 2 ? 0 : 2 + tasks_of_fib(n - 1) + tasks_of_fib(n - 2); }

static void recursive_tasks(int count) {
  int n = 2;
  while (tasks_of_fib(n) < count) n++;
#pragma omp parallel
#pragma omp single
  fib(n);
}

static void taskloops(int count) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < count; i++) nothing();
}

struct construct {
  const char *name;
  void (*run)(int count);
  int count;
};

int main(void) {
  const struct construct all[] = {
      {"parallel", regions, 2000},
      {"barrier", barriers, 5000},
      {"for, static, with its barrier", static_loops, 5000},
      {"for, dynamic, an iteration", dynamic_iterations, 200000},
      {"critical", critical_sections, 200000},
      {"task, independent", independent_tasks, 100000},
      {"task, in chains", chained_tasks, 100000},
      {"task, in a wavefront", wavefront_tasks, 100000},
      {"task, recursive (fib)", recursive_tasks, 200000},
      {"taskloop, a task", taskloops, 100000},
  };
  regions(100);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    all[i].run(all[i].count / 10);
    const double began = omp_get_wtime();
    all[i].run(all[i].count);
    printf("%s\t%.1f\n", all[i].name, (omp_get_wtime() - began) / all[i].count * 1e9);
  }
  return 0;
}
