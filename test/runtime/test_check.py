# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XETILE_CHECK=1: accesses outside of arrays, results that depend on the order of subgroups, rules of 2D blocks. Each
has a kernel with the fault, and one without."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sys

import numpy as np
import pytest
from gpu_runtime import aligned, compile_opencl
from xetile import XeTileError, runtime

pytestmark = pytest.mark.usefixtures("checks")

SOURCE = """
#define OVERLOAD __attribute__((overloadable))
#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
void OVERLOAD intel_sub_group_2d_block_read_16b_8r16x1c(global void *, int, int, int, int2, private ushort *);
void OVERLOAD intel_sub_group_2d_block_write_16b_8r16x1c(global void *, int, int, int, int2, private ushort *);
int OVERLOAD __spirv_AtomicIAdd(global int *, int, int, int);
kernel void copy(global float *to, global const float *from, int first, int last) {
  int i = get_global_id(0);
  if (i >= first && i < last) to[i] = from[i];
}
kernel void reach(global const float *from, global float *to, int offset) {
  if (get_global_id(0) == 0) to[0] = from[offset];
}
kernel void write(global float *to, int offset) {
  if (get_global_id(0) == 0) to[offset] = 1;
}
SG16 kernel void block(global ushort *a, int skip, int width, int height, int pitch, int x, int y) {
  ushort v[8];
  intel_sub_group_2d_block_read_16b_8r16x1c(a + skip, width, height, pitch, (int2)(x, y), v);
  for (int i = 0; i < 8; ++i) v[i] += 1;
  intel_sub_group_2d_block_write_16b_8r16x1c(a + skip, width, height, pitch, (int2)(x, y), v);
}
SG16 kernel void turn(global int *x, local int *t) {
  int l = get_local_id(0), n = get_local_size(0);
  t[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = t[n - 1 - l];
}
SG16 kernel void hurry(global int *x, local int *t) {
  int l = get_local_id(0), n = get_local_size(0);
  t[l] = x[get_global_id(0)];
  x[get_global_id(0)] = t[n - 1 - l];
}
SG16 kernel void last(global int *x) { x[get_group_id(0)] = get_sub_group_id(); }
SG16 kernel void ids(global ulong *x) {
  ulong lx = get_local_size(0), ly = get_local_size(1);
  ulong local_linear = (get_local_id(2) * ly + get_local_id(1)) * lx + get_local_id(0);
  ulong gx = get_global_size(0), gy = get_global_size(1);
  ulong at = (get_global_id(2) * gy + get_global_id(1)) * gx + get_global_id(0);
  x[at] = local_linear + 1000 * get_sub_group_id() + 1000000 * (local_linear - get_local_linear_id());
}
SG16 kernel void count(global int *x) { x[1 + __spirv_AtomicIAdd(x, 1, 0, 1)] = get_local_id(0); }
"""

ALONE = """__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *x) {
  x[get_group_id(0)] = get_local_id(0) / 16;
}
"""


@functools.cache
def module() -> runtime.Module:
    return runtime.Module(compile_opencl(SOURCE))


def test_kernels_without_a_fault_give_their_results(rng):
    x, y = rng.standard_normal(1000).astype("f4"), np.full(1000, np.nan, "f4")
    module()["copy"][16, 64](y, x, 0, 1000)
    np.testing.assert_array_equal(x, y)
    t = np.arange(128, dtype="i4")
    module()["turn"][2, 64](t, local=256)
    np.testing.assert_array_equal(t.reshape(2, 64), np.arange(128).reshape(2, 64)[:, ::-1])
    a = aligned(rng.integers(0, 1000, (9, 40), "u2"))
    expected = a.copy()
    expected[4:9, 20:36] += 1
    module()["block"][1, 16](a, 0, 80, 9, 80, 20, 4)
    np.testing.assert_array_equal(a, expected)


# 1000 floats end 32 bytes in front of a multiple of 64: only writes are seen there.
@pytest.mark.parametrize(
    ("offset", "told"),
    [
        (1008, "32 bytes behind it"),
        (5000, "16000 bytes behind it"),
        (-1, "4 bytes in front"),
        (-700, "2800 bytes in front"),
    ],
)
def test_reads_outside_are_told(offset, told):
    x, y = np.zeros(1000, "f4"), np.zeros(1, "f4")
    module()["reach"][1, 16](x, y, 999)
    with pytest.raises(XeTileError) as raised:
        module()["reach"][1, 16](x, y, offset)
    message = str(raised.value)
    assert f"the kernel 'reach' reads from offset {4 * offset} of argument 0" in message
    assert f"which has 4000 bytes: {told}" in message
    module()["reach"][1, 16](x, y, 0)


@pytest.mark.parametrize("offset", [1000, 1007, 1008, 100000, -1, -3, -2000])
def test_writes_outside_are_told(offset):
    x = np.zeros(1000, "f4")
    with pytest.raises(
        XeTileError, match=rf"the kernel 'write' writes to offset {4 * offset + 0} of argument 0"
    ) as raised:
        module()["write"][1, 16](x, offset)
    assert "which has 4000 bytes" in str(raised.value)
    module()["write"][1, 16](x, 999)
    assert x[999] == 1


def test_arrays_too_small_for_the_grid_are_told():
    x, y = np.zeros(64, "f4"), np.zeros(128, "f4")
    with pytest.raises(XeTileError, match="of argument 0.*which has 256 bytes: 0 bytes behind it"):
        module()["copy"][2, 64](x, y, 0, 128)


def test_missing_barriers_are_told():
    x = np.arange(64, dtype="i4")
    with pytest.raises(
        XeTileError, match="leaves other results in argument 0 .* in the other order: .* missing barrier"
    ):
        module()["hurry"][1, 64](x, local=256)


