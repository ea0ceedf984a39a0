// critical, named and not, and atomic, for types that have instructions for it and types that do not.
#include "check.h"

#include <omp.h>

static int plain, of_a, of_b;  // each is protected by its own critical section

static void other_function(void) {
#pragma omp critical
  plain++;
#pragma omp critical(a)
  of_a++;
}

int main(void) {
  enum { rounds = 300 };
  long double sum = 0, product = 1, seen = 0;
  double d = 0;
  float f = 0;
  long l = 0;
  char c = 0;
  unsigned bits = 0;
  int captured_sum = 0, counter = 0, most = 0;
#pragma omp parallel reduction(+ : captured_sum)
  for (int r = 0; r < rounds; r++) {
#pragma omp critical
    plain++;
#pragma omp critical(a)
    {
      of_a++;
#pragma omp critical(b) hint(omp_sync_hint_contended)
      of_b++;
    }
    other_function();
#pragma omp atomic
    sum += 0.5L;
#pragma omp atomic
    product *= 1.0L;
#pragma omp atomic
    d += 0.25;
#pragma omp atomic
    f += 1;
#pragma omp atomic
    l -= 2;
#pragma omp atomic
    c ^= 1;
#pragma omp atomic
    bits |= 1u << r % 20;
    int mine;
#pragma omp atomic capture
    mine = counter++;
    captured_sum += mine;
#pragma omp atomic compare
    if (most < mine) { most = mine; }
    long double now;
#pragma omp atomic read
    now = sum;
    CHECK(now >= 0.5L, "a long double is %Lf", now);
#pragma omp atomic write
    seen = now;
    long double before;
#pragma omp atomic capture
    {
      before = product;
      product *= 1.0L;
    }
    CHECK(before == 1, "a captured long double is %Lf", before);
  }
  const int n = rounds * omp_get_max_threads();
  CHECK(plain == 2 * n && of_a == 2 * n && of_b == n, "critical: %d, %d, %d of %d", plain, of_a, of_b, n);
  CHECK(sum == n / 2.0L && product == 1 && seen > 0, "long double: %Lf, %Lf, %Lf", sum, product, seen);
  CHECK(d == n / 4.0 && f == n && l == -2L * n && c == n % 2, "double %f, float %f, long %ld, char %d", d, f, l, c);
  CHECK(bits == (1u << 20) - 1, "bits %x", bits);
  CHECK(counter == n && captured_sum == n * (n - 1) / 2 && most == n - 1, "capture: %d, %d, %d", counter, captured_sum, most);

  // In tasks.
  long double of_tasks = 0;
  int in_tasks = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 300; i++) {
#pragma omp task
    {
#pragma omp critical(tasks)
      in_tasks++;
#pragma omp atomic
      of_tasks += 1;
    }
  }
  CHECK(in_tasks == 300 && of_tasks == 300, "in tasks: %d, %Lf", in_tasks, of_tasks);
  return finish();
}
