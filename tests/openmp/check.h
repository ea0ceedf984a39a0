// What the programs of this folder share. Each prints "ok", or what is wrong, and exits accordingly.
#pragma once

#include <stdio.h>

/// Counts what is wrong; with 0, returns the number. May be called by all threads at once.
static inline int wrong_results(int more) {
  static int count;
  return __atomic_fetch_add(&count, more, __ATOMIC_RELAXED);
}

/// Reports what is wrong unless `holds`: the first ten times.
#define CHECK(holds, says, ...)                                                              \
  do {                                                                                       \
    if (!(holds) && wrong_results(1) < 10) printf("%s:%d: " says "\n", __FILE__, __LINE__, ##__VA_ARGS__); \
  } while (0)

/// What main() returns.
static inline int finish(void) {
  if (wrong_results(0) == 0) puts("ok");
  return wrong_results(0) != 0;
}
