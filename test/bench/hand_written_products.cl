// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an expert writes in OpenCL C for the kernels of schedules/attention.mlir, mlp.mlir, matmul.mlir
// and the convolutions of rows.mlir.
//
// -D CONVOLUTION, ATTENTION, ROTARY_PRODUCT, PERCEPTRON, STAGED_MATMUL chooses the kernel; -D TURNED
// turns queries and keys of an attention by the angles of their places, -D GATED has a gate for the
// hidden values of a perceptron.
#include "hand_written.h"

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

#if defined(ATTENTION) || defined(ROTARY_PRODUCT) || defined(PERCEPTRON)
#define SUBGROUPS (128 / ROWS)
#define BLOCKS (C / 16)
// The subgroup's `out`, ROWS from `row` on, to a matrix of f32 of `height` rows and C columns.
#define WRITE_ROWS(matrix, height)                                                                 \
  for (int m = 0; m < ROWS / 8; ++m)                                                               \
    for (int c = 0; c < BLOCKS; ++c) {                                                             \
      uint block[8];                                                                               \
      *(__private float8 *)block = out[m][c];                                                      \
      intel_sub_group_2d_block_write_32b_8r16x1c(matrix, C * 4, height, C * 4,                     \
                                                 (int2)(c * 16, row + m * 8), block);              \
    }
typedef __private short8 *rows8;
typedef __private int8 *pairs8;
#endif

#if defined(TURNED) || defined(ROTARY_PRODUCT)
// Rotary embedding: x cos + (-high, low) sin of heads of C elements, in f16, angles of N places.
// ROWS rows as the left operand of products: a block has 16 elements of 8 rows.
static void turn_rows(short8 left[BLOCKS][ROWS / 8], __global float *cosines, __global float *sines,
                      int row) {
  WHOLLY for (int c = 0; c < BLOCKS / 2; ++c) WHOLLY for (int m = 0; m < ROWS / 8; ++m) {
    float8 turns[2][2];
    WHOLLY for (int i = 0; i < 2; ++i) {
      int2 at = (int2)((c + i * (BLOCKS / 2)) * 16, row + m * 8);
      intel_sub_group_2d_block_read_32b_8r16x1c(cosines, C * 4, N, C * 4, at,
                                                (__private uint *)&turns[i][0]);
      intel_sub_group_2d_block_read_32b_8r16x1c(sines, C * 4, N, C * 4, at,
                                                (__private uint *)&turns[i][1]);
    }
    float8 low = convert_float8(as_half8(left[c][m])),
           high = convert_float8(as_half8(left[c + BLOCKS / 2][m]));
    left[c][m] = as_short8(convert_half8(low * turns[0][0] - high * turns[0][1]));
    left[c + BLOCKS / 2][m] = as_short8(convert_half8(high * turns[1][0] + low * turns[1][1]));
  }
}

// 16 keys as the right operand: a lane has a key, a register two of its 16 elements in a block.
static void turn_keys(int8 pairs[BLOCKS], __global float *cosines, __global float *sines, int key) {
  WHOLLY for (int c = 0; c < BLOCKS / 2; ++c) {
    half16 lows = as_half16(pairs[c]), highs = as_half16(pairs[c + BLOCKS / 2]);
    half8 turned[2][2];
    WHOLLY for (int part = 0; part < 2; ++part) {
      float8 turns[2][2];
      WHOLLY for (int i = 0; i < 2; ++i) {
        int2 at = (int2)((c + i * (BLOCKS / 2)) * 16 + part * 8, key);
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(cosines, C * 4, N, C * 4, at,
                                                            (__private uint *)&turns[i][0]);
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(sines, C * 4, N, C * 4, at,
                                                            (__private uint *)&turns[i][1]);
      }
      float8 low = convert_float8(part ? lows.hi : lows.lo),
             high = convert_float8(part ? highs.hi : highs.lo);
      turned[0][part] = convert_half8(low * turns[0][0] - high * turns[0][1]);
      turned[1][part] = convert_half8(high * turns[1][0] + low * turns[1][1]);
    }
    pairs[c] = as_int8((half16)(turned[0][0], turned[0][1]));
    pairs[c + BLOCKS / 2] = as_int8((half16)(turned[1][0], turned[1][1]));
  }
}
#endif

