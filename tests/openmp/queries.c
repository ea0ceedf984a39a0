// omp_get_*, omp_set_* and what they say in regions and tasks; allocators.
#include "check.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void outside(void) {
  CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && !omp_in_parallel(), "outside of regions");
  CHECK(omp_get_level() == 0 && omp_get_active_level() == 0 && omp_get_team_size(0) == 1, "levels outside of regions");
  CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(-1) == -1 && omp_get_team_size(1) == -1, "ancestors");
  CHECK(omp_get_max_threads() >= 1 && omp_get_num_procs() >= 1 && omp_get_thread_limit() >= 1, "at least one");
  CHECK(omp_get_supported_active_levels() >= 1 && omp_get_max_active_levels() >= 0, "active levels");
  CHECK(!omp_in_final() && omp_get_max_task_priority() >= 0, "tasks");
  CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0, "teams");
  CHECK(omp_is_initial_device() && omp_get_num_devices() >= 0 && omp_get_initial_device() == omp_get_num_devices(), "devices");
  CHECK(omp_get_num_places() >= 0 && omp_get_partition_num_places() >= 0, "places");
  const double a = omp_get_wtime(), tick = omp_get_wtick(), b = omp_get_wtime();
  CHECK(a > 0 && b >= a && tick > 0 && tick < 1, "clock: %f, %f, tick %g", a, b, tick);
}

/// What schedule(runtime) is without OMP_SCHEDULE: it differs between libgomp and libomp.
static void usual_schedule(void) {
#ifdef __clang__
  const omp_sched_t usual = omp_sched_static;
#else
  const omp_sched_t usual = omp_sched_dynamic;
#endif
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == usual, "schedule %d", (int)kind);
  int firsts[4] = {0};
#pragma omp parallel num_threads(4)
#pragma omp for schedule(runtime)
  for (int i = 0; i < 64; i++) {
    if (usual == omp_sched_static && omp_get_num_threads() == 4) CHECK(omp_get_thread_num() == i / 16, "iteration %d", i);
#pragma omp atomic
    firsts[i / 16]++;
  }
  for (int i = 0; i < 4; i++) CHECK(firsts[i] == 16, "%d iterations", firsts[i]);
}

static void settings(void) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  CHECK(omp_get_max_threads() == 3, "omp_set_num_threads(3): %d", omp_get_max_threads());
  int size = 0;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    // Each implicit task has its own setting, and its tasks begin with it.
    const int mine = 2 + omp_get_thread_num();
    omp_set_num_threads(mine);
#pragma omp barrier
    CHECK(omp_get_max_threads() == mine, "thread %d has %d", omp_get_thread_num(), omp_get_max_threads());
#pragma omp task firstprivate(mine)
    {
      CHECK(omp_get_max_threads() == mine, "a task has %d, its creator %d", omp_get_max_threads(), mine);
      omp_set_num_threads(9);
      CHECK(omp_get_max_threads() == 9, "in a task: %d", omp_get_max_threads());
    }
#pragma omp taskwait
    CHECK(omp_get_max_threads() == mine, "after a task: thread %d has %d", omp_get_thread_num(), omp_get_max_threads());
  }
  CHECK(size == 3, "the region has %d threads", size);
  CHECK(omp_get_max_threads() == 3, "after the region: %d", omp_get_max_threads());
  omp_set_num_threads(before);

  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int k = 0; k < 3; k++) {
    omp_set_schedule(kinds[k], 4 + k);
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK((kind & ~omp_sched_monotonic) == kinds[k] && chunk == 4 + k, "schedule %d, %d", (int)kind, chunk);
  }
  omp_set_schedule(omp_sched_auto, 0);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK((kind & ~omp_sched_monotonic) == omp_sched_auto, "schedule auto: %d", (int)kind);

  omp_set_dynamic(0);
  CHECK(!omp_get_dynamic(), "dynamic is on");
  omp_set_max_active_levels(2);
  CHECK(omp_get_max_active_levels() == 2, "max_active_levels is %d", omp_get_max_active_levels());
  omp_set_max_active_levels(1);
  CHECK(omp_get_max_active_levels() == 1, "max_active_levels is %d", omp_get_max_active_levels());
  omp_set_default_device(0);
  CHECK(omp_get_default_device() == 0, "default device %d", omp_get_default_device());
  CHECK(omp_get_proc_bind() >= omp_proc_bind_false && omp_get_proc_bind() <= omp_proc_bind_spread, "proc_bind");
}

static void inside(void) {
#pragma omp parallel num_threads(2)
  {
    CHECK(omp_in_parallel() && omp_get_level() == 1 && omp_get_active_level() == 1, "in a region");
    CHECK(omp_get_ancestor_thread_num(1) == omp_get_thread_num() && omp_get_team_size(1) == 2, "the region's level");
    CHECK(omp_get_cancellation() == 0 || omp_get_cancellation() == 1, "cancellation");
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task final(i % 2)
      {
        CHECK(omp_in_final() == i % 2, "omp_in_final() is %d", omp_in_final());
        CHECK(omp_get_num_threads() == 2 && omp_in_parallel() && omp_get_level() == 1, "in a task");
      }
    }
  }
#pragma omp parallel num_threads(1)
  CHECK(!omp_in_parallel() && omp_get_level() == 1 && omp_get_active_level() == 0, "in a region of one thread");
}

static void memory(void) {
  const omp_allocator_handle_t standard = omp_get_default_allocator();
  CHECK(standard != omp_null_allocator, "there is no default allocator");
  int* p = omp_alloc(400, omp_default_mem_alloc);
  CHECK(p != NULL, "omp_alloc");
  memset(p, 1, 400);
  p = omp_realloc(p, 800, omp_default_mem_alloc, omp_default_mem_alloc);
  CHECK(p != NULL && p[99] == 0x01010101, "omp_realloc keeps what was there");
  omp_free(p, omp_default_mem_alloc);
  p = omp_calloc(100, 4, omp_null_allocator);
  for (int i = 0; i < 100; i++) CHECK(p[i] == 0, "omp_calloc: %d", p[i]);
  omp_free(p, omp_null_allocator);
  for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
    void* q = omp_aligned_alloc(alignment, alignment * 3, omp_default_mem_alloc);
    CHECK(q != NULL && (uintptr_t)q % alignment == 0, "omp_aligned_alloc(%zu): %p", alignment, q);
    omp_free(q, omp_default_mem_alloc);
  }
  const omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}, {omp_atk_pool_size, 1 << 16}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 3, traits);
  CHECK(pool != omp_null_allocator, "omp_init_allocator");
  void* q = omp_alloc(1000, pool);
  CHECK(q != NULL && (uintptr_t)q % 256 == 0, "an allocator with alignment 256 gives %p", q);
  CHECK(omp_alloc(1 << 17, pool) == NULL, "more than the pool has");
  omp_free(q, pool);
  omp_destroy_allocator(pool);
  int x = 5;
#pragma omp parallel num_threads(2) firstprivate(x) allocate(omp_default_mem_alloc : x)
  CHECK(x == 5, "an allocated private variable is %d", x);
}

int main(void) {
  outside();
  if (getenv("OMP_SCHEDULE") == NULL) usual_schedule();
  settings();
  inside();
  memory();
  outside();
  return finish();
}
