// Reductions of regions, loops, sections and scopes, and of tasks in groups; scans.
#include "check.h"

#include <omp.h>

#include <climits>
#include <vector>

namespace {

struct point {
  long x = 0, y = 0;
};
#pragma omp declare reduction(add:point : omp_out.x += omp_in.x, omp_out.y += omp_in.y) initializer(omp_priv = point{})

void of_loops(int n) {
  int sum = 1, least = INT_MAX, most = INT_MIN, bits = 0, every = 1, any = 0, parity = 0, all = -1;
  long difference = 0;
  double product = 1;
  point p;
  int array[5] = {1, 1, 1, 1, 1};
  std::vector<long> section(10, 2);
  long* const s = section.data();
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum, array) reduction(min : least) reduction(max : most) \
    reduction(| : bits) reduction(&& : every) reduction(|| : any) reduction(^ : parity) reduction(& : all)           \
    reduction(- : difference) reduction(* : product) reduction(add : p) reduction(+ : s[2 : 6])
  for (int i = 0; i < n; i++) {
    sum += i;
    if (i < least) least = i;
    if (i > most) most = i;
    bits |= 1 << i % 13;
    every = every && i >= 0;
    any = any || i == n - 1;
    parity ^= 1;
    all &= ~(1 << i % 3);
    difference -= i;
    product *= i % 2 ? 2.0 : 0.5;
    p.x += i;
    p.y -= i;
    array[i % 5]++;
    s[2 + i % 6] += i;
  }
  const long total = n * (n - 1L) / 2;
  CHECK(sum == 1 + total && least == 0 && most == n - 1 && difference == -total, "+ %d, min %d, max %d, - %ld", sum,
        least, most, difference);
  CHECK(bits == (1 << 13) - 1 && every && any && parity == n % 2 && all == ~7, "| %x, && %d, || %d, ^ %d, & %x",
        static_cast<unsigned>(bits), every, any, parity, static_cast<unsigned>(all));
  CHECK(product == (n % 2 ? 0.5 : 1.0), "* %f", product);
  CHECK(p.x == total && p.y == -total, "of one's own: %ld, %ld", p.x, p.y);
  int elements = 0;
  for (int a : array) elements += a;
  CHECK(elements == n + 5, "of an array: %d", elements);
  long sections = 0;
  for (long v : section) sections += v;
  CHECK(sections == 20 + total && s[0] == 2 && s[9] == 2, "of a part of an array: %ld", sections);
}

void of_regions() {
  int threads = 0, numbers = 0;
#pragma omp parallel reduction(+ : threads, numbers)
  {
    threads++;
    numbers += omp_get_thread_num();
  }
  CHECK(threads == omp_get_max_threads() && numbers == threads * (threads - 1) / 2, "of a region: %d, %d", threads,
        numbers);
  int sectioned = 0;
  [[maybe_unused]] int scoped = 0;
#pragma omp parallel
  {
#ifndef __clang__  // which does not know it
#pragma omp scope reduction(+ : scoped)
    scoped += 2;
    CHECK(scoped == 2 * omp_get_num_threads(), "of a scope: %d", scoped);
#endif
#pragma omp sections reduction(+ : sectioned)
    {
#pragma omp section
      sectioned += 1;
#pragma omp section
      sectioned += 10;
#pragma omp section
      sectioned += 100;
    }
  }
  CHECK(sectioned == 111, "of sections: %d", sectioned);
}

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

/// Adds the leaves of a tree to `sum`; the tasks take part in the reduction of the group around them.
void leaves(int depth, long& sum) {
  if (depth == 0) {
    sum += 1;
    return;
  }
  for (int i = 0; i < 2; i++) {
#pragma omp task in_reduction(+ : sum)
    leaves(depth - 1, sum);
  }
#pragma omp taskwait
}

void of_task_groups() {
  long sum = 10;
  point p;
  double product = 1;
  int array[3] = {0, 0, 0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum, array) task_reduction(add : p) task_reduction(* : product)
    {
      for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum, array) in_reduction(add : p)
        {
          sum += i + fib(3) - 2;
          p.x += i;
          p.y += 1;
          array[i % 3] += 1;
        }
      }
#pragma omp task in_reduction(* : product)
      product *= 3;
