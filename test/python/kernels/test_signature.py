# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Signatures as data: what fits, what is told, and JSON there and back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from xetile import XeTileError
from xetile.kernels.signature import DYNAMIC, ArraySpec, Condition, Signature

WHOLE = Signature(
    "f",
    (ArraySpec((2, DYNAMIC), "bf16"), ArraySpec((), "f32", scalar=True), ArraySpec((), "f32"), ArraySpec((3,), "i1")),
    (ArraySpec((DYNAMIC,), "index"),),
    (Condition("argument 0, dimension 1", ">=", "1", "its window"),),
)


def test_json_has_all_of_it():
    assert Signature.from_json(WHOLE.to_json()) == WHOLE
    written = Signature("f", (ArraySpec((2,), "f32"), ArraySpec((2,), "f32", written=True)))
    assert Signature.from_json(written.to_json()) == written and written.written == (1,)
    reason = Signature("f", reason="it takes a memref")
    assert Signature.from_json(reason.to_json()) == reason


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["arguments"][0].update(dtype="f8"),
        lambda value: value["arguments"][0].pop("shape"),
        lambda value: value["arguments"][0].update(shape=["x"]),
        lambda value: value["arguments"][0].pop("scalar"),
        lambda value: value["arguments"][0].pop("written"),
        lambda value: value["conditions"][0].pop("sign"),
        lambda value: value["conditions"][0].update(more="x"),
        lambda value: value.pop("name"),
        lambda value: value.pop("reason"),
    ],
)
def test_other_json_is_refused(change):
    value = json.loads(WHOLE.to_json())
    change(value)
    with pytest.raises(XeTileError, match=r"signature: expected what Signature.to_json writes, got '\{"):
        Signature.from_json(json.dumps(value))


def test_shapes_fit_where_sizes_are_equal_or_open():
    spec = ArraySpec((2, DYNAMIC, 4), "f32")
    assert spec.takes((2, 0, 4)) and spec.takes((2, 99, 4)) and not spec.is_static
    for shape in ((2, 9), (2, 9, 4, 1), (3, 9, 4), (2, 9, 5), ()):
        assert not spec.takes(shape)
    assert ArraySpec((), "f32").takes(()) and not ArraySpec((), "f32").takes((1,))
    assert str(spec) == "2x?x4xf32" and str(ArraySpec((), "i8")) == "i8"


def test_elements_are_numpys_of_the_same_width():
    widths = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "index": 8}
    for name, width in widths.items():
        dtype = ArraySpec((1,), name).numpy_dtype
        kind = "b" if name == "i1" else "V" if name == "bf16" else "f" if name[0] == "f" else "i"
        assert (dtype.itemsize, dtype.kind) == (width, kind), name
    assert ArraySpec((1,), "ui8").numpy_dtype == np.uint8


def test_conditions_tell_numbers_beside_what_they_are_called():
    condition = Condition("argument 0, dimension 1", "==", "8", "linalg.matmul")
    assert condition.told(7, 8) == "expected argument 0, dimension 1 (7) == 8, for linalg.matmul"
    assert str(condition) == "argument 0, dimension 1 == 8 (linalg.matmul)"


def test_a_function_returns_where_one_result_is_open():
    assert WHOLE.returns and not Signature("f", (ArraySpec((DYNAMIC,), "f32"),), (ArraySpec((1,), "f32"),)).returns
    assert str(WHOLE) == "f(2x?xbf16, f32, f32, 3xi1) -> (?xindex)"


def test_a_function_with_several_results_returns_all_if_one_is_open():
    closed, open_ = ArraySpec((1,), "f32"), ArraySpec((2, DYNAMIC), "f32")
    for results, returns in [((), False), ((closed, closed), False), ((closed, open_), True), ((open_, closed), True)]:
        assert Signature("f", (), results).returns is returns, results
