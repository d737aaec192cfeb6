# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of a compiled function, by functions of our own in its place: what they get, what becomes of what they give."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xetile import XeTileError
from xetile.kernels import function
from xetile.kernels.signature import DYNAMIC, ArraySpec, Condition, Signature

_malloc = ctypes.CDLL(None).malloc
_malloc.restype, _malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]


def native(body: Callable[..., None], count: int) -> tuple[Any, int]:
    """`body` takes the addresses of `count` descriptors."""
    callback = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(body)
    return callback, ctypes.cast(callback, ctypes.c_void_p).value or 0


def words(address: int, count: int) -> Any:
    return (ctypes.c_int64 * count).from_address(address)


def floats(address: int, count: int) -> Any:
    return (ctypes.c_float * count).from_address(address)


def test_descriptors_say_where_how_large_and_how_far_apart():
    array = np.zeros((3, 4, 5), np.float32)[::2, :, 1:3]
    assert list(function.descriptor_of(array)) == [array.ctypes.data] * 2 + [0, 2, 4, 2, 40, 5, 1]
    number = np.zeros((), np.int64)
    assert list(function.descriptor_of(number)) == [number.ctypes.data] * 2 + [0]


def returning(offset: int, strides: tuple[int, int], give: str) -> tuple[Any, function.CompiledFunction]:
    """Gives 2 x 3 numbers of a buffer of 24 from `offset` on; the buffer is "fresh", "global" or the "argument"."""

    def body(returned: int, argument: int) -> None:
        memory = words(argument, 5)[1] if give == "argument" else _malloc(96)
        if give != "argument":
            floats(memory, 24)[:] = list(range(24))
        result = words(returned, 7)
        result[:] = [0xDEADBEEF if give == "global" else memory, memory, offset, 2, 3, *strides]

    callback, address = native(body, 2)
    signature = Signature("f", (ArraySpec((24,), "f32"),), (ArraySpec((2, DYNAMIC), "f32"),))
    return callback, function.CompiledFunction(signature, address)


@pytest.mark.parametrize("give", ["fresh", "global", "argument"])
@pytest.mark.parametrize(("offset", "strides"), [(0, (3, 1)), (5, (3, 1)), (4, (6, 2)), (2, (1, 2))])
def test_results_of_any_size_are_copied_from_offset_and_strides_and_freed_if_they_are_fresh(
    monkeypatch, give, offset, strides
):
    freed: list[int] = []
    monkeypatch.setattr(function, "_free", lambda address: freed.append(address.value))
    keep, call = returning(offset, strides, give)
    argument = np.arange(24, dtype=np.float32)
    result = call((argument,))
    expected = [[offset + i * strides[0] + j * strides[1] for j in range(3)] for i in range(2)]
    np.testing.assert_array_equal(result, expected)
    assert len(freed) == (give == "fresh") and keep
    result[:] = -1
    np.testing.assert_array_equal(argument, range(24))


def test_a_buffer_that_is_returned_twice_is_freed_once(monkeypatch):
    freed: list[int] = []
    monkeypatch.setattr(function, "_free", lambda address: freed.append(address.value))
    memory = _malloc(16)

    def body(returned: int) -> None:
        words(returned, 10)[:] = [memory, memory, 0, 2, 1, memory, memory, 1, 1, 1]
        floats(memory, 2)[:] = [3, 4]

    keep, address = native(body, 1)
    spec = ArraySpec((DYNAMIC,), "f32")
    first, second = function.CompiledFunction(Signature("f", (), (spec, spec)), address)(())
    assert (list(first), list(second), freed) == ([3, 4], [4], [memory]) and keep


@pytest.mark.parametrize("fails", [0, 1, 2, 3])
def test_the_condition_that_does_not_hold_is_told_with_its_sides_and_nothing_runs(fails):
    ran = []

    def check(status: int, *_: int) -> None:
        words(status, 3)[:] = [fails, 17, 8] if fails else [0, 0, 0]

    keep_check, check_address = native(check, 3)
    keep, address = native(lambda *_: ran.append(1), 2)
    conditions = tuple(Condition(f"left {n}", "==", "8", f"reason {n}") for n in (1, 2, 3))
    spec = ArraySpec((DYNAMIC,), "f32")
    signature = Signature("f", (spec,), (ArraySpec((2,), "f32"),), conditions)
    call = function.CompiledFunction(signature, address, check_address)
    for array in (np.zeros(5, np.float32), np.zeros(10, np.float32)[::2]):  # directly, and copied before
        if fails:
            with pytest.raises(XeTileError, match=rf"@f: expected left {fails} \(17\) == 8, for reason {fails}"):
                call((array,))
        else:
            call((array,))
    assert len(ran) == (0 if fails else 2) and keep and keep_check


def test_several_outs_are_written_where_they_are_and_shared_memory_is_refused():
    def body(argument: int, first: int, second: int) -> None:
        source = floats(words(argument, 5)[1], 3)
        floats(words(first, 5)[1], 3)[:] = [x + 1 for x in source]
        floats(words(second, 5)[1], 3)[:] = [x * 2 for x in source]

    keep, address = native(body, 3)
    spec = ArraySpec((3,), "f32")
    call = function.CompiledFunction(Signature("f", (spec,), (spec, spec)), address)
    memory = np.full(9, np.nan, np.float32)
    memory[:3] = [1, 2, 3]
    out = memory[3:6], memory[6:9]
    assert call((memory[:3],), out) is out and keep
    np.testing.assert_array_equal(memory, [1, 2, 3, 2, 3, 4, 2, 4, 6])
    places = [slice(start, start + 3) for start in (0, 2, 3, 5, 6)]
    for one, other in itertools.product(places, places):
        ranges = [range(9)[part] for part in (slice(0, 3), one, other)]
        shares = any(set(x) & set(y) for x, y in itertools.combinations(ranges, 2))
        if shares:
            with pytest.raises(XeTileError, match=r"@f: out [01]: it shares memory with another array"):
                call((memory[:3],), (memory[one], memory[other]))
        else:
            call((memory[:3],), (memory[one], memory[other]))


def test_numbers_go_in_and_come_out_as_numbers():
    def body(number: int, result: int) -> None:
        given = ctypes.c_double.from_address(words(number, 3)[1]).value
        ctypes.c_int32.from_address(words(result, 3)[1]).value = int(given * 2)

    keep, address = native(body, 2)
    signature = Signature("f", (ArraySpec((), "f64", True),), (ArraySpec((), "i32", True),))
    call = function.CompiledFunction(signature, address)
    assert call((21,)) == 42 and np.shape(call((21,))) == () and isinstance(call((1.5,)), np.int32) and keep
    out = np.zeros((), np.int32)
    assert call((np.float64(5),), out) is out and out == 10
