# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fits a signature: memory that results share, signs and orders of bytes, numbers at the ends of their types."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from test_dlpack import Giver
from xetile import XeTileError
from xetile.kernels import arguments
from xetile.kernels.signature import ArraySpec, Signature

SPEC = ArraySpec((4,), "i32")
TWO = Signature("f", (SPEC,), (SPEC, SPEC))
SIX = Signature("f", (), (SPEC,))


def test_results_share_no_memory_with_each_other_or_an_argument():
    memory = np.zeros(16, np.int32)
    argument, first, second = memory[:4], memory[4:8], memory[8:12]
    got = arguments.check_outputs(TWO, (first, second), [argument])
    assert got[0] is first and got[1] is second
    for out, wrong in (
        ((first, first), 1),
        ((first, memory[7:11]), 1),
        ((memory[3:7], second), 0),
        ((first, argument), 1),
        ((Giver(memory, (4,), kind=0, offset=40), memory[12:16]), 1),
    ):
        with pytest.raises(XeTileError, match=f"@f: out {wrong}: it shares memory with another array; pass a copy"):
            arguments.check_outputs(TWO, out, [argument])


def test_read_only_memory_of_other_libraries_takes_no_results():
    memory = np.zeros(4, np.int32)
    with pytest.raises(XeTileError, match="@f: out 0: expected a writable array in C order"):
        arguments.check_outputs(SIX, Giver(memory, (4,), flags=1), [])
    (got,) = arguments.check_outputs(SIX, Giver(memory, (4,)), [])
    got[:] = 7
    assert (memory == 7).all()


def test_results_are_in_c_order_and_writable():
    memory = np.zeros((2, 4), np.int32)
    for wrong in (memory.T[:, 0:1].reshape(4)[::-1], np.broadcast_to(np.int32(0), 4)):
        with pytest.raises(XeTileError, match="expected a writable array in C order"):
            arguments.check_outputs(SIX, wrong, [])


def test_unsigned_bytes_fit_arguments_and_no_other_signs_do():
    def argument(dtype: str, array: np.ndarray) -> np.ndarray:
        return arguments.check_arguments(Signature("f", (ArraySpec((2,), dtype),), ()), [array])[0]

    assert argument("i8", np.array([200, 1], np.uint8)).dtype == np.uint8
    for dtype, array in (("i32", np.zeros(2, np.uint32)), ("i8", np.zeros(2, np.bool_)), ("i1", np.zeros(2, np.int8))):
        with pytest.raises(XeTileError, match=rf"@f: argument 0: expected 2x{dtype} .*, got {array.dtype}\[2\]"):
            argument(dtype, array)
    bytes_ = Signature("f", (), (ArraySpec((2,), "i8"),))
    with pytest.raises(XeTileError, match=r"@f: out 0: expected 2xi8 \(int8\), got uint8"):
        arguments.check_outputs(bytes_, np.zeros(2, np.uint8), [])


def test_orders_of_bytes_and_bits_of_bf16_are_named():
    def refusal(dtype: str, array: np.ndarray) -> str:
        with pytest.raises(XeTileError) as caught:
            arguments.check_arguments(Signature("f", (ArraySpec((2,), dtype),), ()), [array])
        return str(caught.value)

    assert "this machine's byte order" in refusal("f32", np.zeros(2, ">f4"))
    assert "byte order" not in refusal("f32", np.zeros(2, ">f8"))
    assert "array.view(ml_dtypes.bfloat16)" in refusal("bf16", np.zeros(2, np.uint16))
    assert "bfloat16)" not in refusal("f16", np.zeros(2, np.uint16)).replace("(float16)", "")


def test_arguments_of_any_strides_come_in_c_order_and_of_rank_0_stay_so():
    signature = Signature("f", (ArraySpec((2, 3), "f32"), ArraySpec((), "f32")), ())
    table = np.arange(6, dtype=np.float32).reshape(3, 2).T
    array, number = arguments.check_arguments(signature, [table, np.asarray(np.float32(5))])
    assert array.flags.c_contiguous and number.shape == ()
    np.testing.assert_array_equal(array, table)


@pytest.mark.parametrize(
    ("dtype", "fits", "refused"),
    [
        ("i8", {-128: -128, 127: 127, 128: -128, 255: -1}, (-129, 256)),
        ("i16", {-32768: -32768, 65535: -1}, (-32769, 65536)),
        ("i64", {-(2**63): -(2**63), 2**64 - 1: -1}, (-(2**63) - 1, 2**64)),
        ("index", {2**63 - 1: 2**63 - 1, -(2**63): -(2**63)}, (2**63,)),
        ("f32", {3.4028234e38: np.float32(3.4028234e38), math.inf: math.inf, 1: 1}, (3.5e38, -1e39, 10**400)),
        ("f16", {65504.0: 65504.0, -math.inf: -math.inf, 65519.0: 65504.0}, (65520.0, 1e5)),
        ("bf16", {3.3e38: ml_dtypes.bfloat16(3.3e38)}, (3.4e38,)),
        ("f64", {1e308: 1e308}, (10**400,)),
    ],
)
def test_numbers_at_the_ends_of_their_types(dtype, fits, refused):
    spec = ArraySpec((), dtype, scalar=True)
    for value, expected in fits.items():
        got = arguments.as_number(spec, value)
        assert got is not None and got.dtype == spec.numpy_dtype and got.shape == () and got == expected, value
    for value in refused:
        with pytest.raises(XeTileError, match=f"expected .*{dtype}.*, got"):
            arguments.as_number(spec, value)


def test_numbers_of_other_kinds_are_none():
    for dtype, values in {
        "i32": (1.0, True, np.float32(1), "1", None, 1j),
        "i1": (1, 0, np.int8(1)),
        "f32": (True, "1.0", None, 1j),
    }.items():
        for value in values:
            assert arguments.as_number(ArraySpec((), dtype, scalar=True), value) is None, (dtype, value)
    yes = arguments.as_number(ArraySpec((), "i1", scalar=True), np.True_)
    assert yes is not None and yes.dtype == np.bool_ and yes
    nan = arguments.as_number(ArraySpec((), "f16", scalar=True), math.nan)
    assert nan is not None and np.isnan(nan)
