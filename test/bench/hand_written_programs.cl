// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an expert writes in OpenCL C for the kernels of schedules/elementwise.mlir, rows.mlir and
// attention.mlir: the peer of program_code.py.
//
// -D TYPE=16 (f16) or 32 (f32), of tensors; -D CHAIN, CHAIN_ODD, SOFTMAX, LONG_SOFTMAX, LAYER_NORM,
// LONG_NORM, ROW_SUM, TRANSPOSE, CONVOLUTION, MAX_POOL, ATTENTION, PERCEPTRON, STAGED_MATMUL
// chooses the kernel; -D FUSED allows to round products and sums of them once, -D KEEP_NAN keeps
// NaN in maxima of MAX_POOL. Subgroups of 16; what is not elementwise is computed in f32. No kernel
// tests whether its rows and columns exist where program_code_kernels.py has sizes that its tiles
// divide.
#define SUBGROUP __attribute__((intel_reqd_sub_group_size(16)))
#define WORKGROUP(n) __attribute__((reqd_work_group_size(16 * (n), 1, 1)))
#define UNROLL(n) __attribute__((opencl_unroll_hint(n)))

#ifndef FUSED
#pragma OPENCL FP_CONTRACT OFF
#endif

#if TYPE == 16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half element;
typedef half4 element4;
typedef half8 element8;
#define READ8(p) as_half8(intel_sub_group_block_read_us8((const __global ushort *)(p)))
#define WRITE8(p, v) intel_sub_group_block_write_us8((__global ushort *)(p), as_ushort8(v))
#define FLOAT8(v) convert_float8(v)
#define ELEMENT8(v) convert_half8(v)
#else
typedef float element;
typedef float4 element4;
typedef float8 element8;
#define READ8(p) as_float8(intel_sub_group_block_read8((const __global uint *)(p)))
#define WRITE8(p, v) intel_sub_group_block_write8((__global uint *)(p), as_uint8(v))
#define FLOAT8(v) (v)
#define ELEMENT8(v) (v)
#endif

static int subgroup(void) {
  return get_group_id(0) * (get_local_size(0) / 16) + get_sub_group_id();
}

static float sum_of(float8 v) {
  float4 four = v.lo + v.hi;
  float2 two = four.lo + four.hi;
  return sub_group_reduce_add(two.x + two.y);
}

static float max_of(float8 v) {
  float4 four = fmax(v.lo, v.hi);
  float2 two = fmax(four.lo, four.hi);
  return sub_group_reduce_max(fmax(two.x, two.y));
}

#define STEPS(x, row, column)                                                                      \
  (fmin(fmax((x) * (row) + (column) - (element)0.5f, (element)0), (element)6) * (x))

#ifdef CHAIN
// A subgroup has PARTS times 128 elements of a row.
#define PARTS 4
SUBGROUP WORKGROUP(8) __kernel void chain(const __global element *x, const __global element *r,
                                          const __global element *c, __global element *y) {
  int row = subgroup() / (N / (128 * PARTS)),
      column = subgroup() % (N / (128 * PARTS)) * 128 * PARTS;
  element each = c[row];
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    element8 v = READ8(x + row * N + column + i * 128), w = READ8(r + column + i * 128);
    WRITE8(y + row * N + column + i * 128, STEPS(v, w, each));
  }
}
#endif

#ifdef CHAIN_ODD
// A lane has 4 neighbours, a subgroup 8 rows of 64 columns, the last ones those before the edge:
// some are computed twice.
SUBGROUP WORKGROUP(1) __kernel void chain(const __global element *x, const __global element *r,
                                          const __global element *c, __global element *y) {
  int row = min((int)get_group_id(1) * 8, M - 8);
  int column = min((int)get_group_id(0) * 64, N - 64) + (int)get_sub_group_local_id() * 4;
  element4 w = vload4(0, r + column);
  const __global element *from = x + row * N + column;
  __global element *to = y + row * N + column;
  UNROLL(8)
  for (int i = 0; i < 8; ++i)
    vstore4(STEPS(vload4(0, from + i * N), w, c[row + i]), 0, to + i * N);
}
#endif

