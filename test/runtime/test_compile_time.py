# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of which the driver for CPUs has less to compile: subgroups that are not whole have a program of their own,
which is linked when it is asked for; kernels with barriers and many accesses of memory call functions for these."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from gpu_runtime import assemble, compile_opencl, instructions
from xetile import XeTileError, runtime

HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n__attribute__((intel_reqd_sub_group_size(16))) "
BYTES = {"char": 1, "half": 2, "float": 4, "int2": 8, "uint4": 16, "half16": 32, "float16": 64}
# Each thread moves 66 elements by shared memory to where the thread of the other end has its own.
MOVE = """kernel void move_@(global @ *to, global const @ *from, local @ *t) {
  int l = get_local_id(0), n = get_local_size(0), g = get_group_id(0) * n * 66;
  #pragma unroll
  for (int i = 0; i < 66; ++i) t[l + n * ((i * 7 + 3) % 66)] = from[g + l + n * i];
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll
  for (int i = 0; i < 66; ++i) to[g + l + n * i] = t[n - 1 - l + n * i];
}
"""
TURN = """__attribute__((intel_reqd_sub_group_size(16)))
kernel void turn(global int *x, local int *t) {
  int l = get_local_id(0), n = get_local_size(0), row = get_local_id(1) * n;
  int i = get_group_id(0) * n * get_local_size(1) + row + l;
  t[row + l] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[row + n - 1 - l] + 1000 * sub_group_reduce_add(1);
}
"""


@functools.cache
def module(source: str) -> runtime.Module:
    return runtime.Module(compile_opencl(source))


