# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An interpreter of payloads in NumPy: the reference that kernels are checked against.

Known are the structured ops of linalg, named or generic, with bodies of arith and math; linalg.softmax, pack and
unpack; arith and math on tensors and numbers; reshapes, slices and pads of tensors. Named ops mean what MLIR's own
generic form of them says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile import passes
from xetile.errors import XeTileError, expect
from xetile.kernels.signature import ArraySpec, Signature, find_function
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.reference import linalg, places, scalars, tensors

__all__ = ["Difference", "compare", "count_flops", "evaluate", "random_arguments", "tolerance"]

_GENERALIZE = "linalg-generalize-named-ops"
# Of sums in f32, whose order nobody promises.
_TOLERANCE = 1e-3


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

    `arrays` are its arguments. They are taken as they are, and all that is computed is of `precision`, rounded to f16
    or bf16 where an operation's result has that type: sums once, at their end. XeTileError for a function with other
    operations than are known.
    """
    signature = Signature.of(module)
    expect("arrays", arrays, Sequence, "a sequence of arrays")
    if len(arrays) != len(signature.arguments) and not signature.reason:
        raise XeTileError(f"{signature}: expected {len(signature.arguments)} arrays, got {len(arrays)}")
    for number, array in enumerate(arrays):
        expect(f"{signature}: argument {number}", array, np.ndarray, "a NumPy array")
    generic = _generic(module)
    function = find_function(generic.operation, signature.name)
    values: dict[ir.Value[Any], NDArray[Any]] = {}
    for argument, spec, array in zip(function.arguments, signature.arguments, arrays, strict=True):
        if not spec.takes(array.shape):
            raise XeTileError(f"{signature}: expected an argument of {spec}, got one of {list(array.shape)}")
        kind = argument.type.element_type if isinstance(argument.type, ir.ShapedType) else argument.type
        values[argument] = array.astype(scalars.dtype_of(kind, precision))
    for op in function.entry_block.operations:
        operands = [values[operand] for operand in op.operands]
        if op.operation.name == "func.return":
            return tuple(_widen(result, precision) for result in operands)
        results = _results(op.operation, operands, values, precision)
        values.update(zip(op.results, results, strict=True))
    raise XeTileError(f"@{signature.name} has no return")


def tolerance(module: ir.Module) -> float:
    """How far results may be from `evaluate`'s, relative to the largest: sums in f32 in any order, and one neighbour of
    a narrow float where a result, or what is between, is rounded to one."""
    expect("module", module, ir.Module, "a module")
    found = [_TOLERANCE]

    def visit(op: ir.Operation) -> ir.WalkResult:
        for result in op.results:
            kind = result.type.element_type if isinstance(result.type, ir.ShapedType) else result.type
            if isinstance(kind, ir.BF16Type):
                found.append(2.0**-7)
            elif isinstance(kind, ir.F16Type):
                found.append(2.0**-10)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return max(found)


def _generic(module: ir.Module) -> ir.Module:
    copy = _xetile.clone_module(module.operation)
    passes.run(copy, _GENERALIZE, action="compute the payload with NumPy")
    return copy


def random_arguments(
    signature: Signature, rng: np.random.Generator, payload: ir.Module | None = None
) -> tuple[NDArray[Any], ...]:
    """Arrays for a function's arguments: floats from a normal distribution, integers from -4 to 4 (0 to 4), bools.

    Integers by which `payload` reads an array are places of that array. XeTileError for sizes that are known at run
    time only.
    """
    expect("signature", signature, Signature, "a Signature")
    expect("rng", rng, np.random.Generator, "a numpy.random.Generator")
    if signature.reason:
        raise XeTileError(f"@{signature.name} cannot be called with arrays: {signature.reason}")
    if not all(spec.is_static for spec in signature.arguments):
        raise XeTileError(f"{signature}: expected arguments of static sizes to draw; call it with arrays of your own")
    limits = places.limits(find_function(payload.operation, signature.name).operation) if payload else {}
    return tuple(_random(spec, rng, limits.get(number)) for number, spec in enumerate(signature.arguments))


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


def _random(spec: ArraySpec, rng: np.random.Generator, limit: int | None) -> NDArray[Any]:
    dtype = spec.numpy_dtype
    if limit is not None and np.issubdtype(dtype, np.integer):
        return rng.integers(0, min(limit, np.iinfo(dtype).max), spec.shape).astype(dtype)
    if dtype == np.bool_:
        return np.asarray(rng.integers(0, 2, spec.shape)).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0 if np.issubdtype(dtype, np.unsignedinteger) else -4, 5, spec.shape).astype(dtype)
    return rng.standard_normal(spec.shape, np.float32).astype(dtype)


def _results(
    op: ir.Operation, operands: list[NDArray[Any]], values: dict[Any, NDArray[Any]], precision: type[np.floating[Any]]
) -> list[NDArray[Any]]:
    if op.name == "linalg.generic":
        return linalg.Generic(op, operands, values, precision).results()
    result = tensors.compute(op, operands, precision)
    if result is None:
        result = scalars.compute(op, operands, precision)
    if result is None:
        raise XeTileError(
            f"cannot compute {op.name} with NumPy; expected ops of linalg, arith and math, and reshapes, slices and "
            "pads of tensors"
        )
    return [result]


def count_flops(module: ir.Module) -> int:
    """Multiplications and additions of the module's sums of products: matmuls, convolutions and the like."""
    expect("module", module, ir.Module, "a module")
    flops = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal flops
        if op.name == "linalg.generic":
            names = [inner.operation.name for inner in op.regions[0].blocks[0].operations]
            if {"arith.mulf", "arith.addf"} <= set(names) or {"arith.muli", "arith.addi"} <= set(names):
                flops += linalg.count_products(op)
        return ir.WalkResult.ADVANCE

    generic = _generic(module)
    generic.operation.walk(visit)
    return flops