#if defined(SOFTMAX) || defined(LAYER_NORM) || defined(ROW_SUM)
// A subgroup has a row of N = 1024 elements in registers.
#define PARTS (N / 128)
#endif

#if defined(LONG_SOFTMAX) || defined(LONG_NORM)
// A subgroup has a block of 1024 elements of a row in registers; a kernel between both, which makes
// statistics of rows of those of blocks, is small.
#define PARTS 8
#define BLOCK (PARTS * 128)
#define ROW (subgroup() / (N / BLOCK))
#endif

#ifdef LONG_SOFTMAX
SUBGROUP WORKGROUP(1) __kernel
    void softmax_blocks(const __global element *x, __global float *most, __global float *sum) {
  x += subgroup() * BLOCK;
  float8 v[PARTS], tops, sums = 0;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) v[i] = FLOAT8(READ8(x + i * 128));
  tops = v[0];
  UNROLL(PARTS) for (int i = 1; i < PARTS; ++i) tops = fmax(tops, v[i]);
  float top = max_of(tops);
  UNROLL(PARTS)
  for (int i = 0; i < PARTS; ++i)
    sums += native_exp2((v[i] - top) * 1.44269504f);
  most[subgroup()] = top;
  sum[subgroup()] = sum_of(sums);
}

SUBGROUP WORKGROUP(1) __kernel
    void softmax_rows(const __global element *x, const __global float *most,
                      const __global float *sum, __global element *y) {
  float top = most[ROW], scale = native_recip(sum[ROW]);
  x += subgroup() * BLOCK;
  y += subgroup() * BLOCK;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    float8 v = native_exp2((FLOAT8(READ8(x + i * 128)) - top) * 1.44269504f) * scale;
    WRITE8(y + i * 128, ELEMENT8(v));
  }
}
#endif

#ifdef LONG_NORM
SUBGROUP WORKGROUP(1) __kernel
    void norm_blocks(const __global element *x, __global float *sum, __global float *square) {
  x += subgroup() * BLOCK;
  float8 v[PARTS], sums = 0, squares = 0;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) sums += v[i] = FLOAT8(READ8(x + i * 128));
  float all = sum_of(sums), mean = all * (1.0f / BLOCK);
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    v[i] -= mean;
    squares += v[i] * v[i];
  }
  sum[subgroup()] = all;
  square[subgroup()] = sum_of(squares);
}

SUBGROUP WORKGROUP(1) __kernel
    void norm_rows(const __global element *x, const __global element *gain,
                   const __global element *bias, const __global float *sum,
                   const __global float *square, __global element *y) {
  float mean = sum[ROW] * (1.0f / N), scale = rsqrt(square[ROW] * (1.0f / N) + 1e-5f);
  int column = subgroup() % (N / BLOCK) * BLOCK;
  x += subgroup() * BLOCK;
  y += subgroup() * BLOCK;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    int at = column + i * 128;
    float8 v = (FLOAT8(READ8(x + i * 128)) - mean) * scale * FLOAT8(READ8(gain + at)) +
               FLOAT8(READ8(bias + at));
    WRITE8(y + i * 128, ELEMENT8(v));
  }
}
#endif

#ifdef SOFTMAX
SUBGROUP WORKGROUP(1) __kernel void softmax(const __global element *x, __global element *y) {
  x += subgroup() * N;
  y += subgroup() * N;
  float8 v[PARTS];
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) v[i] = FLOAT8(READ8(x + i * 128));
  float8 most = v[0];
  UNROLL(PARTS) for (int i = 1; i < PARTS; ++i) most = fmax(most, v[i]);
  float top = max_of(most);
  float8 sums = 0;
#ifdef POWERS_OF_2
  float below = -top * 1.44269504f;
  UNROLL(PARTS)
  for (int i = 0; i < PARTS; ++i)
    sums += v[i] = native_exp2(fma(v[i], 1.44269504f, below));
  float scale = native_recip(sum_of(sums));
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) WRITE8(y + i * 128, ELEMENT8(v[i] * scale));
#else
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) sums += v[i] = exp(v[i] - top);
  float sum = sum_of(sums);
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) WRITE8(y + i * 128, ELEMENT8(v[i] / sum));
#endif
}
#endif

