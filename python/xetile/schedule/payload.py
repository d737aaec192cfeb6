# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Payloads: modules at level 0, as a schedule takes them, built with upstream's builders."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from xetile.errors import XeTileError, expect, told
from xetile.mlir import ir
from xetile.mlir.dialects import arith, func, linalg, tensor

__all__ = ["matmul"]

_TYPES: dict[str, Callable[[], ir.Type]] = {
    "bf16": ir.BF16Type.get,
    "f16": ir.F16Type.get,
    "f32": ir.F32Type.get,
    "i8": lambda: ir.IntegerType.get_signless(8),
    "i32": lambda: ir.IntegerType.get_signless(32),
}
_NUMPY_NAMES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "int8": "i8", "int32": "i32"}


def matmul(
    m: int,
    n: int,
    k: int,
    dtype: Any = "f16",
    acc_dtype: Any = "f32",
    *,
    accumulate: bool = True,
    context: ir.Context | None = None,
) -> ir.Module:
    """A module with `func @matmul(A, B, C0) -> A * B + C0`, or with `accumulate=False` `(A, B) -> A * B`.

    A is m x k and B is k x n of `dtype`, C0 and the result are m x n of `acc_dtype`. Types are "f16", "bf16", "f32",
    "i8", "i32" or NumPy's for them; which of them a schedule compiles, it says when it is applied. The module lives in
    `context`, by default a new one. XeTileError for sizes that are not positive integers and for other types.
    """
    sizes = {"m": m, "n": n, "k": k}
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, Integral) or not 0 < size < 2**31:
            raise XeTileError(f"matmul: expected {name} from 1 to {2**31 - 1}, got {told(size)}")
    if context is not None:
        expect("matmul: context", context, ir.Context, "an xetile.mlir.ir.Context")
    expect("matmul: accumulate", accumulate, bool, "True or False")
    m, n, k = (int(size) for size in sizes.values())
    with context or ir.Context(), ir.Location.name("xetile.matmul"):
        element, accumulator = _element_type("dtype", dtype), _element_type("acc_dtype", acc_dtype)
        if isinstance(element, ir.IntegerType) != isinstance(accumulator, ir.IntegerType):
            raise XeTileError(f"matmul: cannot accumulate {element} in {accumulator}; expected both float or both int")
        a, b, c = (
            ir.RankedTensorType.get(shape, kind)
            for shape, kind in (((m, k), element), ((k, n), element), ((m, n), accumulator))
        )
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("matmul", ([a, b, c] if accumulate else [a, b], [c]))
        with ir.InsertionPoint(function.add_entry_block()):
            if accumulate:
                start = function.arguments[2]
            else:
                zero = arith.constant(accumulator, 0 if isinstance(accumulator, ir.IntegerType) else 0.0)
                start = linalg.fill(zero, outs=[tensor.empty((m, n), accumulator)])
            func.ReturnOp([linalg.matmul(*function.arguments[:2], outs=[start])])
        return module


def _element_type(name: str, dtype: Any) -> ir.Type:
    text = dtype
    if not isinstance(dtype, str):
        try:
            text = np.dtype(dtype).name
        except (TypeError, ValueError, SyntaxError):
            text = told(dtype)
    text = _NUMPY_NAMES.get(text, text)
    if text not in _TYPES:
        raise XeTileError(f"matmul: expected {name} to be one of {', '.join(_TYPES)}, got {text}")
    return _TYPES[text]()
