// What programs of Clang alone do: sizes of dependences, omp_all_memory, names of LLVM's omp.h, and values at the ends of
// types that LLVM's code generators pass.
#include "check.h"

#ifdef __clang__

#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

typedef struct {
  int32_t reserved[4];
  const char* text;
} location;
void __kmpc_for_static_init_4u(location*, int32_t, int32_t, int32_t*, uint32_t*, uint32_t*, int32_t*, int32_t, int32_t);
void __kmpc_for_static_init_4(location*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t, int32_t);
void __kmpc_for_static_init_8(location*, int32_t, int32_t, int32_t*, int64_t*, int64_t*, int64_t*, int64_t, int64_t);

/// Flang passes an empty loop as one from 0 to 2^32 - 1.
static void empty_loops(void) {
  location at = {{0}, ";unknown;unknown;0;0;;"};
#pragma omp parallel
  {
    uint32_t first = 0, last = UINT32_MAX;
    int32_t is_last = 1, stride = 0;
    __kmpc_for_static_init_4u(&at, 0, 34, &is_last, &first, &last, &stride, 1, 1);
    CHECK(first == 0 && last == UINT32_MAX && !is_last, "an empty loop is one from %u to %u", first, last);
    // One iteration, so most threads have none.
    const int32_t at_ends[] = {INT32_MIN, INT32_MIN + 1, -1, 0, INT32_MAX - 1, INT32_MAX};
    for (int i = 0; i < 12; i++) {
      const int32_t value = at_ends[i / 2], step = i % 2 ? 1 : -1;
      int32_t begin = value, end = value;
      __kmpc_for_static_init_4(&at, 0, 34, &is_last, &begin, &end, &stride, step, 1);
      const int is_empty = step > 0 ? begin > end : begin < end;
      CHECK(is_last ? begin == value && end == value : is_empty, "a part of %d, step %d, is from %d to %d", value, step, begin, end);
    }
    const int64_t at_wide_ends[] = {INT64_MIN, INT64_MAX};
    for (int i = 0; i < 4; i++) {
      const int64_t value = at_wide_ends[i / 2], step = i % 2 ? 1 : -1;
      int64_t begin = value, end = value, wide_stride = 0;
      __kmpc_for_static_init_8(&at, 0, 34, &is_last, &begin, &end, &wide_stride, step, 1);
      const int is_empty = step > 0 ? begin > end : begin < end;
      CHECK(is_last ? begin == value && end == value : is_empty, "a part of %ld, step %ld, is from %ld to %ld", value, step, begin, end);
    }
  }
}

/// Each task reads what the one six before it has written; their items overlap others in part.
static void overlapping_items(void) {
  static int a[100];
#pragma omp parallel
#pragma omp single
  for (int i = 1; i < 90; i++) {
#pragma omp task depend(in : a[i - 1 : 3]) depend(out : a[i + 5 : 2])
    a[i + 5] = a[i - 1] + 1;
  }
  for (int i = 6; i < 95; i++) CHECK(a[i] == i / 6, "element %d is %d", i, a[i]);
}

static void all_memory(void) {
  static int a, b, after;
  a = b = after = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task depend(out : a)
    a++;
#pragma omp task depend(out : b)
    b++;
    omp_event_handle_t event;
#pragma omp task depend(out : omp_all_memory) detach(event)
    CHECK(a == i + 1 && b == i + 1, "before all: %d and %d, not %d", a, b, i + 1);
#pragma omp task firstprivate(event)
    {
      usleep(100);
      after = i + 1;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : b)
    CHECK(after == i + 1, "a task that follows all ran before the event: %d, not %d", after, i + 1);
  }
}

/// A sink that is outside of the nest is no dependence.
static void sinks_outside(void) {
  enum { n = 40, m = 30 };
  static int a[n][m];
#pragma omp parallel for ordered(2) schedule(dynamic, 1)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
#pragma omp ordered depend(sink : i - 1, j + 1) depend(sink : i, j - 1) depend(sink : i - 1, j)
      a[i][j] = ((i ? a[i - 1][j] : 0) + (j ? a[i][j - 1] : 0) + (i && j + 1 < m ? a[i - 1][j + 1] : 0) + 1) % 1000;
#pragma omp ordered depend(source)
    }
  static int b[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      b[i][j] = ((i ? b[i - 1][j] : 0) + (j ? b[i][j - 1] : 0) + (i && j + 1 < m ? b[i - 1][j + 1] : 0) + 1) % 1000;
      CHECK(a[i][j] == b[i][j], "iteration %d, %d: %d, not %d", i, j, a[i][j], b[i][j]);
    }
}

static void names_of_llvm(void) {
  char text[100];
  omp_set_affinity_format("%n of %N");
  CHECK(omp_get_affinity_format(text, sizeof text) == 8, "the affinity format is '%s'", text);
  CHECK(omp_capture_affinity(text, sizeof text, "%n") >= 1, "the affinity is '%s'", text);
  CHECK(omp_control_tool(omp_control_tool_start, 0, NULL) == omp_control_tool_notool, "there is a tool");
  CHECK(omp_get_num_interop_properties(omp_interop_none) == 0, "there is interoperability");
}

int main(void) {
  empty_loops();
  overlapping_items();
  all_memory();
  sinks_outside();
  names_of_llvm();
  return finish();
}

#else

int main(void) { return finish(); }

#endif
