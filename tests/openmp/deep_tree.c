// Trees of tasks that are deep and unbalanced, with waits on every level, on stacks of the usual size.
#include "check.h"

#include <omp.h>

static unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

enum { children = 6 };

/// A node has children with a probability of a little less than 1 / children, so that some branches are long.
static long search(unsigned node, int deep, int* deepest) {
  int deepest_yet;
#pragma omp atomic read
  deepest_yet = *deepest;
  if (deep > deepest_yet) {
#pragma omp critical(deepest)
    if (deep > *deepest) {
#pragma omp atomic write
      *deepest = deep;
    }
  }
  if (deep > 0 && mix(node) % 1000 >= 164) return 1;
  const int n = deep == 0 ? 1200 : children;
  long sums[1200];
  long sum = 1;
  long* const s = deep == 0 ? sums : (long[children]){0};
  for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(i) shared(s)
    s[i] = search(mix(node * 31 + (unsigned)i + 7), deep + 1, deepest);
  }
#pragma omp taskwait
  for (int i = 0; i < n; i++) sum += s[i];
  return sum;
}

static long in_order(unsigned node, int deep) {
  if (deep > 0 && mix(node) % 1000 >= 164) return 1;
  const int n = deep == 0 ? 1200 : children;
  long sum = 1;
  for (int i = 0; i < n; i++) sum += in_order(mix(node * 31 + (unsigned)i + 7), deep + 1);
  return sum;
}

/// Each task creates two, waits for one of them, and goes down by the other.
static long chain(int depth) {
  if (depth == 0) return 0;
  long below = 0, beside = 0;
#pragma omp task shared(below)
  below = chain(depth - 1);
#pragma omp task shared(beside)
  beside = 1;
#pragma omp taskwait
  return below + beside;
}

int main(void) {
  int deepest = 0;
  long nodes = 0, linked = 0;
#pragma omp parallel
#pragma omp single
  {
    nodes = search(1, 0, &deepest);
    linked = chain(3000);
  }
  const long expected = in_order(1, 0);
  CHECK(nodes == expected && expected > 30000, "the tree has %ld nodes, not %ld", nodes, expected);
  CHECK(deepest > 100, "the tree is %d deep", deepest);
  CHECK(linked == 3000, "the chain has %ld links", linked);
  return finish();
}