#ifdef ROTARY_PRODUCT
// Q K^T of N queries and keys of C elements for each head, both turned. A subgroup has ROWS queries
// by KEYS keys.
SUBGROUP WORKGROUP(8)
__kernel void scores_of(__global ushort *q, __global float *q_cosines, __global float *q_sines,
                        __global ushort *k, __global float *k_cosines, __global float *k_sines,
                        __global float *y) {
  int row = get_group_id(1) * 8 * ROWS + get_sub_group_id() * ROWS, first = get_group_id(0) * KEYS;
  q += get_group_id(2) * N * C, k += get_group_id(2) * N * C, y += get_group_id(2) * N * N;
  short8 left[BLOCKS][ROWS / 8];
  WHOLLY for (int c = 0; c < BLOCKS; ++c) WHOLLY for (int m = 0; m < ROWS / 8; ++m)
      intel_sub_group_2d_block_read_16b_8r16x1c(q, C * 2, N, C * 2, (int2)(c * 16, row + m * 8),
                                                (__private ushort *)&left[c][m]);
  turn_rows(left, q_cosines, q_sines, row);
  UNROLL(1) for (int key = first; key < first + KEYS; key += 16) {
    float8 sums[ROWS / 8];
    for (int m = 0; m < ROWS / 8; ++m)
      sums[m] = 0;
    int8 pairs[BLOCKS];
    WHOLLY for (int c = 0; c < BLOCKS; ++c)
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(k, C * 2, N, C * 2, (int2)(c * 8, key),
                                                            (__private uint *)&pairs[c]);
    turn_keys(pairs, k_cosines, k_sines, key);
    WHOLLY for (int c = 0; c < BLOCKS; ++c) WHOLLY for (int m = 0; m < ROWS / 8; ++m) sums[m] =
        intel_sub_group_f16_f16_matrix_mad_k16(left[c][m], pairs[c], sums[m]);
    for (int m = 0; m < ROWS / 8; ++m)
      intel_sub_group_2d_block_write_32b_8r16x1c(y, N * 4, N, N * 4, (int2)(key, row + m * 8),
                                                 (__private uint *)&sums[m]);
  }
}
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
                        __global float *o, __global float *cosines, __global float *sines) {
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
#ifdef TURNED
  turn_rows(left, cosines, sines, row);
#endif
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
      int8 pairs[BLOCKS];
#ifdef TURNED
      WHOLLY for (int c = 0; c < BLOCKS; ++c)
          intel_sub_group_2d_block_read_transpose_32b_16r8x1c(
              k, C * 2, N, C * 2, (int2)(c * 8, key + n * 16), (__private uint *)&pairs[c]);
      turn_keys(pairs, cosines, sines, key + n * 16);
#endif
      WHOLLY for (int c = 0; c < BLOCKS; ++c) {
#ifndef TURNED
        intel_sub_group_2d_block_read_transpose_32b_16r8x1c(
            k, C * 2, N, C * 2, (int2)(c * 8, key + n * 16), (__private uint *)&pairs[c]);
#endif
        for (int m = 0; m < ROWS / 8; ++m)
          scores[m][n] =
              intel_sub_group_f16_f16_matrix_mad_k16(left[c][m], pairs[c], scores[m][n]);
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
#if KEYS == 16
#define SLICES 1
#define READ_VALUES intel_sub_group_2d_block_read_transform_16b_16r16x2c
#else
#define SLICES 2
#define READ_VALUES intel_sub_group_2d_block_read_transform_16b_32r16x2c
#endif
    WHOLLY for (int n = 0; n < KEYS / 16; n += SLICES) {
      WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
        uint columns[2][SLICES][8];
        READ_VALUES(v, C * 2, N, C * 2, (int2)(c * 16, key + n * 16), columns[0][0]);
        for (int i = 0; i < SLICES; ++i)
          for (int j = 0; j < 2; ++j)
            for (int m = 0; m < ROWS / 8; ++m)
              out[m][c + j] = intel_sub_group_f16_f16_matrix_mad_k16(
                  powers[m][n + i], *(pairs8)columns[j][i], out[m][c + j]);
      }
      for (int i = 0; i < SLICES; ++i)
        for (int m = 0; m < ROWS / 8; ++m)
          sums[m] = intel_sub_group_f16_f16_matrix_mad_k16(powers[m][n + i], (int8)0x3c003c00,
                                                           sums[m]); // ones
    }
  }
  WHOLLY for (int r = 0; r < ROWS; ++r) WHOLLY for (int c = 0; c < BLOCKS; ++c)
      out[r / 8][c][r % 8] /= sums[r / 8][r % 8];
  WRITE_ROWS(o, N);
}
#endif

