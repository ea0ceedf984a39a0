// depend: chains, readers and writers, mutexinoutset, depobj, iterators, undeferred tasks, taskwait depend.
#include "check.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { length = 100 };

static void chain(void) {
  long x = 1, serial = 1;
  int last = -1;
  for (int i = 0; i < length; i++) {
#pragma omp task shared(x, last) depend(inout : x)
    {
      CHECK(last == i - 1, "task %d runs after task %d", i, last);
      last = i;
      x = (x * 3 + i) % 10007;
    }
    serial = (serial * 3 + i) % 10007;
  }
#pragma omp taskwait
  CHECK(x == serial, "a chain gives %ld, not %ld", x, serial);
}

static void readers_and_writers(void) {
  int x = 0, writers = 0;
  static int seen[length][5];
  for (int i = 0; i < length; i++) {
#pragma omp task shared(x, writers) depend(out : x)
    {
      int w;
#pragma omp atomic capture
      w = ++writers;
      CHECK(w == 1, "%d writers at once", w);
      x = i;
#pragma omp atomic
      writers--;
    }
    for (int r = 0; r < 5; r++) {
#pragma omp task shared(x) depend(in : x)
      seen[i][r] = x;
    }
  }
#pragma omp taskwait
  for (int i = 0; i < length; i++)
    for (int r = 0; r < 5; r++) CHECK(seen[i][r] == i, "reader %d of value %d has seen %d", r, i, seen[i][r]);
}

static void diamonds(void) {
  int a = 0, b = 0, c = 0, d = 0;
  for (int i = 1; i <= 40; i++) {
#pragma omp task shared(a, d) depend(in : d) depend(out : a)
    a = d + 1;
#pragma omp task shared(a, b) depend(in : a) depend(out : b)
    b = a * 2;
#pragma omp task shared(a, c) depend(in : a) depend(out : c)
    c = a * 3;
#pragma omp task shared(b, c, d) depend(in : b, c) depend(out : d)
    d = (b + c) % 1000;
  }
#pragma omp taskwait
  int serial = 0;
  for (int i = 1; i <= 40; i++) serial = (serial + 1) * 5 % 1000;
  CHECK(d == serial, "diamonds give %d, not %d", d, serial);
}

static void mutually_exclusive(void) {
  int x = 0, y = 0, inside = 0, before = 0;
  for (int round = 1; round <= 10; round++) {
#pragma omp task shared(x, y) depend(out : x) depend(out : y)
    x = y = 0;
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(x, inside) depend(mutexinoutset : x)
      {
        CHECK(++inside == 1, "%d tasks of a mutexinoutset at once", inside);
        x++;
        --inside;
      }
#pragma omp task shared(x, y) depend(mutexinoutset : x, y)
      {
        x++;
        y++;
      }
    }
#pragma omp task shared(x, y, before) depend(in : x, y)
    before += x == 20 && y == 10;
  }
#pragma omp taskwait
  CHECK(before == 10, "%d readers of 10 came after all of the set", before);
}

static void depend_objects(void) {
  int x = 0, y = 0;
  omp_depend_t o, p;
#pragma omp depobj(o) depend(inout : x)
#pragma omp depobj(p) depend(in : x)
  for (int i = 0; i < 30; i++) {
#pragma omp task shared(x) depend(depobj : o)
    x = x * 2 % 1009 + 1;
#pragma omp task shared(x) depend(depobj : p)
    CHECK(x > 0, "a reader by depobj ran first");
#pragma omp task shared(x) depend(inout : x)
    x = x * 3 % 1009 + 1;
  }
#pragma omp taskwait
  int serial = 0;
  for (int i = 0; i < 30; i++) {
    serial = serial * 2 % 1009 + 1;
    serial = serial * 3 % 1009 + 1;
  }
  CHECK(x == serial, "depobj gives %d, not %d", x, serial);
#pragma omp depobj(p) update(mutexinoutset)
#pragma omp depobj(o) update(in)
  int sum = 0;
  for (int i = 0; i < 30; i++) {
#pragma omp task shared(sum, y) depend(depobj : p) depend(out : y)
    y = ++sum;
#pragma omp task shared(y) depend(depobj : o) depend(in : y)
    CHECK(y == i + 1, "an updated depobj: %d, not %d", y, i + 1);
  }
#pragma omp taskwait
#pragma omp depobj(o) destroy
#pragma omp depobj(p) destroy
}

