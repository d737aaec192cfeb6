// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an expert writes in OpenCL C for the kernels of schedules/elementwise.mlir, rows.mlir and
// scan.mlir that have no product.
//
// -D CHAIN, CHAIN_ODD, SOFTMAX, LONG_SOFTMAX, LAYER_NORM, RMS_NORM, GROUP_NORM, LONG_NORM, ROW_SUM,
// SCAN, ROTARY, TRANSPOSE, MAX_POOL chooses the kernel; -D KEEP_NAN keeps NaN in maxima of MAX_POOL.
#include "hand_written.h"

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

#if defined(SOFTMAX) || defined(LAYER_NORM) || defined(RMS_NORM) || defined(GROUP_NORM) ||           \
    defined(ROW_SUM)
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

#if defined(RMS_NORM) || defined(GROUP_NORM)
// Weights and results are of f32.
#define READF8(p) as_float8(intel_sub_group_block_read8((const __global uint *)(p)))
#define WRITEF8(p, v) intel_sub_group_block_write8((__global uint *)(p), as_uint8(v))
#endif

#ifdef RMS_NORM
SUBGROUP WORKGROUP(1) __kernel
    void rms_norm(const __global element *x, const __global float *gain, const __global float *bias,
                  __global float *y) {
  x += subgroup() * N;
  y += subgroup() * N;
  float8 v[PARTS], squares = 0;
  UNROLL(PARTS) for (int i = 0; i < PARTS; ++i) {
    v[i] = FLOAT8(READ8(x + i * 128));
    squares += v[i] * v[i];
  }
  float scale = rsqrt(sum_of(squares) * (1.0f / N) + 1e-5f);
  UNROLL(PARTS)
  for (int i = 0; i < PARTS; ++i)
    WRITEF8(y + i * 128, v[i] * scale * READF8(gain + i * 128) + READF8(bias + i * 128));
}
#endif

#ifdef GROUP_NORM
// A subgroup has a group of N elements, CHANNELS of them with a gain and a bias each.
SUBGROUP WORKGROUP(1) __kernel
    void group_norm(const __global element *x, const __global float *gain,
                    const __global float *bias, __global float *y) {
  int channel = subgroup() % GROUPS * CHANNELS;
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
    int at = channel + i * CHANNELS / PARTS;
    WRITEF8(y + i * 128, v[i] * scale * gain[at] + bias[at]);
  }
}
#endif

#ifdef SCAN
// A subgroup has a row of N elements, a lane 16 neighbours at a time.
SUBGROUP WORKGROUP(1) __kernel void scan(const __global float *x, __global float *y) {
  int lane = get_sub_group_local_id();
  x += subgroup() * N + lane * 16;
  y += subgroup() * N + lane * 16;
  float before = 0;
  WHOLLY for (int at = 0; at < N; at += 256) {
    float v[16];
    WHOLLY for (int i = 0; i < 4; ++i) {
      float4 four = vload4(i, x + at);
      v[i * 4] = four.x, v[i * 4 + 1] = four.y, v[i * 4 + 2] = four.z, v[i * 4 + 3] = four.w;
    }
    WHOLLY for (int i = 1; i < 16; ++i) v[i] += v[i - 1];
    float sums = sub_group_scan_inclusive_add(v[15]), less = sums - v[15] + before;
    WHOLLY for (int i = 0; i < 4; ++i)
        vstore4((float4)(v[i * 4], v[i * 4 + 1], v[i * 4 + 2], v[i * 4 + 3]) + less, i, y + at);
    before += sub_group_broadcast(sums, 15);
  }
}
#endif

#ifdef ROTARY
// Heads of C elements, in f16: x cos + (-high, low) sin. A subgroup has ROWS rows of a head.
#define HALF (C / 2)
#define READ4(p) convert_float4(as_half4(intel_sub_group_block_read_us4((__global ushort *)(p))))
#define READF4(p) as_float4(intel_sub_group_block_read4((__global uint *)(p)))
#define WRITE4(p, v)                                                                               \
  intel_sub_group_block_write_us4((__global ushort *)(p), as_ushort4(convert_half4(v)))
SUBGROUP WORKGROUP(8) __kernel void rotary(const __global half *x, const __global float *cosines,
                                           const __global float *sines, __global half *y) {
  int row = subgroup() * ROWS, place = row % M;
  UNROLL(ROWS) for (int i = 0; i < ROWS; ++i) {
    const __global half *from = x + (row + i) * C;
    const __global float *c = cosines + (place + i) * C, *s = sines + (place + i) * C;
    __global half *to = y + (row + i) * C;
    float4 low = READ4(from), high = READ4(from + HALF);
    WRITE4(to, low * READF4(c) + -high * READF4(s));
    WRITE4(to + HALF, high * READF4(c + HALF) + low * READF4(s + HALF));
  }
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