#pragma omp task in_reduction(* : product) if (0)
      product *= 5;
    }
    CHECK(sum == 10 + 4950 && p.x == 4950 && p.y == 100, "of a group: %ld, %ld, %ld", sum, p.x, p.y);
    CHECK(array[0] == 34 && array[1] == 33 && array[2] == 33, "of an array: %d, %d, %d", array[0], array[1], array[2]);
    CHECK(product == 15, "of one with one task: %f", product);
    sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
    leaves(6, sum);
    CHECK(sum == 64, "of a tree: %ld", sum);
    // Groups in groups.
    long outer = 0, inner = 0;
#pragma omp taskgroup task_reduction(+ : outer)
    for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+ : outer) firstprivate(i) shared(inner)
      {
        long mine = 0;
#pragma omp taskgroup task_reduction(+ : mine)
        for (int j = 0; j < 10; j++) {
#pragma omp task in_reduction(+ : mine) in_reduction(+ : outer)
          {
            mine += j;
            outer += 1;
          }
        }
        CHECK(mine == 45, "of an inner group: %ld", mine);
        outer += i;
#pragma omp atomic
        inner += mine;
      }
    }
    CHECK(outer == 145 && inner == 450, "of groups in groups: %ld, %ld", outer, inner);
  }
}

// Arrays whose length only the program knows.
void of_variable_arrays(int n) {
  std::vector<long> products(static_cast<std::size_t>(n), 1), sums(static_cast<std::size_t>(n), 0);
  long* const p = products.data();
  long* const s = sums.data();
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(* : p[0 : n])
    for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(* : p[0 : n])
      for (int j = 0; j < n; j++) p[j] *= 2;
    }
#pragma omp taskloop reduction(+ : s[0 : n]) num_tasks(5)
    for (int i = 0; i < 100; i++)
      for (int j = 0; j < n; j++) s[j] += i;
  }
  for (int j = 0; j < n; j++) CHECK(p[j] == 256 && s[j] == 4950, "element %d: %ld, %ld", j, p[j], s[j]);
}

void with_task_modifier(int n) {
  long sum = 3, loops = 0, sections = 0;
  [[maybe_unused]] long scopes = 0;
#pragma omp parallel reduction(task, + : sum)
  {
    sum += 1;
    for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
  }
  const long threads = omp_get_max_threads();
  CHECK(sum == 3 + threads * 191, "parallel reduction(task, +): %ld, not %ld", sum, 3 + threads * 191);
#pragma omp parallel
  {
#pragma omp for reduction(task, + : loops) schedule(dynamic)
    for (int i = 0; i < n; i++) {
      loops += i;
#pragma omp task in_reduction(+ : loops)
      loops += 1;
    }
    CHECK(loops == n * (n - 1L) / 2 + n, "for reduction(task, +): %ld", loops);
#pragma omp sections reduction(task, + : sections)
    {
#pragma omp section
      {
#pragma omp task in_reduction(+ : sections)
        sections += 1;
      }
#pragma omp section
      {
#pragma omp task in_reduction(+ : sections)
        sections += 10;
      }
    }
    CHECK(sections == 11, "sections reduction(task, +): %ld", sections);
#ifndef __clang__  // which does not know it
#pragma omp scope reduction(task, + : scopes)
    {
#pragma omp task in_reduction(+ : scopes)
      scopes += 4;
    }
    CHECK(scopes == 4 * threads, "scope reduction(task, +): %ld", scopes);
#endif
  }
  unsigned long long by_ull = 0;
#pragma omp parallel for reduction(task, + : by_ull) schedule(guided)
  for (unsigned long long i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : by_ull)
    by_ull += i;
  }
  CHECK(by_ull == 4950, "for reduction(task, +) over unsigned long long: %llu", by_ull);
}

void scans(int n) {
  std::vector<int> inclusive(static_cast<std::size_t>(n)), exclusive(static_cast<std::size_t>(n));
  int sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < n; i++) {
    sum += i;
#pragma omp scan inclusive(sum)
    inclusive[static_cast<std::size_t>(i)] = sum;
  }
  sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < n; i++) {
    exclusive[static_cast<std::size_t>(i)] = sum;
#pragma omp scan exclusive(sum)
    sum += i;
  }
  for (int i = 0; i < n; i++) {
    CHECK(inclusive[static_cast<std::size_t>(i)] == i * (i + 1) / 2, "inclusive scan at %d", i);
    CHECK(exclusive[static_cast<std::size_t>(i)] == i * (i - 1) / 2, "exclusive scan at %d", i);
  }
}

}  // namespace

int main() {
  of_loops(300);
  of_loops(31);
  of_regions();
  of_task_groups();
  with_task_modifier(50);
  of_variable_arrays(7);
  scans(200);
  return finish();
}
