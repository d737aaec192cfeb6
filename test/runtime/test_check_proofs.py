# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of XETILE_CHECK=1 whose accesses numbers alone decide: a run on memory that has nothing of the arrays shows
that they lie within them, once for each kind, and both orders leave their results in the arrays themselves, of which
digests are compared."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from gpu_runtime import compile_opencl
from xetile import XeTileError, runtime
from xetile.kernels.library import launching, library

pytestmark = pytest.mark.usefixtures("checks")

REPEATED = 4  # launches: of a kind two take a proof at most
BIG = 1 << 20  # elements whose copies take longer than a run; where they do not, errors are found in another way
# The first work-item goes to `at`; no range of numbers tells where that is, but a run.
SOURCE = """
#define SG16 __attribute__((intel_reqd_sub_group_size(16)))
#define PLACE (i == 0 ? at ^ (int)get_group_id(0) : i)
kernel void get(global int *to, global const int *from, int at) {
  int i = get_global_id(0);
  to[i] = from[PLACE];
}
kernel void put(global int *to, global const int *from, int at) {
  int i = get_global_id(0);
  to[PLACE] = from[i];
}
kernel void grow(global int *to, global const int *from, int at) {
  int i = get_global_id(0);
  to[i] += from[i] + to[PLACE];
}
kernel void add(global int *to, global const int *from, int at) { atomic_add(to + at, from[get_global_id(0)]); }
kernel void thirds(global int *to, global const int *from, int at) {
  int i = get_global_id(0);
  to[PLACE] = from[i] / 3;
}
kernel void over(global int *to, global const int *from) { to[get_global_id(0)] = 12 / from[get_global_id(0)]; }
kernel void rest(global uint *to, global const uint *from) { to[get_global_id(0)] = 12u % from[get_global_id(0)]; }
kernel void decide(global int *to, global const int *from) {
  int i = get_global_id(0);
  if (from[i]) to[i] = from[i];
}
SG16 kernel void race(global int *to, global const int *from, int place) { to[place] = from[get_global_id(0)]; }
// The last workgroup, which is the first one in the other order, leaves what it has in other places.
SG16 kernel void swap(global int *to, global const int *from, int apart) {
  size_t group = get_group_id(0);
  if (group == 0 || group == get_num_groups(0) - 1) {
    to[0] = from[group == 0];
    to[apart] = from[group != 0];
  }
}
SG16 kernel void beside(global uint *to, global const uint *from, uint key) {
  to[0] = key;
  to[1] = from[get_group_id(0)];
}
"""
PRINTS = """kernel void k(global int *to, global const int *from) {
  if (get_global_id(0) == 0) printf("%d\\n", from[0]);
  to[get_global_id(0)] = 1;
}"""


@functools.cache
def module() -> runtime.Module:
    return runtime.Module(compile_opencl(SOURCE))


@functools.cache
def big_arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(BIG, "i4"), np.ones(BIG, "i4")


