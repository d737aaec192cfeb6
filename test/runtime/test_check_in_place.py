# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second run of XETILE_CHECK=1: on the caller's own arrays, where no address depends on what subgroups leave for
each other, else between guards. Each way in which one can is a kernel here that goes outside in that run alone.

Where numbers alone decide what is accessed, the third launch of a kind, and those behind it, have no guards: here is
what makes another kind of a launch."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from gpu_runtime import compile_opencl
from xetile import XeTileError, runtime

pytestmark = pytest.mark.usefixtures("checks")

FAR = 5000  # elements
REPEATED = 5  # launches: more than those that show what a kind accesses
PAGE = 4096  # bytes; of more, guards lie further away than pages' ends, and tests hold as well

SOURCE = """
#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
#define FAR 5000
// The first subgroup takes what the last one leaves in *place, which is there too early in the other order.
#define WANDER(place) \\
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); \\
  if (get_sub_group_id() == get_num_sub_groups() - 1) *(place) = FAR; \\
  if (get_sub_group_id() == 0)
SG16 kernel void by_local(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) x[t[0]] = 1;
}
SG16 kernel void by_global(global int *x, global int *t) {
  t[0] = 0;
  WANDER(t) x[t[0]] = 1;
}
SG16 kernel void by_itself(global int *x) {
  x[1] = 0;
  WANDER(x + 1) x[x[1]] = 1;
}
SG16 kernel void by_private(global int *x, local int *t) {
  t[0] = 0;
  int own[4];
  WANDER(t) {
    own[get_local_id(0) & 3] = t[0];
    x[own[get_local_id(0) & 3]] = 1;
  }
}
SG16 kernel void by_branch(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) { if (t[0]) x[FAR] = 1; else x[0] = 1; }
}
SG16 kernel void by_loop(global int *x, local int *t) {
  t[0] = 0;
  int i = 0;
  WANDER(t) {
    for (; i < t[0]; ++i) x[i & 1] = 1;
    x[i] = 1;
  }
}
SG16 kernel void by_pointer(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) {
    global int *at = t[0] ? x + FAR : x;
    *at = 1;
  }
}
__attribute__((noinline)) void put(global int *x, local int *t) { x[t[0]] = 1; }
SG16 kernel void by_call(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) put(x, t);
}
SG16 kernel void by_offset(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) vstore2((int2)(1, 0), t[0] / 2, x);
}
SG16 kernel void by_shuffle(global int *x, local int *t) {
  t[0] = 0;
  WANDER(t) x[sub_group_broadcast(t[0], 3)] = 1;
}
kernel void shift(global int *x, int by) { x[get_global_id(0)] += x[(int)get_global_id(0) + by]; }
kernel void gather(global int *to, global const int *from, global const int *at) {
  to[get_global_id(0)] = from[at[get_global_id(0)]];
}
SG16 kernel void gather_all(global int *to, global const int *from, int step, local int *t) {
  t[get_local_id(0)] = get_global_id(0) * step;
  barrier(CLK_LOCAL_MEM_FENCE);
  to[t[get_local_id(0)]] = from[t[get_local_id(0)]];
}
kernel void aligned_only(global int *to, global const int *from) {
  int outside = (ulong)to & 32 ? FAR : 0;
  to[get_global_id(0) + outside] = from[get_global_id(0)];
}
SG16 kernel void sometimes(global int *to, global const int *from) {
  to[get_group_id(0)] = from[get_global_id(0)];
}
kernel void some(global int *to, global const int *from, int step) {
  int i = get_global_id(0);
  if (i % step == 0) to[i] = from[i];
}
kernel void reach_back(global int *to, global int *from) { to[get_global_id(0)] = from[-(int)get_global_id(0)]; }
SG16 kernel void one_place(global int *x) { x[0] = get_group_id(0); }
SG16 kernel void groups(global int *x) {
  bool same = true;
  for (int d = 0; d < 3; ++d)
    same &= get_global_id(d) == get_group_id(d) * get_local_size(d) + get_local_id(d);
  int group = (get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  int items = get_local_size(0) * get_local_size(1) * get_local_size(2);
  x[group * items + get_local_linear_id()] = same ? group : -1;
}
"""


@functools.cache
def module() -> runtime.Module:
    return runtime.Module(compile_opencl(SOURCE))


