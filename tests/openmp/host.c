// teams, distribute and target on a machine without an accelerator: the host runs them.
#include "check.h"

#include <omp.h>

enum { n = 500 };

int main(void) {
  static int a[n], b[n], times[n];
  for (int i = 0; i < n; i++) b[i] = i;
  int teams = 0, members = 0;
#pragma omp teams num_teams(3) thread_limit(4) reduction(+ : teams)
  {
    CHECK(omp_get_team_num() >= 0 && omp_get_team_num() < omp_get_num_teams(), "team %d of %d", omp_get_team_num(), omp_get_num_teams());
    teams++;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      members++;
    }
  }
  CHECK(teams >= 1 && teams <= 3 && members >= teams && members <= 2 * teams, "%d teams, %d members", teams, members);
#pragma omp teams distribute parallel for
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    times[i]++;
  }
  for (int i = 0; i < n; i++) CHECK(times[i] == 1, "iteration %d ran %d times", i, times[i]);

  int sum = 0;
#pragma omp target map(tofrom : a, sum) map(to : b)
  for (int i = 0; i < n; i++) {
    a[i] = 2 * b[i];
    sum += a[i];
  }
  CHECK(sum == n * (n - 1) && a[7] == 14, "target: %d", sum);
#pragma omp target data map(tofrom : a)
  {
#pragma omp target teams distribute parallel for map(tofrom : a)
    for (int i = 0; i < n; i++) a[i]++;
#pragma omp target update from(a)
  }
#pragma omp target enter data map(to : a)
#pragma omp target exit data map(from : a)
  for (int i = 0; i < n; i++) CHECK(a[i] == 2 * i + 1, "target data: %d at %d", a[i], i);
#ifdef __clang__  // which may have it there; GCC's `teams` asks for the numbers of its own thread
  int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp masked
#pragma omp target teams num_teams(2) reduction(+ : inside) map(tofrom : inside)
  {
    CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0, "a team in a region: thread %d of %d", omp_get_thread_num(), omp_get_num_threads());
    inside++;
  }
  CHECK(inside == 2, "teams in a region: %d", inside);
#endif
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait depend(out : done) map(tofrom : done)
    done = 1;
#pragma omp task depend(inout : done) shared(done)
    done += 1;
#pragma omp taskwait
  }
  CHECK(done == 2, "target nowait: %d", done);
  return finish();
}
