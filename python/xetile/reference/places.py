# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers of a payload that say where to read: which arguments hold them, and how far they may go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError
from xetile.mlir import ir

# Ops between a number of an array and the index that it becomes.
_CASTS = {"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci"}


def read(array: NDArray[Any], indices: Sequence[NDArray[Any]], op: ir.Operation) -> NDArray[Any]:
    """`array[indices]` of a tensor.extract; XeTileError for an index outside, which has no meaning in MLIR and which
    NumPy would count from the end."""
    for dim, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        index = np.asarray(index)
        outside = index[(index < 0) | (index >= size)]
        if outside.size:
            raise XeTileError(
                f"{op.location}: tensor.extract: expected indices from 0 to {size - 1} in dimension {dim}, got "
                f"{outside.flat[0]}: the arrays that hold indices must be within the array that they read"
            )
    found: NDArray[Any] = np.asarray(array[tuple(indices)])
    return found


def limits(function: ir.Operation) -> dict[int, int]:
    """How many places the integers of an argument may name, by the argument's number: the least size of what they
    index, in a tensor.extract of the function or of the body of one of its ops, directly or behind casts."""
    block = function.regions[0].blocks[0]
    numbers: dict[Any, int] = {argument: number for number, argument in enumerate(block.arguments)}
    found: dict[int, int] = {}
    for extract in _extracts(function):
        source: Any = extract.operands[0].type
        for size, index in zip(source.shape, list(extract.operands)[1:], strict=True):
            number = numbers.get(_origin(index))
            if number is not None and size > 0:
                found[number] = min(found.get(number, size), size)
    return found


def _extracts(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                if inner.operation.name == "tensor.extract":
                    yield inner.operation
                yield from _extracts(inner.operation)


def _origin(value: ir.Value[Any]) -> ir.Value[Any]:
    """Past casts, extracts of another array, and from a body's argument to the operand that it is an element of."""
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            around = owner.owner.operation
            number = ir.BlockArgument(value).arg_number
            if around.name == "func.func" or number >= len(around.operands):
                return value
            value = around.operands[number]
        elif owner.name in _CASTS or owner.name == "tensor.extract":
            value = owner.operands[0]
        else:
            return value