#ifdef LAYER_NORM
SUBGROUP WORKGROUP(1) __kernel
    void layer_norm(const __global element *x, const __global element *gain,
                    const __global element *bias, __global element *y) {
  x += subgroup() * N;
  y += subgroup() * N;
  float8 v[PARTS], sums = 0, squares = 0;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) sums += v[i] = FLOAT8(READ8(x + i * 128));
  float mean = sum_of(sums) * (1.0f / N);
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    v[i] -= mean;
    squares += v[i] * v[i];
  }
  float scale = rsqrt(sum_of(squares) * (1.0f / N) + 1e-5f);
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    float8 result = v[i] * scale * FLOAT8(READ8(gain + i * 128)) + FLOAT8(READ8(bias + i * 128));
    WRITE8(y + i * 128, ELEMENT8(result));
  }
}
#endif

#ifdef ROW_SUM
SUBGROUP WORKGROUP(1) __kernel void row_sum(const __global element *x, __global element *y) {
  x += subgroup() * N;
  float8 sums = 0;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) sums += FLOAT8(READ8(x + i * 128));
  float sum = sum_of(sums);
  if (get_sub_group_local_id() == 0)
    y[subgroup()] = (element)sum;
}
#endif

#ifdef TRANSPOSE
// A subgroup has 16 x 16 elements; a lane reads 16 of a row and writes them down a column.
SUBGROUP WORKGROUP(8) __kernel void transpose(const __global element *x, __global element *y) {
  int row = subgroup() / (N / 16) * 16, column = subgroup() % (N / 16) * 16,
      lane = get_sub_group_local_id();
#if TYPE == 16
  half16 v = vload16(0, x + (row + lane) * N + column);
#else
  float16 v = vload16(0, x + (row + lane) * N + column);
#endif
  __private element *each = (__private element *)&v;
  UNROLL(16) for (int i = 0; i < 16; ++i) y[(column + i) * M + row + lane] = each[i];
}
#endif