def runs(kernel: runtime.Kernel, *arguments: object) -> list[int]:
    """Of each of the launches, how often the kernel ran."""
    counts = []
    for _ in range(REPEATED):
        before = runtime.stats().launches
        kernel[arguments[0].size // 16, 16](*arguments)
        counts.append(runtime.stats().launches - before)
    return counts


@pytest.mark.parametrize("name", ["get", "put", "grow"])
def test_a_kind_is_proven_once(name):
    counts = runs(module()[name], np.zeros(1536, "i4"), np.zeros(1536, "i4"), 1)
    assert counts in ([2, 3, 2, 2], [4, 2, 2, 2], [2, 4, 2, 2], [3, 2, 2, 2])


def test_a_division_by_what_is_no_content_leaves_a_kind():
    assert sum(runs(module()["thirds"], np.zeros(2048, "i4"), np.ones(2048, "i4"), 0)) == 2 * REPEATED + 1


@pytest.mark.parametrize("name", ["over", "rest", "decide"])
def test_where_contents_may_end_or_decide_a_run_none_has_others(name):
    """A division by zero ends processes on some devices."""
    to, x = np.zeros(2048, "i4"), np.full(2048, 5, "i4")
    assert runs(module()[name], to.view("u4"), x.view("u4")) == [2] * REPEATED
    np.testing.assert_array_equal(to, {"over": 12 // 5, "rest": 12 % 5, "decide": 5}[name])


def test_nothing_is_printed_that_no_array_holds(capfd):
    kernel = runtime.Module(compile_opencl(PRINTS, validate=False))["k"]
    assert runs(kernel, np.zeros(1024, "i4"), np.full(1024, 77, "i4")) == [2] * REPEATED
    assert set(capfd.readouterr().out.split()) <= {"77"}


# Arrays that fill pages, that do not, and of which no page but the first and the last one is memory of its own.
@pytest.mark.parametrize("elements", [1024, 1008, 300_000, 1 << 18])
@pytest.mark.parametrize("at", ["behind", "far behind", -1, -14, -300, -5000])
@pytest.mark.parametrize(
    ("name", "what", "argument"), [("get", "reads from", 1), ("put", "writes to", 0), ("grow", "reads from", 0)]
)
def test_accesses_outside_are_told_and_nothing_is_done(name, what, argument, at, elements):
    kernel, (big, other) = module()[name], big_arrays()
    for _ in range(2):
        kernel[BIG // 16, 16](big, other, 0)
    at = {"behind": elements, "far behind": elements + 5000}.get(at, at)
    whole = np.full(elements + 20_000, 7, "i4")
    to, x = whole[10_000 : 10_000 + elements], np.ones(elements, "i4")
    with pytest.raises(
        XeTileError, match=rf"'{name}' {what} offset {4 * at} of argument {argument}, which has {4 * elements} b"
    ):
        kernel[elements // 16, 16](to, x, at)
    # Without a proof, reads in front of what fills no page are known by the results that they change.
    start = 10_000 + elements if name == "get" and elements % 1024 else 10_000
    assert (whole[:10_000] == 7).all() and (whole[start:] == 7).all()
    kernel[elements // 16, 16](to, x, 0)


# Words side by side and in the same lane, under the same key, in other parts of a digest, and of other threads; of an
# array that ends there, of one that goes on, and of one that is long enough for a digest by the device.
@pytest.mark.parametrize("more", [0, 4096, 600_016])
@pytest.mark.parametrize("apart", [1, 2, 4, 16, 256, 4096, 5_000_000])
def test_results_that_change_places_are_told(apart, more):
    # At an address that is no multiple of a vector's length.
    kernel, to = module()["swap"], np.zeros((apart // 16 + 1) * 16 + more + 1, "i4")[1:]
    for _ in range(REPEATED):
        kernel[64, 16](to, np.full(64, 3, "i4"), apart)
    with pytest.raises(
        XeTileError, match=rf"'swap' leaves other results in argument 0 .* of {to.nbytes} bytes, the fir"
    ):
        kernel[64, 16](to, np.arange(64, dtype="i4"), apart)


# The first and the last word of vectors, rounds of keys and parts of a digest by the device, of its end, and between.
@pytest.mark.parametrize("place", [0, 15, 16, 255, 256, 16_383, 16_384, 400_001, -225, -224, -17, -16, -1])
def test_one_result_anywhere_is_told(place):
    kernel, to = module()["race"], np.zeros(600_016, "i4")
    place %= to.size
    for _ in range(REPEATED):
        kernel[64, 16](to, np.full(1024, 3, "i4"), place)
    with pytest.raises(
        XeTileError, match=rf"'race' leaves other results in argument 0 .*, the first at offset {4 * place}"
    ):
        kernel[64, 16](to, np.arange(1024, dtype="i4"), place)


@pytest.mark.parametrize("elements", [1024, 1 << 19])
def test_results_beside_what_makes_a_product_zero_are_told(elements):
    """The first half of a word is that of its key in the digest."""
    number = (6364136223846793005 + 1442695040888963407) % 2**64
    key = (number ^ number >> 32) % 2**32
    kernel, to = module()["beside"], np.zeros(elements, "u4")
    for _ in range(REPEATED):
        kernel[64, 16](to, np.full(64, 3, "u4"), key)
    with pytest.raises(
        XeTileError, match=rf"'beside' leaves other results in argument 0 .* of {4 * elements} bytes, the first at off"
    ):
        kernel[64, 16](to, np.arange(64, dtype="u4"), key)


def test_memory_of_proofs_is_none_of_copies(rng):
    """Of a size that is written to a small part of memory alone."""
    elements = 1 << 18
    to, x = np.zeros(elements, "i4"), rng.integers(1, 100, elements, "i4")
    runs(module()["get"], to, x, 0)
    for _ in range(2):
        module()["decide"][elements // 16, 16](to, x)
        np.testing.assert_array_equal(to, x)
        to, x = to[::-1].copy(), x[::-1].copy()


@pytest.mark.parametrize("elements", [1024, 1008, 1 << 18, 5_000_016])
def test_results_are_those_of_one_run(elements, rng):
    for name in ("put", "grow"):
        to, x = (rng.integers(0, 100, elements, "i4") for _ in range(2))
        for _ in range(REPEATED):
            expected = x if name == "put" else 2 * to + x
            module()[name][elements // 16, 16](to, x, 0)
            np.testing.assert_array_equal(to, expected)


@pytest.mark.parametrize("name", ["get", "add"])
def test_a_launch_that_gets_no_memory_leaves_none_behind(name):
    """Of each number of allocations that it may have before there are no more: with shadows, and with copies of all."""
    kernel, to, x = module()[name], np.zeros(1008, "i4"), np.ones(1008, "i4")
    refused, numbers = 0, set()
    # Behind a launch that takes longer than copies, which this one does, the second one of a kind has shadows.
    kernel[63, 16](to, x, 100)
    for left in range(9):
        kernel[63, 16](to, x, left)
        held = allocations()
        numbers.add(len(held))
        release(held, left)
        try:
            kernel[63, 16](to, x, left)
        except XeTileError as error:
            assert "keeps at most 1024 allocations" in error.message
            refused += 1
        release(held, len(held))
    assert len(numbers) == 1
    # One of those that can be had is the host's own; two are copies for the device.
    assert refused == {"get": 7, "add": 5}[name]


def allocations() -> list[int]:
    """All that there can be."""
    held: list[int] = []
    with pytest.raises(XeTileError, match="keeps at most"):
        while True:
            with launching():
                held.append(library().mgpuMemAlloc(64, None, 0))
    return [one for one in held if one]


def release(held: list[int], count: int) -> None:
    for _ in range(count):
        library().mgpuMemFree(held.pop(), None)
