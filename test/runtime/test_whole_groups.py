# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second run of checks, where a workgroup that is within a kernel's bounds has a body of its own: which kernels
have one, and that workgroups with work-items outside do not take it."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import spirv_words
from gpu_runtime import assemble, compile_opencl, instructions, portable
from xetile import XeTileError, runtime

pytestmark = pytest.mark.usefixtures("checks")

FAST_MATH_MODE = 40
STORE, DECORATE, FADD, MEMORY_BARRIER, PHI, LABEL, BRANCH, BRANCH_CONDITIONAL = 62, 71, 129, 225, 245, 248, 249, 250
ITEMS, GROUPS = 32, 10
ALL = ITEMS * GROUPS
HEAD = """#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
#define PUT to[at] = from[at] + 1;
SG16 kernel void k(global int *to, global const int *from, int n, int m) {
  int at = get_global_id(0), first = get_group_id(0) * get_local_size(0);
"""
# Which work-items of which numbers write, in C and in Python.
CONDITIONS = {
    "at < n": lambda at, n, m: at < n,
    "at <= n": lambda at, n, m: at <= n,
    "at > n": lambda at, n, m: at > n,
    "at >= n": lambda at, n, m: at >= n,
    "n > at": lambda at, n, m: n > at,
    "!(at >= n)": lambda at, n, m: at < n,
    "at >= m && at < n": lambda at, n, m: (at >= m) & (at < n),
    "at + m < n": lambda at, n, m: at + m < n,
    "m + at < n": lambda at, n, m: at + m < n,
    "at - m < n": lambda at, n, m: at - m < n,
    "(uint)(at - m) > (uint)n": lambda at, n, m: (at - m) % 2**32 > n % 2**32,
    "(uint)(at + m) < (uint)n": lambda at, n, m: (at + m) % 2**32 < n % 2**32,
    "(long)at < n": lambda at, n, m: at < n,
    "get_global_id(0) < (ulong)n": lambda at, n, m: (at < n) | (n < 0),
    "get_local_id(0) < n": lambda at, n, m: (at % ITEMS < n) | (n < 0),
    "(int)get_local_id(0) >= n": lambda at, n, m: at % ITEMS >= n,
    "first + (int)get_local_id(0) < n": lambda at, n, m: at < n,
    "(uchar)(at + m) < n": lambda at, n, m: (at + m) % 256 < n,
}
NUMBERS = [-1, 0, 1, 5, 16, 31, 32, 33, 64, 100, 250, 256, ALL - 1, ALL, ALL + 1, 1 << 30]
OFFSETS = [0, 7, 16, 120, -5]


def source(condition: str, body: str = "PUT") -> str:
    return f"{HEAD} if ({condition}) {{ {body} }} }}"


@functools.cache
def kernel(text: str) -> tuple[runtime.Kernel, bytes]:
    spirv = compile_opencl(text)
    return runtime.Module(spirv)["k"], spirv


def has_two(spirv: bytes) -> bool:
    """Bodies of its kernel: then the end of the first one is told from that of the other."""
    once, both = instructions(spirv), instructions(spirv, reversed_=True)
    assert (MEMORY_BARRIER in both) == (both.count(STORE) > once.count(STORE))
    return MEMORY_BARRIER in both


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_bound_makes_two_bodies_and_each_work_item_asks_where_it_must(condition):
    k, spirv = kernel(source(condition))
    assert has_two(spirv)
    at = np.arange(ALL, dtype="i8")
    for n in NUMBERS:
        for m in OFFSETS if "m" in condition else [0]:
            to = np.full(ALL, -9, "i4")
            k[GROUPS, ITEMS](to, at.astype("i4"), n, m)
            np.testing.assert_array_equal(to, np.where(CONDITIONS[condition](at, n, m), at + 1, -9), f"{n} {m}")


