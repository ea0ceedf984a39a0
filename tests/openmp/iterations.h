// Counts how often each iteration of a loop runs.
#pragma once

#include <string.h>

#include "check.h"

enum { most = 4000 };  // iterations

static int times[most];

/// Called in an iteration, by any thread.
static inline void ran(long i) {
  CHECK(i >= 0 && i < most, "iteration %ld", i);
  if (i < 0 || i >= most) return;
#pragma omp atomic
  times[i]++;
}

/// Expects that iterations first, first + step, ... below `end` ran `n` times, and no others. Begins to count anew.
static inline void expect_times(const char* what, int first, int end, int step, int n) {
  for (int i = 0; i < most; i++) {
    const int in = i >= first && i < end && (i - first) % step == 0;
    CHECK(times[i] == (in ? n : 0), "%s: iteration %d ran %d times", what, i, times[i]);
  }
  memset(times, 0, sizeof times);
}

static inline void expect(const char* what, int first, int end, int step) { expect_times(what, first, end, step, 1); }
