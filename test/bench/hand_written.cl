// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an expert writes in OpenCL C for the tiles of schedules/matmul.mlir: the peer of machine_code.py.
//
// A workgroup of 8 x 4 subgroups has 256 x 256 elements of C, a subgroup 32 x 64 in registers. Steps along k of 32
// elements of 16 bits, or of 64 bytes; the operands of three steps ahead are prefetched, a block for each subgroup.
// -D TYPE=16 (f16), 160 (bf16), 8 (bytes); -D M= -D N= -D K=; -D TRANSPOSED for B as n x k; -D RELU for a bias for each
// column and a maximum with 0, and C from zeros. -D BATCHES= for as many products, of A with batches between rows and
// columns, and -D SPLIT= for parts of k that workgroups share, each with its sums behind those of the others; C from
// zeros. -D SOFTMAX for the softmax of rows of N elements instead.
#define SUBGROUP __attribute__((intel_reqd_sub_group_size(16)))

#ifndef SOFTMAX

#if TYPE == 8
#define BYTES 1
#define STEP 64
typedef int8 accumulator;
#define MAD intel_sub_group_i8_i8_matrix_mad_k32
#define PREFETCH_A(x, y) intel_sub_group_2d_block_prefetch_8b_8r32x1c(a, K, M, K, (int2)(x, y))
#define PREFETCH_B(x, y) intel_sub_group_2d_block_prefetch_8b_8r32x1c(b, N, K, N, (int2)(x, y))
typedef char element;
typedef int result;
#else
#define BYTES 2
#define STEP 32
typedef float8 accumulator;
#if TYPE == 16
#define MAD intel_sub_group_f16_f16_matrix_mad_k16
#else
#define MAD intel_sub_group_bf16_bf16_matrix_mad_k16
#endif
typedef ushort element;
typedef float result;
#endif

#define ROWS 32
#define COLUMNS 64
#define PARTS 2 // of a step: one multiplication each
#define AHEAD 3

#if defined(BATCHES)
#define PITCH (BATCHES * K)
#else
#define PITCH K
#endif
#if defined(SPLIT)
#define DEPTH (K / SPLIT)
#else
#define DEPTH K
#endif
#if defined(RELU) || defined(BATCHES) || defined(SPLIT)
#define FROM_ZEROS
#endif

// As much of A and of B as one subgroup prefetches for a step: 64 bytes of 8 rows of its share, B^T like A.
static void fetch(__global element *a, __global element *b, int row, int column, int k, int subgroup) {
#if TYPE == 8
  intel_sub_group_2d_block_prefetch_8b_8r32x1c(a, K, M, K, (int2)(k, row + subgroup * 8));
  intel_sub_group_2d_block_prefetch_8b_8r32x1c(a, K, M, K, (int2)(k + 32, row + subgroup * 8));
  int x = column + subgroup % 8 * 32, y = k + subgroup / 8 * 16;
  intel_sub_group_2d_block_prefetch_8b_8r32x1c(b, N, K, N, (int2)(x, y));
  intel_sub_group_2d_block_prefetch_8b_8r32x1c(b, N, K, N, (int2)(x, y + 8));
#else
  intel_sub_group_2d_block_prefetch_16b_8r16x2c(a, DEPTH * 2, M, PITCH * 2, (int2)(k, row + subgroup * 8));
#ifdef TRANSPOSED
  intel_sub_group_2d_block_prefetch_16b_8r16x2c(b, K * 2, N, K * 2, (int2)(k, column + subgroup * 8));
#else
  int x = column + subgroup % 8 * 32, y = k + subgroup / 8 * 8;
  intel_sub_group_2d_block_prefetch_16b_8r16x2c(b, N * 2, DEPTH, N * 2, (int2)(x, y));
#endif
#endif
}