#ifdef CONVOLUTION
// SIZE x SIZE windows of channels last, STRIDE; a subgroup has PIXELS results of a row, with
// COLUMNS channels each. What windows share comes from the cache.
#define PITCH ((W - 1) * STRIDE + 3)
#if TYPE == 16
#define PIXELS 32
#define COLUMNS 64
SUBGROUP WORKGROUP(1) __kernel
    void convolution(__global ushort *x, __global ushort *k, __global float *y) {
  int w = get_group_id(0) % (W / PIXELS) * PIXELS, h = get_group_id(0) / (W / PIXELS),
      image = get_group_id(1);
  x += image * ((H - 1) * STRIDE + 3) * PITCH * C;
  float8 sum[PIXELS / 8][COLUMNS / 16];
  for (int m = 0; m < PIXELS / 8; ++m)
    for (int n = 0; n < COLUMNS / 16; ++n)
      sum[m][n] = 0;
  UNROLL(1)
  for (int c = 0; c < C; c += 32)
    UNROLL(1) for (int p = 0; p < 3; ++p) UNROLL(1) for (int q = 0; q < 3; ++q) {
      short8 left[2][PIXELS / 8];
      ushort rows[2][PIXELS];
      int8 right[2][COLUMNS / 16];
#if STRIDE == 1
      // Pixels of a row of the image are rows of a matrix.
      intel_sub_group_2d_block_read_16b_32r16x2c(x + (h + p) * PITCH * C, C * 2, PITCH, C * 2,
                                                 (int2)(c, w + q), rows[0]);
#else
      // Every other pixel: pairs of them are rows of a matrix.
      intel_sub_group_2d_block_read_16b_32r16x2c(x + (h * 2 + p) * PITCH * C, C * 4,
                                                 (PITCH + 1) / 2, C * 4,
                                                 (int2)(c + q % 2 * C, w + q / 2), rows[0]);
#endif
      for (int part = 0; part < 2; ++part)
        for (int m = 0; m < PIXELS / 8; ++m)
          left[part][m] = *(__private short8 *)(rows[part] + m * 8);
      for (int pair = 0; pair < COLUMNS / 32; ++pair) {
        uint columns[2][2][8];
        intel_sub_group_2d_block_read_transform_16b_32r16x2c(
            k, F * 2, 9 * C, F * 2, (int2)(pair * 32, (p * 3 + q) * C + c), columns[0][0]);
        for (int n = 0; n < 2; ++n)
          for (int part = 0; part < 2; ++part)
            right[part][pair * 2 + n] = *(__private int8 *)columns[n][part];
      }
      for (int part = 0; part < 2; ++part)
        for (int m = 0; m < PIXELS / 8; ++m)
          for (int n = 0; n < COLUMNS / 16; ++n)
            sum[m][n] =
                intel_sub_group_f16_f16_matrix_mad_k16(left[part][m], right[part][n], sum[m][n]);
    }
  y += (image * H + h) * W * F;
  for (int m = 0; m < PIXELS / 8; ++m)
    for (int n = 0; n < COLUMNS / 16; ++n) {
      uint block[8];
      *(__private float8 *)block = sum[m][n];
      intel_sub_group_2d_block_write_32b_8r16x1c(y, F * 4, W, F * 4, (int2)(n * 16, w + m * 8),
                                                 block);
    }
}
#else
// Exactly: a lane has COLUMNS / 16 channels of PIXELS results; elements of x are the same for all
// lanes.
#define PIXELS 32
#define COLUMNS 32
SUBGROUP WORKGROUP(1) __kernel
    void convolution(const __global float *x, const __global float *k, __global float *y) {
  int part = get_group_id(0) % (F / COLUMNS) * COLUMNS;
  int w = get_group_id(0) / (F / COLUMNS) % (W / PIXELS) * PIXELS,
      h = get_group_id(0) / (F / COLUMNS) / (W / PIXELS);
  x += (get_group_id(1) * ((H - 1) * STRIDE + 3) + h * STRIDE) * PITCH * C;
  float sum[PIXELS][COLUMNS / 16];
  for (int m = 0; m < PIXELS; ++m)
    for (int n = 0; n < COLUMNS / 16; ++n)
      sum[m][n] = 0;
  UNROLL(1)
  for (int p = 0; p < 3; ++p)
    UNROLL(1) for (int q = 0; q < 3; ++q) UNROLL(1) for (int c = 0; c < C; c += 16) {
      uint left[PIXELS];
#if STRIDE == 1
      intel_sub_group_2d_block_read_32b_32r16x1c((__global void *)(x + p * PITCH * C), C * 4, PITCH,
                                                 C * 4, (int2)(c, w + q), left);
#else
      intel_sub_group_2d_block_read_32b_32r16x1c((__global void *)(x + p * PITCH * C), C * 8,
                                                 (PITCH + 1) / 2, C * 8,
                                                 (int2)(c + q % 2 * C, w + q / 2), left);
#endif
      UNROLL(16) for (int i = 0; i < 16; ++i) {
        float2 right = as_float2(intel_sub_group_block_read2(
            (const __global uint *)(k + ((p * 3 + q) * C + c + i) * F + part)));
        UNROLL(PIXELS) for (int m = 0; m < PIXELS; ++m) {
          float each = sub_group_broadcast(as_float(left[m]), i);
          sum[m][0] = fma(each, right.x, sum[m][0]);
          sum[m][1] = fma(each, right.y, sum[m][1]);
        }
      }
    }
  y += ((get_group_id(1) * H + h) * W + w) * F + part;
  for (int m = 0; m < PIXELS; ++m)
    intel_sub_group_block_write2((__global uint *)(y + m * F),
                                 as_uint2((float2)(sum[m][0], sum[m][1])));
}
#endif
#endif

