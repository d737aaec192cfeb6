# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a payload means, computed by NumPy: the reference that kernels are checked against.

Only the operations that payloads consist of are known: linalg.matmul and linalg.fill on tensors, constants, empty
tensors and returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError, expect
from xetile.mlir import ir
from xetile.signature import ArraySpec, Signature, find_function

__all__ = ["Difference", "compare", "count_flops", "evaluate", "random_arguments"]


@dataclass(frozen=True)
class Difference:
    """How far a result is from its reference.

    `max_relative`  largest difference of two elements, over the largest element of the reference.
    `row_relative`  the same for rows: largest norm of a row's difference, over the norm of that row of the reference.
    `max_absolute`  largest difference of two elements.
    """

    max_relative: float
    row_relative: float
    max_absolute: float

    def __str__(self) -> str:
        by_rows = f"by rows max(|d - ref| / |ref|) = {self.row_relative:.2e}"
        return f"max|d - ref| / max|ref| = {self.max_relative:.2e}, {by_rows}"


def evaluate(
    module: ir.Module, arrays: Sequence[NDArray[Any]], precision: type[np.floating[Any]] = np.float64
) -> tuple[NDArray[Any], ...]:
    """The results of the module's function, of `precision` or exact integers (int64).

    `arrays` are its arguments. They are taken as they are, and all that is computed is of `precision`. XeTileError for
    a function with other operations than payloads have.
    """
    signature = Signature.of(module)
    expect("arrays", arrays, Sequence, "a sequence of arrays")
    if len(arrays) != len(signature.arguments) and not signature.reason:
        raise XeTileError(f"{signature}: expected {len(signature.arguments)} arrays, got {len(arrays)}")
    for number, array in enumerate(arrays):
        expect(f"{signature}: argument {number}", array, np.ndarray, "a NumPy array")
    function = find_function(module.operation, signature.name)
    values: dict[ir.Value[Any], NDArray[Any]] = {}
    for argument, array in zip(function.arguments, arrays, strict=True):
        values[argument] = _widen(array, precision)
    for op in function.entry_block.operations:
        operands = [values[operand] for operand in op.operands]
        if op.operation.name == "func.return":
            return tuple(operands)
        result = _result(op, operands, precision)
        values[op.results[0]] = result
    raise XeTileError(f"@{signature.name} has no return")


def random_arguments(signature: Signature, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """Arrays for a function's arguments: floats from a normal distribution, integers from -4 to 4 (0 to 4), bools.

    XeTileError for sizes that are known at run time only.
    """
    expect("signature", signature, Signature, "a Signature")
    expect("rng", rng, np.random.Generator, "a numpy.random.Generator")
    if signature.reason:
        raise XeTileError(f"@{signature.name} cannot be called with arrays: {signature.reason}")
    if not all(spec.is_static for spec in signature.arguments):
        raise XeTileError(f"{signature}: expected arguments of static sizes to draw; call it with arrays of your own")
    return tuple(_random(spec, rng) for spec in signature.arguments)


def compare(result: NDArray[Any], expected: NDArray[Any]) -> Difference:
    """The difference of a result from its reference; infinite if the result has an element that is not finite."""
    for name, array in (("result", result), ("expected", expected)):
        expect(name, array, np.ndarray, "a NumPy array")
    if result.shape != expected.shape:
        raise XeTileError(f"result: expected shape {expected.shape}, got {result.shape}")
    result = _widen(result)
    if not np.isfinite(result).all():
        return Difference(np.inf, np.inf, np.inf)
    difference = np.abs(result - expected).astype(np.float64)
    largest = difference.max(initial=0.0)
    rows = np.linalg.norm(np.atleast_2d(difference), axis=-1)
    scale = np.linalg.norm(np.atleast_2d(expected).astype(np.float64), axis=-1)
    return Difference(
        max_relative=_ratio(largest, np.abs(expected).max(initial=0)),
        row_relative=max((_ratio(row, norm) for row, norm in zip(rows.flat, scale.flat, strict=True)), default=0.0),
        max_absolute=float(largest),
    )


def _ratio(difference: Any, scale: Any) -> float:
    if difference == 0:
        return 0.0
    return float(difference) / float(scale) if scale else float("inf")


def _widen(array: NDArray[Any], precision: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    return array.astype(np.int64 if np.issubdtype(array.dtype, np.integer) else precision)


def _random(spec: ArraySpec, rng: np.random.Generator) -> NDArray[Any]:
    dtype = spec.numpy_dtype
    if dtype == np.bool_:
        return np.asarray(rng.integers(0, 2, spec.shape)).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0 if np.issubdtype(dtype, np.unsignedinteger) else -4, 5, spec.shape).astype(dtype)
    return rng.standard_normal(spec.shape, np.float32).astype(dtype)


def _result(op: ir.OpView, operands: list[NDArray[Any]], precision: type[np.floating[Any]]) -> NDArray[Any]:
    name = op.operation.name
    if name == "arith.constant" and isinstance(op.attributes["value"], (ir.FloatAttr, ir.IntegerAttr)):
        return _widen(np.array(op.attributes["value"].value), precision)
    if name == "tensor.empty" and not operands:
        return np.zeros(ir.RankedTensorType(op.results[0].type).shape, precision)
    if name == "linalg.fill":
        value, into = operands
        return np.full(into.shape, value)
    if name == "linalg.matmul" and _is_plain(op):
        a, b, c = operands
        d: NDArray[Any] = c + a @ b
        return d
    raise XeTileError(
        f"cannot compute {name} with NumPy; expected linalg.matmul, linalg.fill, constants and empty tensors"
    )


def _is_plain(matmul: ir.OpView) -> bool:
    """Whether neither operand is transposed or broadcast, and signed numbers are multiplied as such."""
    if "cast" in matmul.attributes and "unsigned" in str(matmul.attributes["cast"]):
        return False
    if "indexing_maps" not in matmul.attributes:
        return True
    given = [str(ir.AffineMapAttr(item).value) for item in ir.ArrayAttr(matmul.attributes["indexing_maps"])]
    return given == [f"(d0, d1, d2) -> ({dims})" for dims in ("d0, d2", "d2, d1", "d0, d1")]


def count_flops(module: ir.Module) -> int:
    """Multiplications and additions of the module's matmuls."""
    expect("module", module, ir.Module, "a module")
    flops = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal flops
        if op.name == "linalg.matmul":
            (m, k), (_, n) = (ir.RankedTensorType(operand.type).shape for operand in op.operands[:2])
            flops += 2 * m * n * k
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return flops
