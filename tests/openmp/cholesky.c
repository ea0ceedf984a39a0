// A factorization by tiles, as in linear algebra, and a wavefront; both are compared with the loops in order.
#include "check.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { tiles = 7, size = 12, side = 25 };

typedef double tile[size][size];

static void potrf(tile a) {
  for (int k = 0; k < size; k++) {
    a[k][k] = sqrt(a[k][k]);
    for (int i = k + 1; i < size; i++) a[i][k] /= a[k][k];
    for (int j = k + 1; j < size; j++)
      for (int i = j; i < size; i++) a[i][j] -= a[i][k] * a[j][k];
  }
}
static void trsm(tile l, tile b) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) {
      double s = b[i][j];
      for (int k = 0; k < j; k++) s -= b[i][k] * l[j][k];
      b[i][j] = s / l[j][j];
    }
}
static void gemm(tile a, tile b, tile c) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      for (int k = 0; k < size; k++) c[i][j] -= a[i][k] * b[j][k];
}

static void fill(tile a[tiles][tiles]) {
  for (int i = 0; i < tiles; i++)
    for (int j = 0; j < tiles; j++)
      for (int x = 0; x < size; x++)
        for (int y = 0; y < size; y++) {
          const int r = i * size + x, c = j * size + y;
          a[i][j][x][y] = 1.0 / (1 + abs(r - c)) + (r == c ? tiles * size : 0);
        }
}

static void in_order(tile a[tiles][tiles]) {
  for (int k = 0; k < tiles; k++) {
    potrf(a[k][k]);
    for (int i = k + 1; i < tiles; i++) trsm(a[k][k], a[i][k]);
    for (int i = k + 1; i < tiles; i++)
      for (int j = k + 1; j <= i; j++) gemm(a[i][k], a[j][k], a[i][j]);
  }
}

static void by_tasks(tile a[tiles][tiles]) {
  for (int k = 0; k < tiles; k++) {
#pragma omp task depend(inout : a[k][k])
    potrf(a[k][k]);
    for (int i = k + 1; i < tiles; i++) {
#pragma omp task depend(in : a[k][k]) depend(inout : a[i][k])
      trsm(a[k][k], a[i][k]);
    }
    for (int i = k + 1; i < tiles; i++)
      for (int j = k + 1; j <= i; j++) {
#pragma omp task depend(in : a[i][k], a[j][k]) depend(inout : a[i][j]) priority(i == k + 1)
        gemm(a[i][k], a[j][k], a[i][j]);
      }
  }
}

static void wavefront(void) {
  static int g[side][side], s[side][side];
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) g[i][j] = s[i][j] = i == 0 || j == 0;
#pragma omp parallel
#pragma omp single
  for (int i = 1; i < side; i++)
    for (int j = 1; j < side; j++) {
#pragma omp task depend(in : g[i - 1][j], g[i][j - 1]) depend(out : g[i][j])
      g[i][j] = (g[i - 1][j] * 3 + g[i][j - 1]) % 10007;
    }
  for (int i = 1; i < side; i++)
    for (int j = 1; j < side; j++) s[i][j] = (s[i - 1][j] * 3 + s[i][j - 1]) % 10007;
  CHECK(memcmp(g, s, sizeof g) == 0, "the wavefront differs from the loops in order");
}

int main(void) {
  static tile a[tiles][tiles], b[tiles][tiles];
  fill(a);
  in_order(a);
  for (int round = 0; round < 3; round++) {
    fill(b);
#pragma omp parallel
#pragma omp master
    by_tasks(b);
    CHECK(memcmp(a, b, sizeof a) == 0, "the factorization by tasks differs from the one in order");
  }
  wavefront();
  return finish();
}
