// Random task graphs: each gives what the same statements give in order.
#include "check.h"

#include <omp.h>
#include <string.h>

enum { variables = 9, tasks = 150, programs = 12 };

struct statement {
  int in[3], inout[2], out;  // variables
  int kinds;                 // which of the clauses it has
};

static unsigned seed;
static int draw(int n) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (unsigned)n);
}

static struct statement random_statement(void) {
  struct statement s;
  for (int i = 0; i < 3; i++) s.in[i] = draw(variables);
  for (int i = 0; i < 2; i++) s.inout[i] = draw(variables);
  s.out = draw(variables);
  s.kinds = draw(7);
  return s;
}

static void execute(const struct statement* s, int number, unsigned* v) {
  unsigned h = (unsigned)number;
  if (s->kinds % 2)
    for (int i = 0; i < 3; i++) h = h * 31 + v[s->in[i]];
  if (s->kinds != 1) {
    for (int i = 0; i < 2; i++) h = h * 37 + v[s->inout[i]];
    v[s->inout[0]] = h;
    v[s->inout[1]] = h * 3 + 1;
  }
  if (s->kinds >= 4 || s->kinds == 1) v[s->out] = h ^ 12345;
}

static void create(const struct statement* s, int number, unsigned* v) {
  const struct statement c = *s;
  switch (c.kinds) {
    case 0:
    case 2:
#pragma omp task depend(inout : v[c.inout[0]], v[c.inout[1]])
      execute(&c, number, v);
      break;
    case 1:
#pragma omp task depend(in : v[c.in[0]], v[c.in[1]], v[c.in[2]]) depend(out : v[c.out])
      execute(&c, number, v);
      break;
    case 3:
#pragma omp task depend(in : v[c.in[0]], v[c.in[1]], v[c.in[2]]) depend(inout : v[c.inout[0]], v[c.inout[1]])
      execute(&c, number, v);
      break;
    case 4:
    case 6:
#pragma omp task depend(inout : v[c.inout[0]], v[c.inout[1]]) depend(out : v[c.out]) if (number % 5)
      execute(&c, number, v);
      break;
    default:
#pragma omp task depend(in : v[c.in[0]], v[c.in[1]], v[c.in[2]]) depend(inout : v[c.inout[0]], v[c.inout[1]]) \
    depend(out : v[c.out])
      execute(&c, number, v);
  }
}

static void run(unsigned of, unsigned* parallel, unsigned* serial) {
  unsigned state = of * 2654435761u;
  struct statement all[tasks];
#pragma omp critical(random)
  {
    seed = state;
    for (int i = 0; i < tasks; i++) all[i] = random_statement();
  }
  for (int i = 0; i < variables; i++) parallel[i] = serial[i] = (unsigned)i;
  for (int i = 0; i < tasks; i++) create(&all[i], i, parallel);
#pragma omp taskwait
  for (int i = 0; i < tasks; i++) execute(&all[i], i, serial);
}

static void compare(unsigned of) {
  unsigned parallel[variables], serial[variables];
  run(of, parallel, serial);
  CHECK(memcmp(parallel, serial, sizeof serial) == 0, "program %u gives another result than in order", of);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (unsigned p = 0; p < programs; p++) compare(p);
  // Several programs side by side, each below a task of its own.
#pragma omp parallel
#pragma omp single
  for (unsigned p = 100; p < 100 + programs; p++) {
#pragma omp task
    compare(p);
  }
  // And one in each thread.
#pragma omp parallel
  compare(200 + (unsigned)omp_get_thread_num());
  return finish();
}