#ifdef PERCEPTRON
// max(X W, 0) V of M rows with C inputs, N hidden values and C results, or with a gate
// s / (1 + exp(-s)) (X U) V where s = X W; a subgroup has ROWS rows, hidden values of KEYS at a time
// in registers.
#ifdef GATED
#define LAYERS 2
#else
#define LAYERS 1
#endif
SUBGROUP WORKGROUP(SUBGROUPS)
__kernel void perceptron(__global ushort *x, __global ushort *w, __global ushort *u,
                         __global ushort *v, __global float *y) {
  int row = get_group_id(0) * 128 + get_sub_group_id() * ROWS;
  short8 left[BLOCKS][ROWS / 8];
  float8 out[ROWS / 8][BLOCKS], sums[LAYERS][ROWS / 8][KEYS / 16];
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
    WHOLLY for (int i = get_sub_group_id(); i < KEYS / 32 * (C / 8); i += SUBGROUPS) {
      int2 at = (int2)(key + KEYS * 2 + i % (KEYS / 32) * 32, i / (KEYS / 32) * 8);
      intel_sub_group_2d_block_prefetch_16b_8r16x2c(w, N * 2, C, N * 2, at);
      if (LAYERS == 2)
        intel_sub_group_2d_block_prefetch_16b_8r16x2c(u, N * 2, C, N * 2, at);
    }
    WHOLLY for (int i = get_sub_group_id(); i < KEYS / 8 * (C / 32); i += SUBGROUPS)
        intel_sub_group_2d_block_prefetch_16b_8r16x2c(
            v, C * 2, N, C * 2, (int2)(i % (C / 32) * 32, key + KEYS * 2 + i / (C / 32) * 8));
    WHOLLY for (int n = 0; n < KEYS / 16; n += 2) WHOLLY for (int l = 0; l < LAYERS; ++l) {
      for (int m = 0; m < ROWS / 8; ++m)
        sums[l][m][n] = sums[l][m][n + 1] = 0;
      WHOLLY for (int c = 0; c < BLOCKS; c += 2) {
        uint columns[2][2][8];
        intel_sub_group_2d_block_read_transform_16b_32r16x2c(
            l ? u : w, N * 2, C, N * 2, (int2)(key + n * 16, c * 16), columns[0][0]);
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j)
            for (int m = 0; m < ROWS / 8; ++m)
              sums[l][m][n + j] = intel_sub_group_f16_f16_matrix_mad_k16(
                  left[c + i][m], *(pairs8)columns[j][i], sums[l][m][n + j]);
      }
    }
    WHOLLY for (int r = 0; r < ROWS; ++r) WHOLLY for (int n = 0; n < KEYS / 16; ++n) {
      float s = sums[0][r / 8][n][r % 8];
#ifdef GATED
      float h = s * native_recip(1 + native_exp2(s * -1.44269504f)) * sums[1][r / 8][n][r % 8];
#else
      float h = fmax(s, 0);
#endif
      hidden[r / 8][n][r % 8] = as_short((half)h);
    }
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
  WRITE_ROWS(y, M);
}
#endif

