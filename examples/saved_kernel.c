// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A saved kernel in a C program, for any target.
//
//   xetile compile schedules/payloads/matmul_f16.mlir --target cpu -o matmul.so
//   xetile compile schedules/payloads/matmul_f16.mlir --target cpu -o matmul.h
//   cc examples/saved_kernel.c -I. ./matmul.so -Wl,-rpath,'$ORIGIN' -o saved_kernel
//
// The system's loader does not look at the digest that the file has, as xetile.load does. After a
// copy over a network, say:
//   python -c 'import xetile; xetile.load("matmul.so")'
#include "matmul.h"
#include <stdio.h>
#include <stdlib.h>

enum { M = 1024, N = 1024, K = 1024 };

int main(void) {
  uint16_t *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b); // f16 as bits
  float *c = malloc(M * N * sizeof *c), *d = malloc(M * N * sizeof *d);
  if (!a || !b || !c || !d)
    return 1;
  for (int i = 0; i < M * K; ++i)
    a[i] = 0x3c00; // 1.0
  for (int i = 0; i < K * N; ++i)
    b[i] = 0x4000; // 2.0
  for (int i = 0; i < M * N; ++i)
    c[i] = (float)i;

  xetile_memref2d da = xetile_dense2d(a, M, K), db = xetile_dense2d(b, K, N);
  xetile_memref2d dc = xetile_dense2d(c, M, N), dd = xetile_dense2d(d, M, N);
  const char *wrong = matmul_checked(&da, &db, &dc, &dd);
  if (wrong) {
    fprintf(stderr, "%s\n", wrong);
    return 1;
  }
  for (int i = 0; i < M * N; ++i)
    if (d[i] != (float)(2 * K + i)) {
      fprintf(stderr, "element %d is %f, expected %d\n", i, d[i], 2 * K + i);
      return 1;
    }
  printf("%d elements are right\n", M * N);
  free(a), free(b), free(c), free(d);
  return 0;
}