static void iterators(int n) {
  int* a = calloc((size_t)n, sizeof *a);
  int total = -1, wrong = 0;
  for (int round = 1; round <= 5; round++) {
    for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : a[i])
      a[i] += i;
    }
#pragma omp task shared(total, wrong) depend(iterator(i = 0 : n), in : a[i]) depend(out : total)
    {
      total = 0;
      for (int i = 0; i < n; i++) total += a[i];
      if (total != round * n * (n - 1) / 2) {
#pragma omp atomic
        wrong++;
      }
    }
#pragma omp task shared(wrong) depend(iterator(i = 0 : n : 2, j = 0 : 2), inout : a[i + j]) depend(in : total)
    for (int i = 0; i < n; i++) {
      if (a[i] != round * i) {
#pragma omp atomic
        wrong++;
      }
    }
  }
#pragma omp taskwait
  CHECK(wrong == 0, "%d tasks with iterators saw other values", wrong);
  free(a);
}

static void undeferred(void) {
  int x = 0, y = 0;
  volatile int no = 0;
  for (int i = 0; i < 30; i++) {
#pragma omp task shared(x) depend(out : x)
    x = i;
#pragma omp task shared(x, y) depend(in : x) depend(out : y) if (no)
    {
      CHECK(x == i, "an undeferred task did not wait for what it depends on: %d, not %d", x, i);
      y = x;
    }
    CHECK(y == i, "an undeferred task has not run");
#pragma omp task shared(y) depend(inout : y) final(1)
    y++;
#pragma omp task shared(y) depend(inout : y)
    CHECK(y == i + 1, "after a final task: %d, not %d", y, i + 1);
  }
#pragma omp taskwait
}

static void wait_for_some(void) {
  int x = 0, y = 0, z = 0;
  for (int i = 1; i <= 20; i++) {
#pragma omp task shared(x) depend(out : x)
    {
#pragma omp task shared(x) if (0)
      x = i;
    }
#pragma omp task shared(x, y) depend(in : x) depend(out : y)
    y = x * 2;
#pragma omp task shared(z) depend(mutexinoutset : z)
    z++;
#pragma omp task shared(z) depend(mutexinoutset : z)
    z++;
#pragma omp taskwait depend(in : y)
    CHECK(y == 2 * i && x == i, "taskwait depend(in): %d, %d", x, y);
#pragma omp taskwait depend(inout : z)
    CHECK(z == 2 * i, "taskwait depend(inout): %d, not %d", z, 2 * i);
#pragma omp taskwait depend(out : x)
  }
#pragma omp taskwait depend(in : x, y, z)
  CHECK(x == 20 && y == 40 && z == 40, "after all: %d, %d, %d", x, y, z);
#pragma omp taskwait
}

// Dependences are those of siblings: a child is not ordered with the children of other tasks.
static void levels(void) {
  long x = 1;
  for (int i = 0; i < 20; i++) {
#pragma omp task shared(x) depend(inout : x)
    {
      const long begin = x;
      for (int j = 0; j < 5; j++) {
#pragma omp task shared(x) depend(inout : x)
        x = (x * 5 + j) % 10007;
      }
#pragma omp taskwait
      long serial = begin;
      for (int j = 0; j < 5; j++) serial = (serial * 5 + j) % 10007;
      CHECK(x == serial, "an inner chain gives %ld, not %ld", x, serial);
    }
  }
#pragma omp taskgroup
  {
#pragma omp task shared(x) depend(inout : x)
    x += 1;
#pragma omp task shared(x) depend(inout : x)
    x *= 2;
  }
  long serial = 1;
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 5; j++) serial = (serial * 5 + j) % 10007;
  CHECK(x == (serial + 1) * 2, "chains in chains give %ld, not %ld", x, (serial + 1) * 2);
}

static void all(void) {
  chain();
  readers_and_writers();
  diamonds();
  mutually_exclusive();
  depend_objects();
  iterators(2);
  iterators(40);
  undeferred();
  wait_for_some();
  levels();
}

/// Dependences named by numbers that are no addresses of a process.
static void by_any_number(void) {
  int last = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 300; i++) {
#pragma omp task depend(inout : ((char *)(uintptr_t)-1)[0]) depend(in : ((char *)(uintptr_t)1)[i]) depend(inout : last) shared(last) firstprivate(i)
    {
      CHECK(last == i, "task %d after %d", i, last);
      last++;
    }
  }
  CHECK(last == 300, "%d tasks", last);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  all();
  all();  // outside of any region
  by_any_number();
  return finish();
}