SUBGROUP __attribute__((reqd_work_group_size(512, 1, 1))) __kernel void
gemm(__global element *a, __global element *b, __global result *c, __global float *bias) {
  int subgroup = get_sub_group_id();
  int row = get_group_id(1) * 256, column = get_group_id(0) * 256;
  int y = row + subgroup / 4 * ROWS, x = column + subgroup % 4 * COLUMNS;
#if defined(BATCHES)
  int batch = get_group_id(2);
  a += batch * K, b += batch * K * N, c += batch * M * N;
#elif defined(SPLIT)
  int part = get_group_id(2);
  a += part * DEPTH, b += part * DEPTH * N, c += part * M * N;
#endif
  accumulator sum[ROWS / 8][COLUMNS / 16];
  __attribute__((opencl_unroll_hint)) for (int n = 0; n < COLUMNS / 16; ++n) {
#ifdef FROM_ZEROS
    for (int m = 0; m < ROWS / 8; ++m)
      sum[m][n] = 0;
#else
    uint block[ROWS];
    intel_sub_group_2d_block_read_32b_32r16x1c(c, N * 4, M, N * 4, (int2)(x + n * 16, y), block);
    for (int m = 0; m < ROWS / 8; ++m)
      sum[m][n] = *(__private accumulator *)(block + m * 8);
#endif
  }
  for (int step = 0; step < AHEAD; ++step)
    fetch(a, b, row, column, step * STEP, subgroup);

  __attribute__((opencl_unroll_hint(1))) for (int k = 0; k < DEPTH; k += STEP) {
    fetch(a, b, row, column, k + AHEAD * STEP, subgroup);
    short8 left[PARTS][ROWS / 8];
    int8 right[PARTS][COLUMNS / 16];
#if TYPE == 8
    for (int part = 0; part < PARTS; ++part) {
      ushort rows[ROWS];
      intel_sub_group_2d_block_read_8b_32r32x1c(a, K, M, K, (int2)(k + part * 32, y), rows);
      for (int m = 0; m < ROWS / 8; ++m)
        left[part][m] = *(__private short8 *)(rows + m * 8);
      uint columns[COLUMNS / 16][8];
      intel_sub_group_2d_block_read_transform_8b_32r16x4c(b, N, K, N, (int2)(x, k + part * 32), columns[0]);
      for (int n = 0; n < COLUMNS / 16; ++n)
        right[part][n] = *(__private int8 *)columns[n];
    }
#else
    ushort rows[PARTS][ROWS];
    intel_sub_group_2d_block_read_16b_32r16x2c(a, DEPTH * 2, M, PITCH * 2, (int2)(k, y), rows[0]);
    for (int part = 0; part < PARTS; ++part)
      for (int m = 0; m < ROWS / 8; ++m)
        left[part][m] = *(__private short8 *)(rows[part] + m * 8);
#ifdef TRANSPOSED
    // Pairs of 16-bit elements as 32 bits: 16 columns of B, 16 elements along k.
    for (int part = 0; part < PARTS; ++part)
      for (int n = 0; n < COLUMNS / 16; ++n) {
        uint pairs[8];
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(b, K * 2, N, K * 2, (int2)(k / 2 + part * 8, x + n * 16),
                                                           pairs);
        right[part][n] = *(__private int8 *)pairs;
      }
#else
    for (int pair = 0; pair < COLUMNS / 32; ++pair) {
      uint columns[2][PARTS][8];
      intel_sub_group_2d_block_read_transform_16b_32r16x2c(b, N * 2, DEPTH, N * 2, (int2)(x + pair * 32, k), columns[0][0]);
      for (int n = 0; n < 2; ++n)
        for (int part = 0; part < PARTS; ++part)
          right[part][pair * 2 + n] = *(__private int8 *)columns[n][part];
    }
#endif
#endif
    for (int part = 0; part < PARTS; ++part)
      for (int m = 0; m < ROWS / 8; ++m)
        for (int n = 0; n < COLUMNS / 16; ++n)
          sum[m][n] = MAD(left[part][m], right[part][n], sum[m][n]);
  }

  for (int n = 0; n < COLUMNS / 16; ++n) {
#ifdef RELU
    float added = bias[x + n * 16 + get_sub_group_local_id()];
#endif
    for (int m = 0; m < ROWS / 8; ++m) {
#ifdef RELU
      sum[m][n] = fmax(sum[m][n] + added, 0.0f);
#endif
      uint block[8];
      *(__private accumulator *)block = sum[m][n];
      intel_sub_group_2d_block_write_32b_8r16x1c(c, N * 4, M, N * 4, (int2)(x + n * 16, y + m * 8), block);
    }
  }
}

#else

// A subgroup has 8 rows of N = 64 elements in registers, 16 lanes along a row.
SUBGROUP __attribute__((reqd_work_group_size(16, 1, 1))) __kernel void softmax(__global float *in, __global float *out) {
  int y = get_group_id(0) * 8;
  float v[N / 16][8];
  for (int n = 0; n < N / 16; ++n)
    intel_sub_group_2d_block_read_32b_8r16x1c(in, N * 4, M, N * 4, (int2)(n * 16, y), (__private uint *)v[n]);
  for (int m = 0; m < 8; ++m) {
    float top = v[0][m];
    for (int n = 1; n < N / 16; ++n)
      top = fmax(top, v[n][m]);
    top = sub_group_reduce_max(top);
    float sum = 0;
    for (int n = 0; n < N / 16; ++n)
      sum += v[n][m] = exp(v[n][m] - top);
    sum = sub_group_reduce_add(sum);
    for (int n = 0; n < N / 16; ++n)
      v[n][m] = v[n][m] / sum;
  }
  for (int n = 0; n < N / 16; ++n)
    intel_sub_group_2d_block_write_32b_8r16x1c(out, N * 4, M, N * 4, (int2)(n * 16, y), (__private uint *)v[n]);
}

#endif