#ifdef MAX_POOL
// Windows of 2 x 2 in planes of 2 H x 2 W; a subgroup has 8 rows. A maximum of fmax drops NaN: a
// lane has a column of it. With -D KEEP_NAN it is kept, as PyTorch has it, where a sum of
// magnitudes is NaN; a lane has two columns then, whose loads are 16 bytes of f32.
#if TYPE == 16
typedef half2 element2;
#else
typedef float2 element2;
#endif
#ifdef KEEP_NAN
// Folded to a modifier of operands, which fabs is not.
static element magnitude(element x) { return x <= (element)0 ? (element)0 - x : x; }
static element most(element2 above, element2 below) {
  element sum = magnitude(above.x) + magnitude(above.y) + magnitude(below.x) + magnitude(below.y);
  return sum >= (element)0 ? fmax(fmax(above.x, above.y), fmax(below.x, below.y)) : sum;
}
SUBGROUP WORKGROUP(1) __kernel void max_pool(const __global element *x, __global element *y) {
  int column = get_group_id(0) * 32 + get_sub_group_local_id() * 2, row = get_group_id(1) * 8,
      plane = get_group_id(2);
  const __global element4 *from =
      (const __global element4 *)(x + (plane * 2 * H + row * 2) * 2 * W + column * 2);
  __global element2 *to = (__global element2 *)(y + (plane * H + row) * W + column);
  UNROLL(8) for (int i = 0; i < 8; ++i) {
    element4 above = from[i * W], below = from[i * W + W / 2];
    to[i * W / 2] = (element2)(most(above.lo, below.lo), most(above.hi, below.hi));
  }
}
#else
SUBGROUP WORKGROUP(1) __kernel void max_pool(const __global element *x, __global element *y) {
  int column = get_group_id(0) * 16 + get_sub_group_local_id(), row = get_group_id(1) * 8,
      plane = get_group_id(2);
  const __global element *from = x + (plane * 2 * H + row * 2) * 2 * W + column * 2;
  __global element *to = y + (plane * H + row) * W + column;
  UNROLL(8) for (int i = 0; i < 8; ++i) {
    element2 above = vload2(0, from + i * 4 * W), below = vload2(0, from + i * 4 * W + 2 * W);
    to[i * W] = fmax(fmax(above.x, above.y), fmax(below.x, below.y));
  }
}
#endif
#endif

#if defined(ATTENTION) || defined(PERCEPTRON)
#define WHOLLY __attribute__((opencl_unroll_hint))
#define SUBGROUPS (128 / ROWS)
#define BLOCKS (C / 16)
typedef __private short8 *rows8;
typedef __private int8 *pairs8;
#endif

#ifdef ATTENTION
// N queries and keys of C elements for each head; a subgroup has ROWS queries, scores of KEYS keys
// at a time in registers. Maxima of all rows in one tree; the matrix unit sums powers; outputs are
// rescaled each step, keys and values prefetched.

// The maximum over lanes of each of ROWS rows: lane LANE(r) has that of row r. Each step halves the
// rows: lanes with the bit go on with the second half.
#define LANE(r) ((r) * (16 / ROWS))
static float max_of_rows(float *v) {
  int lane = get_sub_group_local_id();
  WHOLLY for (int bit = 8, rows = ROWS; bit; bit /= 2) {
    if (rows == 1) {
      v[0] = fmax(v[0], intel_sub_group_shuffle_xor(v[0], bit));
      continue;
    }
    rows /= 2;
    WHOLLY for (int i = 0; i < rows; ++i) {
      float first = v[i], second = v[i + rows];
      float mine = lane & bit ? second : first, other = lane & bit ? first : second;
      v[i] = fmax(mine, intel_sub_group_shuffle_xor(other, bit));
    }
  }
  return v[0];
}