def turned(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Rows of each group backwards; and a thousand for each lane of the subgroup that wrote."""
    lanes = np.minimum(16, columns - np.arange(columns) // 16 * 16)
    return (x.reshape(-1, rows, columns)[:, :, ::-1] + 1000 * lanes).reshape(x.shape)


def test_kernels_that_require_a_subgroup_size_begin_with_a_branch():
    switch = 251  # OpSwitch
    assert switch in instructions(compile_opencl(TURN))
    assert switch not in instructions(compile_opencl(TURN.split("\n", 1)[1].replace("sub_group_reduce_add(1)", "1")))


@pytest.mark.parametrize("checks", ["0", "1"])
def test_subgroups_that_are_not_whole_have_a_program_of_their_own(checks, monkeypatch, rng):
    monkeypatch.setenv("XETILE_CHECK", checks)
    kernel = module(TURN)["turn"]
    for rows, columns in ((1, 32), (1, 40), (2, 16), (3, 5), (1, 48)):
        x = rng.integers(-99, 99, 4 * rows * columns).astype("i4")
        expected = turned(x, rows, columns)
        kernel[4, (columns, rows)](x, local=4 * rows * columns)
        np.testing.assert_array_equal(x, expected)


def test_programs_are_linked_when_they_are_asked_for():
    source = TURN.replace("turn", "turn_again")
    kernel = module(source)["turn_again"]

    def programs() -> int:
        stats = runtime.stats()
        return stats.programs_built + stats.disk_cache_hits

    counts = []
    for columns in (32, 16, 24, 8, 32):
        kernel[1, columns](np.zeros(columns, "i4"), local=4 * columns)
        counts.append(programs())
    assert [count - counts[0] for count in counts] == [0, 0, 1, 1, 1]


def test_checks_find_what_subgroups_that_are_not_whole_do(monkeypatch):
    monkeypatch.setenv("XETILE_CHECK", "1")
    with pytest.raises(XeTileError, match=r"'turn' .* of argument 0, which has 80 bytes"):
        module(TURN)["turn"][1, 24](np.zeros(20, "i4"), local=96)


@pytest.mark.parametrize("name", BYTES)
def test_accesses_that_become_calls(name, rng):
    program = module(HEAD + MOVE.replace("@", name))
    assert program.notes == ("rewritten OpLoad, OpStore: calls, where they are many between barriers",)
    move = program[f"move_{name}"]
    number = np.dtype(f"V{BYTES[name]}")
    bits = rng.integers(0, 256, 2 * 66 * 32 * number.itemsize, "u1")
    out = np.full_like(bits, 0xA5)
    move[2, 32](out, bits, local=bits.size // 2)
    rows = bits.view(number).reshape(2, 66, 32)
    expected = rows[:, [(i * 19 + 9) % 66 for i in range(66)]][:, :, ::-1]
    np.testing.assert_array_equal(out.view(number).reshape(2, 66, 32), expected)


# 36 times eight of what becomes a call: a load, a store, two conversions, four shuffles.
MIXED = """
#define OVERLOAD __attribute__((overloadable))
short OVERLOAD __spirv_ConvertFToBF16INTEL(float);
float OVERLOAD __spirv_ConvertBF16ToFINTEL(short);
char OVERLOAD intel_sub_group_shuffle(char, uint);
short OVERLOAD intel_sub_group_shuffle(short, uint);
int OVERLOAD intel_sub_group_shuffle(int, uint);
long OVERLOAD intel_sub_group_shuffle(long, uint);
float OVERLOAD intel_sub_group_shuffle(float, uint);
__attribute__((intel_reqd_sub_group_size(16)))
kernel void mixed(global float *x, global long *to, local int *t) {
  int l = get_local_id(0), n = get_local_size(0);
  uint there = 15 - l % 16;
  t[l] = 1000 * l;
  barrier(CLK_LOCAL_MEM_FENCE);
  int v = t[n - 1 - l] + l;
  #pragma unroll
  for (int i = 0; i < 36; ++i) {
    float y = x[l + n * i];
    short bits = intel_sub_group_shuffle(__spirv_ConvertFToBF16INTEL(y), there);
    y = intel_sub_group_shuffle(y, there ^ 1) - __spirv_ConvertBF16ToFINTEL(bits);
    x[l + n * i] = y;
    v = intel_sub_group_shuffle(v, there) + intel_sub_group_shuffle((char)(v + i), there);
  }
  to[l] = intel_sub_group_shuffle((long)v << 30, there);
}
"""


def bf16(x: np.ndarray) -> np.ndarray:
    bits = x.view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view("f4")


def test_conversions_and_shuffles_that_become_calls(rng):
    extensions = ["SPV_INTEL_bfloat16_conversion", "SPV_INTEL_subgroups"]
    program = runtime.Module(compile_opencl(MIXED, extensions, validate=False))
    assert "rewritten OpSubgroupShuffleINTEL: calls, where they are many between barriers" in program.notes
    x, to, lane = rng.standard_normal((36, 32)).astype("f4"), np.zeros(32, "i8"), np.arange(32)
    there = lane // 16 * 16 + 15 - lane % 16
    expected = x[:, there ^ 1] - bf16(x)[:, there]
    v = 1000 * (31 - lane) + lane
    for i in range(36):
        v = (v + (v + i).astype("i1"))[there]
    program["mixed"][1, 32](x, to, local=128)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(to, v[there] << 30)


# Vectors that are put together of elements of others: 72 of them, each of four loads and a store, and elements that are
# taken out, one of them at a place that is not known.
VECTORS = """
__attribute__((intel_reqd_sub_group_size(16)))
kernel void puzzle_@(global @4 *to, global const @ *x, local @ *t, int place) {
  int l = get_local_id(0), n = get_local_size(0);
  t[l] = x[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  @ own = t[n - 1 - l] + (@)sub_group_reduce_add(1);
  #pragma unroll
  for (int i = 0; i < 72; ++i) {
    global const @ *from = x + i * 4 * n + l;
    @4 a = (@4)(from[0], from[n], from[2 * n], from[3 * n]);
    @4 b = vload4(0, from);
    @8 both = (@8)(a.wzyx, b.s1302);
    both.s5 = own;
    own = both[(place + i) & 7];
    to[i * n + l] = both.s3571 + (@4)(7, 8, 9, own);
  }
}
"""


@pytest.mark.parametrize("name, dtype", [("char", "i1"), ("short", "i2"), ("float", "f4"), ("long", "i8")])
def test_vectors_that_become_calls(name, dtype, rng):
    program = module(VECTORS.replace("@", name))
    assert "rewritten OpVectorShuffle, OpComposite*: calls, where they are many between barriers" in program.notes
    x = rng.integers(-9, 9, 72 * 128 + 4).astype(dtype)
    to = np.zeros((72, 32, 4), dtype)
    program[f"puzzle_{name}"][1, 32](to, x, 3, local=32 * x.itemsize)
    lane = np.arange(32)
    own = x[31 - lane] + np.array(16, dtype)
    for i in range(72):
        at = i * 128 + lane
        both = np.stack([x[at + k] for k in (96, 64, 32, 0, 1, 3, 0, 2)])
        both[5] = own
        own = both[(3 + i) & 7]
        expected = both[[3, 5, 7, 1]] + np.stack([np.full_like(own, k) for k in (7, 8, 9)] + [own])
        np.testing.assert_array_equal(to[i], expected.T)


def wide_loads() -> str:
    """Nine loads of 32 numbers, as Triton has them; the threads store each backwards, number by number."""
    constants = [f"%n{i} = OpConstant %ulong {i}" for i in range(289)]
    body = []
    for i in range(9):
        body += [f"%at{i} = OpIAdd %ulong %start %n{32 * i}", f"%from{i} = OpInBoundsPtrAccessChain %p %from %at{i}"]
        body += [f"%place{i} = OpBitcast %pv32 %from{i}", f"%x{i} = OpLoad %v32 %place{i} Aligned 4"]
        for j in range(32):
            n = 32 * i + j
            body += [f"%two{n} = OpVectorShuffle %v2 %x{i} %x{i} {63 - j} {j}"]
            body += [f"%one{n} = OpCompositeExtract %uint %two{n} 0", f"%o{n} = OpIAdd %ulong %start %n{n}"]
            body += [f"%to{n} = OpInBoundsPtrAccessChain %p %to %o{n}", f"OpStore %to{n} %one{n} Aligned 4"]
    return "\n".join(
        [
            *(f"OpCapability {name}" for name in ("Addresses", "Kernel", "Int64", "VectorAnyINTEL")),
            'OpExtension "SPV_INTEL_vector_compute"',
            "OpMemoryModel Physical64 OpenCL",
            'OpEntryPoint Kernel %k "wide" %id',
            "OpExecutionMode %k SubgroupSize 16",
            "OpDecorate %id BuiltIn LocalInvocationId",
            *("%void = OpTypeVoid", "%uint = OpTypeInt 32 0", "%ulong = OpTypeInt 64 0"),
            *("%v3 = OpTypeVector %ulong 3", "%v2 = OpTypeVector %uint 2", "%v32 = OpTypeVector %uint 32"),
            *("%pin = OpTypePointer Input %v3", "%p = OpTypePointer CrossWorkgroup %uint"),
            *("%pv32 = OpTypePointer CrossWorkgroup %v32", "%type = OpTypeFunction %void %p %p"),
            *("%id = OpVariable %pin Input", "%scope = OpConstant %uint 2", "%order = OpConstant %uint 272"),
            *constants,
            *("%k = OpFunction %void None %type", "%to = OpFunctionParameter %p", "%from = OpFunctionParameter %p"),
            *("%entry = OpLabel", "%ids = OpLoad %v3 %id", "%lane = OpCompositeExtract %ulong %ids 0"),
            "OpControlBarrier %scope %scope %order",
            "%start = OpIMul %ulong %lane %n288",
            *body,
            *("OpReturn", "OpFunctionEnd"),
        ]
    )


def test_loads_of_long_vectors_become_calls_for_their_elements(rng):
    spirv, copy_object = assemble(wide_loads()), 83
    assert instructions(spirv).count(copy_object) == 288
    x, to = rng.integers(0, 99, (32, 9, 32)).astype("u4"), np.zeros((32, 9, 32), "u4")
    runtime.Module(spirv)["wide"][1, 32](to, x)
    np.testing.assert_array_equal(to, x[:, :, ::-1])