#ifdef STAGED_MATMUL
// C = A B + C of N x N elements. A step of 32 along k goes through a ring of two buffers in shared
// memory: of A blocks of 8x16 in the order of the matrix unit's registers, of B blocks of 16x16 by
// columns, each of which is a lane's. A turn is two steps, so that each knows its buffer.
typedef __private ushort8 *rows8;
typedef __private uint8 *pairs8;
#define OF_A (256 * 32)
#define OF_B (256 * 16) // words

static void multiply(const __local ushort *a, const __local int *b, float8 sums[4][4]) {
  short8 left[4][2];
  WHOLLY for (int i = 0; i < 4; ++i) WHOLLY for (int k = 0; k < 2; ++k) left[i][k] =
      as_short8(intel_sub_group_block_read_us8(a + (i * 2 + k) * 128));
  WHOLLY for (int k = 0; k < 2; ++k) WHOLLY for (int j = 0; j < 4; ++j) {
    int8 right = vload8(0, b + (k * 16 + j) * 128);
    WHOLLY for (int i = 0; i < 4; ++i) sums[i][j] =
        intel_sub_group_f16_f16_matrix_mad_k16(left[i][k], right, sums[i][j]);
  }
}

SUBGROUP WORKGROUP(32) __kernel
    void kernel_of(__global ushort *a, __global ushort *b, __global float *c) {
  __local ushort left[2 * OF_A];
  __local uint right[2 * OF_B];
  int s = get_sub_group_id(), row = get_group_id(1) * 256, column = get_group_id(0) * 256;
  int m = row + s / 4 * 32, n = column + s % 4 * 64, lane = get_sub_group_local_id() * 8;
  float8 sums[4][4];
  WHOLLY for (int i = 0; i < 4; ++i) WHOLLY for (int j = 0; j < 4; ++j)
      intel_sub_group_2d_block_read_32b_8r16x1c(c, N * 4, N, N * 4, (int2)(n + j * 16, m + i * 8),
                                                (__private uint *)&sums[i][j]);
  ushort rows[16];
  uint pairs[8];
  const __local ushort *from_a = left + s / 4 * 1024;
  const __local int *from_b = (const __local int *)right + s % 4 * 512 + lane;
  __local ushort *to_a = left + s * 256;
  __local uint *to_b = right + s * 128 + lane;
#define FETCH(k)                                                                                   \
  intel_sub_group_2d_block_read_16b_8r16x2c(a, N * 2, N, N * 2, (int2)(k, row + s * 8), rows);     \
  intel_sub_group_2d_block_read_transform_16b_16r16x1c(                                            \
      b, N * 2, N, N * 2, (int2)(column + s % 16 * 16, (k) + s / 16 * 16), pairs);
#define KEEP(slot)                                                                                 \
  intel_sub_group_block_write_us8(to_a + slot * OF_A, *(rows8)rows);                               \
  intel_sub_group_block_write_us8(to_a + slot * OF_A + 128, *(rows8)(rows + 8));                   \
  vstore8(*(pairs8)pairs, 0, to_b + slot * OF_B);
  FETCH(0) KEEP(0) UNROLL(1) for (int k = 0; k < N; k += 64) {
    barrier(CLK_LOCAL_MEM_FENCE);
    FETCH(k + 32)
    multiply(from_a, from_b, sums);
    KEEP(1)
    barrier(CLK_LOCAL_MEM_FENCE);
    FETCH(k + 64)
    multiply(from_a + OF_A, from_b + OF_B, sums);
    KEEP(0)
  }
  WHOLLY for (int i = 0; i < 4; ++i) WHOLLY for (int j = 0; j < 4; ++j)
      intel_sub_group_2d_block_write_32b_8r16x1c(c, N * 4, N, N * 4, (int2)(n + j * 16, m + i * 8),
                                                 (__private uint *)&sums[i][j]);
}
#endif