SUBGROUP WORKGROUP(SUBGROUPS)
__kernel void attention(__global ushort *q, __global ushort *k, __global ushort *v,
                        __global float *o) {
  int head = get_group_id(1), row = get_group_id(0) * 128 + get_sub_group_id() * ROWS;
  q += head * N * C, k += head * N * C, v += head * N * C, o += head * N * C;
  short8 left[BLOCKS][ROWS / 8];
  float8 out[ROWS / 8][BLOCKS], sums[ROWS / 8], scores[ROWS / 8][KEYS / 16];
  short8 powers[ROWS / 8][KEYS / 16];
  WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
    ushort rows[2][ROWS];
#if ROWS == 16
    intel_sub_group_2d_block_read_16b_16r16x2c(q, C * 2, N, C * 2, (int2)(c * 16, row), rows[0]);
#else
    intel_sub_group_2d_block_read_16b_8r16x2c(q, C * 2, N, C * 2, (int2)(c * 16, row), rows[0]);
#endif
    for (int i = 0; i < 2; ++i)
      for (int m = 0; m < ROWS / 8; ++m)
        left[c + i][m] = *(rows8)(rows[i] + m * 8);
  }
  float top = -1e30f;
  for (int m = 0; m < ROWS / 8; ++m) {
    sums[m] = 0;
    for (int c = 0; c < BLOCKS; ++c)
      out[m][c] = 0;
  }
  UNROLL(1) for (int key = 0; key < N; key += KEYS) {
    // Each subgroup's share of the next keys and values: 64 bytes of 8 rows at a time.
    WHOLLY for (int i = get_sub_group_id(); i < KEYS / 8 * (C / 32); i += SUBGROUPS) {
      int2 at = (int2)(i % (C / 32) * 32, key + KEYS * 2 + i / (C / 32) * 8);
      intel_sub_group_2d_block_prefetch_16b_8r16x2c(k, C * 2, N, C * 2, at);
      intel_sub_group_2d_block_prefetch_16b_8r16x2c(v, C * 2, N, C * 2, at);
    }
    WHOLLY for (int n = 0; n < KEYS / 16; ++n) {
      for (int m = 0; m < ROWS / 8; ++m)
        scores[m][n] = 0;
      WHOLLY for (int c = 0; c < BLOCKS; ++c) {
        uint pairs[8];
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(k, C * 2, N, C * 2,
                                                            (int2)(c * 8, key + n * 16), pairs);
        for (int m = 0; m < ROWS / 8; ++m)
          scores[m][n] =
              intel_sub_group_f16_f16_matrix_mad_k16(left[c][m], *(pairs8)pairs, scores[m][n]);
      }
    }
    float most[ROWS];
    WHOLLY for (int r = 0; r < ROWS; ++r) {
      most[r] = scores[r / 8][0][r % 8];
      WHOLLY for (int n = 1; n < KEYS / 16; ++n) most[r] = fmax(most[r], scores[r / 8][n][r % 8]);
    }
    float now = fmax(top, max_of_rows(most) * (0.125f * 1.44269504f)),
          scale = native_exp2(top - now);
    top = now;
    WHOLLY for (int r = 0; r < ROWS; ++r) {
      float each = sub_group_broadcast(now, LANE(r)), by = sub_group_broadcast(scale, LANE(r));
      WHOLLY
      for (int n = 0; n < KEYS / 16; ++n)
        powers[r / 8][n][r % 8] =
            as_short((half)native_exp2(fma(scores[r / 8][n][r % 8], 0.125f * 1.44269504f, -each)));
      sums[r / 8][r % 8] *= by;
      WHOLLY for (int c = 0; c < BLOCKS; ++c) out[r / 8][c][r % 8] *= by;
    }
    WHOLLY for (int n = 0; n < KEYS / 16; n += 2) {
      WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
        uint columns[2][2][8];
        intel_sub_group_2d_block_read_transform_16b_32r16x2c(
            v, C * 2, N, C * 2, (int2)(c * 16, key + n * 16), columns[0][0]);
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j)
            for (int m = 0; m < ROWS / 8; ++m)
              out[m][c + j] = intel_sub_group_f16_f16_matrix_mad_k16(
                  powers[m][n + i], *(pairs8)columns[j][i], out[m][c + j]);
      }
      for (int i = 0; i < 2; ++i)
        for (int m = 0; m < ROWS / 8; ++m)
          sums[m] = intel_sub_group_f16_f16_matrix_mad_k16(powers[m][n + i], (int8)0x3c003c00,
                                                           sums[m]); // ones
    }
  }
  WHOLLY for (int r = 0; r < ROWS; ++r) WHOLLY for (int c = 0; c < BLOCKS; ++c)
      out[r / 8][c][r % 8] /= sums[r / 8][r % 8];
  for (int m = 0; m < ROWS / 8; ++m)
    for (int c = 0; c < BLOCKS; ++c) {
      uint block[8];
      *(__private float8 *)block = out[m][c];
      intel_sub_group_2d_block_write_32b_8r16x1c(o, C * 4, N, C * 4, (int2)(c * 16, row + m * 8),
                                                 block);
    }
}
#endif