@pytest.mark.parametrize("items", [256, 272, 512])
def test_a_workgroup_of_more_numbers_than_are_compared_is_not_told_by_its_ends(items):
    k, spirv = kernel(source("(uchar)at < n"))
    assert has_two(spirv)
    at, to = np.arange(2 * items), np.full(2 * items, -9, "i4")
    k[2, items](to, at.astype("i4"), 200, 0)
    np.testing.assert_array_equal(to, np.where(at % 256 < 200, at + 1, -9))


TWO = """#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
SG16 kernel void k(global int *to, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  BODY
}
"""


# Both axes; by leaving; as branches one in the other, of which the first one alone is asked for; and a loop at once.
@pytest.mark.parametrize(
    "body",
    [
        "if (x < width && y < height) to[(z * 6 + y) * 48 + x] += 1;",
        "if (x >= width || y >= height) return; to[(z * 6 + y) * 48 + x] += 1;",
        "if (x < width) { to[x] += 0 * z; if (to[0] < 9 && y < height) to[(z * 6 + y) * 48 + x] += 1; }",
        "if (x < width) for (int i = y; i < y + 1 && i < height; ++i) to[(z * 6 + i) * 48 + x] += 1;",
    ],
)
@pytest.mark.parametrize(("grid", "block"), [((3, 6, 2), (16, 1, 1)), ((1, 3, 2), (48, 2, 1)), ((2, 2, 1), (24, 3, 2))])
def test_bounds_of_several_axes(body, grid, block):
    k, spirv = kernel(TWO.replace("BODY", body))
    assert has_two(spirv)
    for width, height in [(48, 6), (48, 5), (47, 6), (16, 2), (24, 3), (20, 1), (0, 6), (48, 0)]:
        to, expected = np.zeros((2, 6, 48), "i4"), np.zeros((2, 6, 48), "i4")
        expected[:, :height, :width] = 1
        k[grid, block](to, width, height)
        np.testing.assert_array_equal(to, expected)


@pytest.mark.parametrize(
    "condition",
    [
        "at != n",
        "from[at] < n",
        "at * 2 < n",
        "at < from[0]",
        "at < n || at > m",
        "(at & 6) < n",
        "((uint)at >> 1) < n",
        "(at ^ 1) < n",
        "n - at < m",
        "at - (int)get_global_id(1) < n",
        "at << m >> n < 5",
    ],
)
def test_what_two_work_items_do_not_tell_of_all_makes_one_body(condition):
    assert not has_two(kernel(source(condition))[1])


@pytest.mark.parametrize(
    "text",
    [
        # Work-items wait in one place only.
        source("at < n", "PUT } barrier(CLK_GLOBAL_MEM_FENCE); { from += 0;"),
        source("at < n", "PUT barrier(CLK_GLOBAL_MEM_FENCE);"),
        source("at < n", "to[at] = work_group_reduce_add(from[at]);"),
        "__attribute__((noinline)) void meet(global int *x) { x[0] = 1; barrier(CLK_GLOBAL_MEM_FENCE); }\n"
        + source("at < n", "PUT meet(to);"),
        # Both ways go on.
        source("at < n", "PUT } else { to[at] = m; to[at + 1] = n;"),
        # Too long, and what is not understood.
        source("at < n", "".join(f"to[at + {i}] = from[at] * from[at + {i}];" for i in range(400))),
        source(
            "at < n", "switch (from[at]) { case 1: to[at] = 3; break; case 5: to[at] += n; break; case 9: to[m] = 1; }"
        ),
    ],
)
def test_other_kernels_have_one_body(text):
    assert not has_two(kernel(text)[1])


def test_subgroups_of_a_whole_workgroup_that_write_to_one_place_are_told():
    k, spirv = kernel(source("at < n", "to[0] = from[at];"))
    assert has_two(spirv)
    x = np.arange(ITEMS, dtype="i4")
    with pytest.raises(XeTileError, match="leaves other results in argument 0"):
        k[1, ITEMS](np.zeros(1, "i4"), x, ITEMS, 0)
    k[1, ITEMS](np.zeros(1, "i4"), x, 1, 0)