def test_races_are_told():
    with pytest.raises(XeTileError, match="leaves other results in argument 0"):
        module()["last"][4, 64](np.zeros(4, "i4"))
    module()["last"][4, 16](np.zeros(4, "i4"))  # one subgroup


def test_races_of_modules_that_do_not_ask_for_subgroups_are_told():
    """Which subgroup it is, is asked for by the runtime alone."""
    alone = runtime.Module(compile_opencl(ALONE))
    with pytest.raises(XeTileError, match="leaves other results in argument 0"):
        alone["k"][4, 64](np.zeros(4, "i4"))
    alone["k"][4, 16](np.zeros(4, "i4"))


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 2, 3), (32, 4, 2)])
def test_reversed_ids_are_consistent(block):
    """Each work-item has a place of its own, local and global ids, linear ids and numbers of subgroups agree."""
    x = np.zeros((2 * block[2], 2 * block[1], 2 * block[0]), "u8")
    module()["ids"][(2, 2, 2), block](x)
    z, y, i = (index % size for index, size in zip(np.indices(x.shape), block[::-1], strict=True))
    local = (z * block[1] + y) * block[0] + i
    np.testing.assert_array_equal(x, local + 1000 * (local // 16))


def test_the_order_of_atomics_is_nobodys():
    x = np.zeros(65, "i4")
    module()["count"][1, 64](x)
    np.testing.assert_array_equal(np.sort(x[1:]), np.arange(64))


@pytest.mark.parametrize(
    ("arguments", "told"),
    {
        (8, 80, 8, 80, 0, 0): "16 bytes behind a boundary of 64: expected a base on a boundary of 64 bytes",
        (0, 60, 8, 80, 0, 0): "expected a width from 64 to 2^24 bytes",
        (0, 70, 8, 80, 0, 0): "expected a width in multiples of 4 bytes and of an element",
        (0, 64, 8, 56, 0, 0): "expected a pitch from 64 to 2^24 bytes",
        (0, 64, 8, 72, 0, 0): "expected a pitch in multiples of 16 bytes",
        (0, 80, 8, 64, 0, 0): "expected a pitch that is not less than the width",
        (0, 80, 0, 80, 0, 0): "expected a height from 1 to 2^24 rows",
        (0, 80, 8, 80, 1, 0): "at x = 1, y = 0 of a matrix of 8 rows of 80 bytes with a pitch of 80",
        (
            0,
            80,
            10,
            80,
            0,
            0,
        ): "a matrix of 10 rows of 80 bytes with a pitch of 80, which needs 800 bytes, and behind its base are 720",
    }.items(),
)
def test_rules_of_blocks(arguments, told):
    a = aligned(np.zeros((9, 40), "u2"))
    with pytest.raises(XeTileError) as raised:
        module()["block"][1, 16](a, *arguments)
    assert "XETILE_CHECK: the kernel 'block' accesses" in str(raised.value)
    assert told in str(raised.value)


def test_rules_are_those_of_the_table():
    from gpu_runtime import SOURCE_ROOT

    table = (SOURCE_ROOT / "cpp" / "xetile" / "Facts" / "TargetInfo.cpp").read_text()
    numbers = "/*baseAlign=*/64, /*minWidthBytes=*/64,\n /*maxExtent=*/uint64_t(1) << 24, /*pitchMultiple=*/16"
    assert "".join(numbers.split()) in "".join(table.split())


def test_memory_is_poisoned_and_so_is_what_was_used_before():
    from xetile.kernels.library import launching, library

    for _ in range(3):
        with launching():
            memory = library().mgpuMemAlloc(4000, None, 0)
            assert set(ctypes.string_at(memory, 4000)) == {0xFF}
            ctypes.memset(memory, 0, 4000)
            library().mgpuMemFree(memory, None)


def test_arrays_that_are_only_read_are_not_written_back():
    kernel = module()["copy"]
    assert [parameter.only_read for parameter in kernel.parameters] == [False, True, False, False]
    x, y = np.arange(16, dtype="f4"), np.zeros(16, "f4")
    x.flags.writeable = False
    kernel[1, 16](y, x, 0, 16)
    np.testing.assert_array_equal(x, y)


def test_arrays_that_overlap_share_memory():
    x = np.arange(64, dtype="f4")
    module()["copy"][2, 16](x[32:], x[:40], 0, 32)
    np.testing.assert_array_equal(x, np.tile(np.arange(32), 2))
    # Written by one of them is written.
    module()["copy"][2, 16](x[:33], x[32:], 1, 3)
    np.testing.assert_array_equal(x, np.tile(np.arange(32), 2))
    module()["copy"][2, 16](x[:33], x[31:], 0, 1)
    assert x[0] == 31


def test_other_values_are_refused(monkeypatch):
    monkeypatch.setenv("XETILE_CHECK", "yes")
    with pytest.raises(XeTileError, match="XETILE_CHECK='yes' is neither '0' nor '1'"):
        module()["write"][1, 16](np.zeros(16, "f4"), 0)


def test_what_a_kernel_destroys_is_told_before_the_process_ends(tmp_path, monkeypatch):
    monkeypatch.delenv("XETILE_CHECK")
    (tmp_path / "k.spv").write_bytes(module().spirv)
    code = "import resource, sys, numpy; from xetile import runtime; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
    code += "runtime.Module(sys.argv[1])['write'][1, 16](numpy.zeros(4, 'f4'), 2**30)"
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "k.spv")], capture_output=True, text=True)
    assert run.returncode < 0
    assert "xetile runtime: error: the kernel 'write' accessed memory at 0x" in run.stderr
    assert "XETILE_CHECK=1 tells which array" in run.stderr