#ifdef PERCEPTRON
// max(X W, 0) V of M rows with C inputs, N hidden values and C results; a subgroup has ROWS rows,
// hidden values of KEYS at a time in registers.
SUBGROUP WORKGROUP(SUBGROUPS)
__kernel void perceptron(__global ushort *x, __global ushort *w, __global ushort *v,
                         __global float *y) {
  int row = get_group_id(0) * 128 + get_sub_group_id() * ROWS;
  short8 left[BLOCKS][ROWS / 8];
  float8 out[ROWS / 8][BLOCKS], sums[ROWS / 8][KEYS / 16];
  short8 hidden[ROWS / 8][KEYS / 16];
  WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
    ushort rows[2][ROWS];
    intel_sub_group_2d_block_read_16b_16r16x2c(x, C * 2, M, C * 2, (int2)(c * 16, row), rows[0]);
    for (int i = 0; i < 2; ++i)
      for (int m = 0; m < ROWS / 8; ++m)
        left[c + i][m] = *(rows8)(rows[i] + m * 8);
  }
  for (int m = 0; m < ROWS / 8; ++m)
    for (int c = 0; c < BLOCKS; ++c)
      out[m][c] = 0;
  UNROLL(1) for (int key = 0; key < N; key += KEYS) {
    // Each subgroup's share of the weights that follow: 64 bytes of 8 rows at a time.
    WHOLLY for (int i = get_sub_group_id(); i < KEYS / 32 * (C / 8); i += SUBGROUPS)
        intel_sub_group_2d_block_prefetch_16b_8r16x2c(
            w, N * 2, C, N * 2, (int2)(key + KEYS * 2 + i % (KEYS / 32) * 32, i / (KEYS / 32) * 8));
    WHOLLY for (int i = get_sub_group_id(); i < KEYS / 8 * (C / 32); i += SUBGROUPS)
        intel_sub_group_2d_block_prefetch_16b_8r16x2c(
            v, C * 2, N, C * 2, (int2)(i % (C / 32) * 32, key + KEYS * 2 + i / (C / 32) * 8));
    WHOLLY for (int n = 0; n < KEYS / 16; n += 2) {
      for (int m = 0; m < ROWS / 8; ++m)
        sums[m][n] = sums[m][n + 1] = 0;
      WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
        uint columns[2][2][8];
        intel_sub_group_2d_block_read_transform_16b_32r16x2c(
            w, N * 2, C, N * 2, (int2)(key + n * 16, c * 16), columns[0][0]);
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j)
            for (int m = 0; m < ROWS / 8; ++m)
              sums[m][n + j] = intel_sub_group_f16_f16_matrix_mad_k16(
                  left[c + i][m], *(pairs8)columns[j][i], sums[m][n + j]);
      }
    }
    WHOLLY for (int r = 0; r < ROWS; ++r) WHOLLY for (int n = 0; n < KEYS / 16; ++n)
        hidden[r / 8][n][r % 8] = as_short((half)fmax(sums[r / 8][n][r % 8], 0));
    WHOLLY for (int n = 0; n < KEYS / 16; n += 2) WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
      uint columns[2][2][8];
      intel_sub_group_2d_block_read_transform_16b_32r16x2c(
          v, C * 2, N, C * 2, (int2)(c * 16, key + n * 16), columns[0][0]);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          for (int m = 0; m < ROWS / 8; ++m)
            out[m][c + j] = intel_sub_group_f16_f16_matrix_mad_k16(
                hidden[m][n + i], *(pairs8)columns[j][i], out[m][c + j]);
    }
  }
  for (int m = 0; m < ROWS / 8; ++m)
    for (int c = 0; c < BLOCKS; ++c) {
      uint block[8];
      *(__private float8 *)block = out[m][c];
      intel_sub_group_2d_block_write_32b_8r16x1c(y, C * 4, M, C * 4, (int2)(c * 16, row + m * 8),
                                                 block);
    }
}
#endif