DECORATED = """
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k" %id
OpExecutionMode %k SubgroupSize 16
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %id Constant
OpDecorate %sum FPFastMathMode Fast
%void = OpTypeVoid
%bool = OpTypeBool
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%ids = OpTypeVector %ulong 3
%ids_in = OpTypePointer Input %ids
%ptr = OpTypePointer CrossWorkgroup %float
%id = OpVariable %ids_in Input
%f = OpTypeFunction %void %ptr %ulong
%zero = OpConstant %ulong 0
%one = OpConstant %ulong 1
%two = OpConstant %ulong 2
%k = OpFunction %void None %f
%x = OpFunctionParameter %ptr
%n = OpFunctionParameter %ulong
%entry = OpLabel
%all = OpLoad %ids %id
%at = OpCompositeExtract %ulong %all 0
%in = OpULessThan %bool %at %n
OpBranchConditional %in %body %exit
%body = OpLabel
%step = OpPhi %ulong %zero %entry %next %body
%place = OpInBoundsPtrAccessChain %ptr %x %at
%value = OpLoad %float %place Aligned 4
%sum = OpFAdd %float %value %value
OpStore %place %sum Aligned 4
%next = OpIAdd %ulong %step %one
%more = OpULessThan %bool %next %two
OpBranchConditional %more %body %exit
%exit = OpLabel
OpReturn
OpFunctionEnd
"""


def test_both_bodies_are_entered_and_decorated_as_the_kernel_s_is():
    """A sum that may be rounded otherwise in one of them would make results differ. The body is a loop at once."""
    spirv = assemble(DECORATED)
    assert has_two(spirv)
    modes, sums, entered, merged, block = {}, [], {}, {}, 0
    for in_ in spirv_words.instructions(portable(spirv, reversed_=True)):
        opcode = in_[0] & 0xFFFF
        if opcode == DECORATE and in_[2] == FAST_MATH_MODE:
            modes[in_[1]] = in_[3]
        elif opcode == FADD:
            sums.append(in_[2])
        elif opcode == LABEL:
            block = in_[1]
        elif opcode == PHI:
            merged[block] = set(in_[4::2])
        elif opcode in (BRANCH, BRANCH_CONDITIONAL):
            for target in in_[1:2] if opcode == BRANCH else in_[2:4]:
                entered.setdefault(target, set()).add(block)
    assert len(sums) == 2 and [modes[one] for one in sums] == [16, 16]
    assert len(merged) == 2 and all(entered[one] == blocks for one, blocks in merged.items())
    x = np.ones(64, "f4")
    runtime.Module(spirv)["k"][4, 16](x, 50)
    np.testing.assert_array_equal(x, [4] * 50 + [1] * 14)


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (
            "%in = OpULessThan %bool %at %n",
            "%a = OpIAdd %ulong %at %b; %b = OpIAdd %ulong %a %n; %in = OpULessThan %bool %at %b",
        ),
        (
            "%in = OpULessThan %bool %at %n",
            "%a = OpIAdd %ulong %b %n; %b = OpIAdd %ulong %a %n; %in = OpULessThan %bool %a %n",
        ),
        ("%in = OpULessThan %bool %at %n", "%in = OpLogicalAnd %bool %in %in"),
        (
            "%in = OpULessThan %bool %at %n",
            "%a = OpULessThan %bool %at %n; %in = OpLogicalAnd %bool %a %late; %late = OpLogicalAnd %bool %a %in",
        ),
    ],
)
def test_values_that_are_made_of_themselves_are_not_followed(line, instead):
    """No module has them that is valid."""
    assert not has_two(assemble(DECORATED.replace(line, instead.replace("; ", "\n"))))


def test_types_that_are_made_of_themselves_have_no_size():
    assert portable(assemble(DECORATED.replace("%ptr =", "%own = OpTypeVector %own 4\n%ptr =")), reversed_=True)
    assert portable(
        assemble(DECORATED.replace("%ptr =", "%own = OpTypeVector %own2 4\n%own2 = OpTypeVector %own 4\n%ptr ="))
    )
