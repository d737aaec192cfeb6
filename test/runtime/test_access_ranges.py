# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of XETILE_CHECK=1 whose sizes and numbers tell that their accesses lie within arrays: these have no proof by
a run. Others have one, and what goes outside is told."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from gpu_runtime import assemble, compile_opencl
from xetile import XeTileError, runtime

pytestmark = pytest.mark.usefixtures("checks")

ITEMS, GROUPS = 64, 16
ALL = ITEMS * GROUPS
LESS = ALL - 16  # elements of an array that some work-items are not to write to
REPEATED = 4
SOURCE = """__attribute__((intel_reqd_sub_group_size(16)))
kernel void k(global int *to, global const int *from, int n, int m) {{
  int i = get_global_id(0);
  {body}
}}"""


@functools.cache
def kernel(body: str) -> runtime.Kernel:
    return runtime.Module(compile_opencl(SOURCE.format(body=body)))["k"]


def launches(k: runtime.Kernel, elements: int, n: int, m: int, block: tuple[int, ...] = (ITEMS,)) -> int:
    """How often the kernel runs more than twice in a launch, of several. It writes to the inside of what is larger."""
    whole = np.full(elements + 20 * ALL, 7, "i4")
    to, count = whole[10 * ALL : 10 * ALL + elements], 0
    for _ in range(REPEATED):
        before = runtime.stats().launches
        try:
            k[ALL // int(np.prod(block)), block](to, np.ones(4 * ALL, "i4"), n, m)
        finally:
            assert (whole[: 10 * ALL] == 7).all() and (whole[10 * ALL + elements :] == 7).all()
        count += runtime.stats().launches - before - 2
    return count


KNOWN = [
    ("to[i] = from[i];", ALL, 0, 0),
    ("if (i < n) to[i] = from[i];", LESS, LESS, 0),
    ("if (n > i) to[i] = from[i];", LESS, LESS, 0),
    ("if (i <= n) to[i] = from[i];", LESS, LESS - 1, 0),
    ("if (i >= n) return; to[i] = from[i];", LESS, LESS, 0),
    ("if (!(i < n)) to[i - n] = from[i];", 16, LESS, 0),
    ("if (i > n) to[i - n - 1] = from[i];", 16, LESS - 1, 0),
    ("if (i == n) to[i - m] = from[i];", 16, 100, 90),
    ("if (i >= m && i < n) to[i - m] = from[i];", LESS - 32, LESS, 32),
    ("if (i < m || i >= n) return; to[i - m] = from[i];", LESS - 32, LESS, 32),
    ("if ((uint)i < (uint)n) to[i] = from[i];", LESS, LESS, 0),
    ("if ((uint)i <= (uint)n) to[i] = from[i];", LESS, LESS - 1, 0),
    ("size_t j = get_global_id(0); if (j < (ulong)n) to[j] = from[j];", LESS, LESS, 0),
    ("long j = i; if (j < (long)n) to[j] = from[j];", LESS, LESS, 0),
    ("if (i < n) { int j = i; if (j >= m) to[j - m] = from[j]; }", LESS - 32, LESS, 32),
    ("to[i + m] = from[i];", ALL + 32, 0, 32),
    ("to[i * m + n] = from[i];", 3 * ALL, 2, 3),
    ("to[i & n] = 3;", 512, 511, 0),
    ("to[i >> m] = 3;", 512, 0, 1),
    ("to[i << m] = from[i];", 2 * ALL, 0, 1),
    ("to[(uint)i / 2] = 3;", 512, 0, 0),
    ("to[(uint)i % 512] = 3;", 512, 0, 0),
    ("to[i / ((int)get_local_id(0) + 1)] = 3;", ALL, 0, 0),
    ("((global long *)to)[i] = from[i];", 2 * ALL, 0, 0),
    ("to[get_group_id(0) * get_local_size(0) + get_local_id(0)] = from[i];", ALL, 0, 0),
    ("to[(get_num_groups(0) - 1) * ITEMS + get_local_id(0)] = 3;".replace("ITEMS", str(ITEMS)), ALL, 0, 0),
]


@pytest.mark.parametrize(("body", "elements", "n", "m"), KNOWN)
def test_sizes_and_numbers_spare_a_run(body, elements, n, m):
    assert launches(kernel(body), elements, n, m) == 0


# One element less, or what makes the same kernels go outside.
OUTSIDE = [
    *((body, elements - 16, n, m) for body, elements, n, m in KNOWN if elements > 16 and n >= 0 and "+ 1)" not in body),
    ("if ((uint)i < (uint)n) to[i] = from[i];", LESS, -1, 0),
    ("size_t j = get_global_id(0); if (j < (ulong)n) to[j] = from[j];", LESS, -1, 0),
    ("if (i < n || i > m) to[i] = from[i];", LESS, 0, LESS - 1),
    ("if (!(i < n && i < m)) to[i] = from[i];", LESS, LESS, 2000),
    ("if (i != n) to[i] = from[i];", LESS, 5, 0),
    ("to[i + m] = from[i];", ALL, 0, -1),
    ("to[i - m] = from[i];", ALL, 0, 1),
    ("to[i * m] = from[i];", ALL, 0, -1),
    ("to[i & n] = 3;", LESS, -1, 0),
    ("to[(short)(i * 64)] = 3;", 32768, 0, 0),
    ("to[(char)i + 128] = 3; to[(long)(char)i + n] = 3;", 256, 100, 0),
    ("to[(ushort)(i - 1)] = 3;", ALL, 0, 0),
    ("to[-i] = 3;", ALL, 0, 0),
    ("((global char *)to)[i * 4 + m] = 1;", ALL, 0, 64),
    ("*(global long *)(to + i) = 1;", ALL, 0, 0),
    ("if (i <= n) to[i] = from[i];", LESS, LESS, 0),
    ("to[i * (int)get_local_id(0)] = 3;", ALL, 0, 0),
    ("to[i / ((int)get_local_id(0) + 1)] = 3;", 512, 0, 0),
    ("to[(uint)i % (uint)n] = 3;", LESS, LESS + 1, 0),
    ("to[(short)(i * 64)] = 3;", 65536, 0, 0),
    ("to[i < n ? 0 : i] = 3;", LESS, 5, 0),
    ("if (i < n) to[0] = 3; to[i] = 3;", LESS, 2000, 0),
    ("int j = 0; if (i > n) { j = i; to[1] = 3; } to[j] = 3;", LESS, 5, 0),
    ("int j = i; if (i < n) { j = 0; to[1] = 3; } to[j] = 3;", LESS, 5, 0),
    ("for (int k = 0; k < n; ++k) to[k] = 3;", LESS, LESS + 1, 0),
    ("int j = i; if (i > n) j = i + m; to[j] = from[i];", ALL, 1000, 64),
]


@pytest.mark.parametrize(("body", "elements", "n", "m"), OUTSIDE)
def test_what_goes_outside_is_told(body, elements, n, m):
    with pytest.raises(XeTileError, match="(writes to|reads from) offset"):
        launches(kernel(body), elements, n, m)


@pytest.mark.parametrize(
    ("body", "elements", "n", "m"),
    [
        ("to[i < n ? i : 0] = 3;", LESS, LESS, 0),
        ("if (i < n) to[i] = from[i];", LESS, -1, 0),
        ("if (i < n && i > m) to[i - 5000] = from[i];", LESS, 5, 10),
        ("if ((uint)(i - m) < (uint)n) to[i] = from[i];", LESS, 10, 5),
        ("for (int k = i; k < n; k += 1000) to[k] = from[k];", LESS, LESS, 0),
        ("to[i ^ n] = from[i];", ALL, 1, 0),
        ("vstore2((int2)(1, 2), i, to);", 2 * ALL, 0, 0),
        ("to[(short)(i * 32) & 1023] = 3; to[n / m] = 3;", ALL, 5, -1),
    ],
)
def test_what_is_not_known_has_its_proof_by_a_run(body, elements, n, m):
    if "n / m" in body:
        n = -5
    assert launches(kernel(body), elements, n, m) > 0


TWO = "int x = get_global_id(0), y = get_global_id(1); if (x < n && y < m) to[y * n + x] = from[x];"


@pytest.mark.parametrize("block", [(16, 8), (32, 32)])
def test_two_axes(block):
    k, (x, y) = kernel(TWO), block
    columns, rows = x * ALL // (x * y) - 3, y - 1
    rounded = -(-columns * rows // 16) * 16
    assert launches(k, rounded, columns, rows, block) == 0
    with pytest.raises(XeTileError, match="writes to offset"):
        launches(k, rounded - 16, columns, rows, block)


ASSEMBLY = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpCapability Int16
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %id
OpExecutionMode %k SubgroupSize 16
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %id Constant
%void = OpTypeVoid
%bool = OpTypeBool
%ushort = OpTypeInt 16 0
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ids = OpTypeVector %ulong 3
%ids_in = OpTypePointer Input %ids
%own = OpTypePointer Function %ulong
%ptr = OpTypePointer CrossWorkgroup %uint
%id = OpVariable %ids_in Input
%f = OpTypeFunction %void %ptr %uint
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%c0 = OpConstant %ulong 0
%c1 = OpConstant %ulong 1
%c48 = OpConstant %ulong 48
%c64 = OpConstant %ulong 64
%c100 = OpConstant %ulong 100
%c500 = OpConstant %ulong 500
%c512 = OpConstant %ulong 512
%c600 = OpConstant %ulong 600
%c1000 = OpConstant %ulong 1000
%c1023 = OpConstant %ulong 1023
%less4 = OpConstant %ulong 18446744073709551612
%s100 = OpConstant %ushort 100
%five = OpConstant %uint 5
%k = OpFunction %void None %f
%to = OpFunctionParameter %ptr
%n = OpFunctionParameter %uint
%entry = OpLabel
VARIABLES
%all = OpLoad %ids %id
%i = OpCompositeExtract %ulong %all 0
LINES
%place = OpInBoundsPtrAccessChain %ptr %to %at
OpStore %place %five Aligned 4
OpBranch %exit
%exit = OpLabel
OpReturn
OpFunctionEnd
"""
IF = "OpBranchConditional %in %then %exit\n%then = OpLabel\n"


@functools.cache
def assembled(lines: str) -> runtime.Kernel:
    text = ASSEMBLY.replace("LINES", lines.replace("; ", "\n")).replace("VARIABLES", "%kept = OpVariable %own Function")
    return runtime.Module(assemble(text))["k"]


def run_assembled(lines: str, elements: int) -> int:
    k, count = assembled(lines), 0
    whole = np.full(elements + 140 * ALL, 7, "i4")
    to = whole[70 * ALL : 70 * ALL + elements]
    for _ in range(REPEATED):
        before = runtime.stats().launches
        k[GROUPS, ITEMS](to, 0)
        count += runtime.stats().launches - before - 2
    return count


@pytest.mark.parametrize(
    ("lines", "elements"),
    [
        ("%no = OpSNegate %ulong %i; %at = OpIAdd %ulong %no %c1023", ALL),
        ("%at = OpISub %ulong %c1023 %i", ALL),
        (
            "%low = OpULessThan %bool %i %c1000; %in = OpSelect %bool %low %low %false; "
            + IF
            + "%at = OpIAdd %ulong %i %c0",
            1008,
        ),
        (
            "%high = OpUGreaterThanEqual %bool %i %c1000; %out = OpSelect %bool %high %true %high; "
            + "%in = OpLogicalNot %bool %out; "
            + IF
            + "%at = OpIAdd %ulong %i %c0",
            1008,
        ),
    ],
)
def test_instructions_that_spare_a_run(lines, elements):
    assert run_assembled(lines, elements) == 0


@pytest.mark.parametrize(
    ("lines", "elements"),
    [
        # A number without a sign is another one with more bits.
        (
            "%m = OpISub %ulong %i %c1; %h = OpUConvert %ushort %m; "
            "%u = OpUConvert %ulong %h; %at = OpIAdd %ulong %u %c1",
            ALL,
        ),
        ("%at = OpISub %ulong %c1023 %i", 1008),
        ("%m = OpISub %ulong %i %c512; %at = OpBitwiseAnd %ulong %m %less4", ALL),
        # Either is enough, or nothing is told of one.
        (
            "%low = OpULessThan %bool %i %c100; %high = OpUGreaterThan %bool %i %c600; "
            + "%in = OpSelect %bool %low %true %high; "
            + IF
            + "%at = OpIAdd %ulong %i %c0",
            1008,
        ),
        (
            "%low = OpULessThan %bool %i %c100; %big = OpULessThan %bool %i %c1000; "
            + "%in = OpSelect %bool %low %big %true; "
            + IF
            + "%at = OpIAdd %ulong %i %c0",
            1008,
        ),
        # What is compared has other bits than the place.
        (
            "%p = OpIMul %ulong %i %c64; %h = OpUConvert %ushort %p; %in = OpSLessThan %bool %h %s100; "
            + IF
            + "%at = OpIAdd %ulong %p %c0",
            1008,
        ),
        (
            "%m = OpISub %ulong %i %c512; %w = OpUConvert %uint %m; %u = OpUConvert %ulong %w; "
            + "%in = OpSGreaterThan %bool %u %c600; "
            + IF
            + "%at = OpSConvert %ulong %w",
            ALL,
        ),
        (
            "%p = OpIMul %ulong %i %c64; %l = OpShiftLeftLogical %ulong %p %c48; "
            + "%at = OpShiftRightArithmetic %ulong %l %c48",
            65536,
        ),
        # Another number in each turn.
        (
            "OpBranch %loop; %loop = OpLabel; %at = OpPhi %ulong %c0 %entry %next %back; "
            + "%more = OpULessThan %bool %at %c1023; OpBranchConditional %more %back %then; %back = OpLabel; "
            + "%next = OpIAdd %ulong %at %c1; OpBranch %loop; %then = OpLabel",
            1008,
        ),
        # Memory of a work-item's own.
        ("OpStore %kept %i; %at = OpLoad %ulong %kept", 1008),
    ],
)
def test_instructions_that_go_outside(lines, elements):
    with pytest.raises(XeTileError, match="writes to offset"):
        run_assembled(lines, elements)