#ifdef STAGED_MATMUL
// C = A B + C of N x N elements. A step of 32 along k goes through a ring of two buffers in shared
// memory, in the order of the matrix unit's registers: of A blocks of 8x16, of B blocks of 16x16 in
// pairs of rows. A turn is two steps, so that each knows its buffer.
#define WHOLLY __attribute__((opencl_unroll_hint))
typedef __private ushort8 *rows8;
typedef __private uint8 *pairs8;

static void multiply(const __local ushort *a, const __local ushort *b, int m, int n,
                     float8 sums[4][4]) {
  WHOLLY for (int k = 0; k < 2; ++k) {
    short8 left[4];
    WHOLLY for (int i = 0; i < 4; ++i) left[i] =
        as_short8(intel_sub_group_block_read_us8(a + ((m + i) * 2 + k) * 128));
    WHOLLY for (int j = 0; j < 4; ++j) {
      const __local uint *block = (const __local uint *)(b + (k * 16 + n + j) * 256);
      int8 right = as_int8(intel_sub_group_block_read8(block));
      WHOLLY for (int i = 0; i < 4; ++i) sums[i][j] =
          intel_sub_group_f16_f16_matrix_mad_k16(left[i], right, sums[i][j]);
    }
  }
}

SUBGROUP WORKGROUP(32) __kernel
    void kernel_of(__global ushort *a, __global ushort *b, __global float *c) {
  __local ushort left[2][256 * 32], right[2][256 * 32];
  int s = get_sub_group_id(), row = get_group_id(1) * 256, column = get_group_id(0) * 256;
  int m = row + s / 4 * 32, n = column + s % 4 * 64;
  float8 sums[4][4];
  WHOLLY for (int i = 0; i < 4; ++i) WHOLLY for (int j = 0; j < 4; ++j)
      intel_sub_group_2d_block_read_32b_8r16x1c(c, N * 4, N, N * 4, (int2)(n + j * 16, m + i * 8),
                                                (__private uint *)&sums[i][j]);
  ushort rows[16];
  uint pairs[8];
#define FETCH(k)                                                                                   \
  intel_sub_group_2d_block_read_16b_8r16x2c(a, N * 2, N, N * 2, (int2)(k, row + s * 8), rows);     \
  intel_sub_group_2d_block_read_transform_16b_16r16x1c(                                            \
      b, N * 2, N, N * 2, (int2)(column + s % 16 * 16, (k) + s / 16 * 16), pairs);
#define KEEP(slot)                                                                                 \
  intel_sub_group_block_write_us8(&left[slot][s * 256], *(rows8)rows);                             \
  intel_sub_group_block_write_us8(&left[slot][s * 256 + 128], *(rows8)(rows + 8));                 \
  intel_sub_group_block_write8((__local uint *)&right[slot][s * 256], *(pairs8)pairs);
  FETCH(0) KEEP(0) UNROLL(1) for (int k = 0; k < N; k += 64) {
    barrier(CLK_LOCAL_MEM_FENCE);
    FETCH(k + 32)
    multiply(left[0], right[0], s / 4 * 4, s % 4 * 4, sums);
    KEEP(1)
    barrier(CLK_LOCAL_MEM_FENCE);
    FETCH(k + 64)
    multiply(left[1], right[1], s / 4 * 4, s % 4 * 4, sums);
    KEEP(0)
  }
  WHOLLY for (int i = 0; i < 4; ++i) WHOLLY for (int j = 0; j < 4; ++j)
      intel_sub_group_2d_block_write_32b_8r16x1c(c, N * 4, N, N * 4, (int2)(n + j * 16, m + i * 8),
                                                 (__private uint *)&sums[i][j]);
}
#endif