# An array that fills pages, and one that does not: the caller's memory around it is watched.
@pytest.mark.parametrize("bytes_", [PAGE, 200])
@pytest.mark.parametrize(
    "name",
    [
        "by_local",
        "by_global",
        "by_itself",
        "by_private",
        "by_branch",
        "by_loop",
        "by_pointer",
        "by_call",
        "by_offset",
        "by_shuffle",
    ],
)
def test_what_goes_outside_in_the_second_run_alone_is_told_and_does_nothing(name, bytes_):
    whole = np.full(4 * FAR, 7, "i4")
    x = whole[FAR : FAR + bytes_ // 4]
    kernel = module()[name]
    given = [x] if name == "by_itself" else [x, np.zeros(PAGE // 4, "i4")] if name == "by_global" else [x]
    local = {"local": 64} if len(kernel.parameters) > len(given) else {}
    with pytest.raises(XeTileError, match=rf"'{name}' writes to offset {4 * FAR} of argument 0, which has {bytes_} "):
        kernel[1, 64](*given, **local)
    assert (whole == 7).all()


@pytest.mark.parametrize("elements", [1024, 1000])
def test_what_is_read_and_written_is_so_once(elements):
    whole = np.arange(3000, dtype="i4")
    expected = whole.copy()
    x = whole[500 : 500 + elements]
    kernel = module()["shift"]
    for _ in range(REPEATED):
        expected[500 : 500 + elements] *= 2
        kernel[elements // 8, 8](x, 0)
        np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("elements", [1024, 1000])
@pytest.mark.parametrize("by", [-1, -3, -300, -5000])
def test_reads_in_front_of_what_is_written_are_told(elements, by):
    x = np.zeros(elements, "i4")  # nothing that is read changes a result
    with pytest.raises(XeTileError, match=rf"'shift' reads from offset {4 * by} of argument 0"):
        module()["shift"][1, 1](x, by)
    assert not x.any()


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("elements", [1024, 1000])
def test_what_is_not_written_stays(step, elements, rng):
    """More than once: what an array's copy holds is not what the array holds."""
    kernel = module()["some"]
    for _ in range(REPEATED):
        x, y = (rng.integers(-1, 100, elements, "i4") for _ in range(2))
        expected = y.copy()
        expected[::step] = x[::step]
        kernel[elements // 8, 8](y, x, step)
        np.testing.assert_array_equal(y, expected)


def test_an_array_may_be_given_twice(rng):
    x = rng.integers(0, 100, 2048, "i4")
    expected = x.copy()
    module()["some"][128, 8](x[:1024], x[:1024], 3)
    np.testing.assert_array_equal(x, expected)
    module()["some"][128, 8](x[512:1536], x[:1024], 1024)
    expected[512] = expected[0]
    np.testing.assert_array_equal(x, expected)


def test_a_read_only_array_that_is_written_is_told_and_stays(rng):
    """In each launch of a kind, also where it is a part of another array and not every element is its own."""
    x, whole = rng.integers(1, 100, 1024, "i4"), np.zeros(2048, "i4")
    for y in (whole[:1024], whole[::2]):
        y.flags.writeable = False
        for _ in range(REPEATED):
            with pytest.raises(
                XeTileError, match="'some': argument 0: it is read-only, and the kernel wrote to it: pa"
            ):
                module()["some"][128, 8](y, x, 1)
    assert not whole.any()
    module()["some"][128, 8](whole[:1024], x, 1)  # of which those are read-only views


def test_a_read_only_array_that_is_read_is_no_error(rng):
    x, y = rng.integers(0, 100, 2048, "i4"), np.zeros(1024, "i4")
    given = x[::-2]
    given.flags.writeable = False
    # The kernel sees the memory behind the first element, none of the strides.
    kernel = module()["reach_back"]
    kernel[64, 16](y, given)
    np.testing.assert_array_equal(y, x[:1023:-1])


def test_workgroups_that_write_to_one_place_are_told():
    with pytest.raises(XeTileError, match="'one_place' leaves other results in argument 0 .* in the other order"):
        module()["one_place"][64, 16](np.zeros(1, "i4"))
    module()["one_place"][1, 16](np.zeros(1, "i4"))


@pytest.mark.parametrize("grid", [(5, 1, 1), (2, 3, 4)])
@pytest.mark.parametrize("block", [(16, 1, 1), (32, 2, 1), (24, 1, 2)])
def test_ids_of_workgroups_are_consistent_in_both_orders(grid, block):
    x = np.zeros((np.prod(grid), np.prod(block)), "i4")
    module()["groups"][grid, block](x)
    np.testing.assert_array_equal(x, np.indices(x.shape)[0])


@functools.cache
def repeated(name: str, *arguments: object) -> runtime.Kernel:
    """The kernel, after launches of this kind."""
    kernel = module()[name]
    for _ in range(REPEATED):
        kernel[64, 16](*(np.zeros(1024, "i4") if argument == "array" else argument for argument in arguments))
    return kernel


@pytest.mark.parametrize(
    ("to", "grid", "step"),
    [
        (1008, (64, 16), 1),
        (1024, (65, 16), 1),
        (1024, (64, 17), 1),
    ],
)
def test_what_is_smaller_or_launched_otherwise_is_checked(to, grid, step):
    kernel = repeated("some", "array", "array", 1)
    with pytest.raises(XeTileError, match="'some' writes to offset"):
        kernel[grid](np.zeros(to, "i4"), np.zeros(2048, "i4"), step)


def test_other_numbers_are_checked():
    kernel = repeated("shift", "array", 0)
    with pytest.raises(XeTileError, match="'shift' reads from offset -4 of argument 0"):
        kernel[64, 16](np.zeros(1024, "i4"), -1)


def test_another_place_in_an_array_is_checked():
    kernel, x = module()["some"], np.zeros(2048, "i4")
    for _ in range(REPEATED):
        kernel[64, 16](x[:1024], x[512:1536], 1)
    with pytest.raises(XeTileError, match="'some' reads from offset 6144 of argument 0 and argument 1"):
        kernel[64, 16](x[:1536], x[1024:1536], 1)
    assert not x.any()


def test_what_an_array_decides_is_checked_each_time():
    kernel, at = module()["gather"], np.arange(1024, dtype="i4")
    for _ in range(REPEATED):
        to, x = np.zeros(1024, "i4"), np.arange(1024, dtype="i4")
        kernel[64, 16](to, x, at)
        np.testing.assert_array_equal(to, x)
    at[77] = 1024 + 77
    with pytest.raises(XeTileError, match=f"'gather' reads from offset {4 * (1024 + 77)} of argument 1"):
        kernel[64, 16](to, x, at)


def test_what_bits_of_addresses_decide_is_never_done_in_place():
    """Copies lie at multiples of 64 bytes, the array does not."""
    whole = np.zeros(4 * FAR, "i4")
    start = next(i for i in range(100, 200) if (whole.ctypes.data + 4 * i) % 64 == 32)
    kernel, x = module()["aligned_only"], np.arange(1024, dtype="i4")
    for _ in range(REPEATED):
        kernel[64, 16](whole[start : start + 1024], x)
    np.testing.assert_array_equal(whole[start : start + 1024], x)
    assert not whole[start + 1024 :].any()


def test_results_are_compared_each_time():
    kernel = module()["sometimes"]
    x, to = np.ones(4096, "i4"), np.zeros(64, "i4")
    for _ in range(REPEATED):
        kernel[64, 64](to, x)
    x[-1] = 2
    with pytest.raises(XeTileError, match="'sometimes' leaves other results in argument 0 .* 1 of 256 bytes"):
        kernel[64, 64](to, x)


def test_arrays_that_are_given_twice_are_another_kind(rng):
    kernel = repeated("some", "array", "array", 3)
    x = rng.integers(0, 100, 1024, "i4")
    expected = x.copy()
    for _ in range(REPEATED):
        kernel[64, 16](x, x, 3)
        np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("name", ["some", "gather_all"])
def test_big_arrays_are_copied_and_compared_in_parts(name, rng):
    """Longer than what one thread copies, past the caches, no multiple of anything and at no boundary. What is gathered
    is copied back."""
    elements = (20 << 20) // 4 + 48
    x, y = rng.integers(0, 100, elements, "i4"), np.full(elements + 1, 7, "i4")
    local = {"local": 64} if name == "gather_all" else {}
    module()[name][elements // 16, 16](y[1:], x, 1, **local)
    np.testing.assert_array_equal(y[1:], x)
    assert y[0] == 7
