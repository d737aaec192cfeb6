// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What hand_written_rows.cl and hand_written_products.cl share: the peers of program_code.py.
//
// -D TYPE=16 (f16) or 32 (f32) is the type of tensors; -D FUSED allows to round products and sums
// of them once. Subgroups of 16; what is not elementwise is computed in f32. No kernel tests
// whether its rows and columns exist where the rows of the bench have sizes that its tiles divide.
#define SUBGROUP __attribute__((intel_reqd_sub_group_size(16)))
#define WORKGROUP(n) __attribute__((reqd_work_group_size(16 * (n), 1, 1)))
#define UNROLL(n) __attribute__((opencl_unroll_hint(n)))
#define WHOLLY __attribute__((opencl_unroll_hint))

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
