# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`linalg.generic` computed by NumPy: sums of products by einsum, other reductions by NumPy's, the rest step by step.

All loops but those of a reduction that NumPy does not know are NumPy's own; the body is computed on whole arrays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError
from xetile.mlir import ir
from xetile.reference import places, scalars

__all__ = ["Generic", "count_products"]

Array = NDArray[Any]
Values = dict[Any, Array]
# Elements of what is computed at once, and steps of what is not.
_MOST_ELEMENTS, _MOST_STEPS = 1 << 25, 1 << 20
_COMBINERS: Mapping[str, Any] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
}
_CASTS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.sitofp", "arith.uitofp")


def count_products(op: ir.Operation) -> int:
    """Twice the steps of the loops of a `linalg.generic` of static sizes that reduces; 0 for others."""
    if not any("reduction" in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])):
        return 0
    sizes: dict[int, int] = {}
    for operand, each in zip(op.operands, ir.ArrayAttr(op.attributes["indexing_maps"]), strict=True):
        if not isinstance(operand.type, ir.ShapedType):
            continue
        for axis, expr in enumerate(ir.AffineMapAttr(each).value.results):
            if isinstance(expr, ir.AffineDimExpr) and not operand.type.is_dynamic_dim(axis):
                sizes[expr.position] = operand.type.get_dim_size(axis)
    return 2 * math.prod(sizes.values()) if len(sizes) == len(ir.ArrayAttr(op.attributes["iterator_types"])) else 0


class Generic:
    """One `linalg.generic`, its operands and what its body uses of outside."""

    def __init__(self, op: ir.Operation, operands: Sequence[Array], outside: Values, precision: Any) -> None:
        self._op, self._operands, self._outside, self._precision = op, list(operands), outside, precision
        maps = ir.ArrayAttr(op.attributes["indexing_maps"])
        self._maps = [list(ir.AffineMapAttr(each).value.results) for each in maps]
        kinds = [str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
        self.reductions = [dim for dim, kind in enumerate(kinds) if "reduction" in kind]
        self.sizes = [self._size(dim) for dim in range(len(kinds))]
        self._body = op.regions[0].blocks[0]
        self._inputs = len(operands) - len(op.results)
        self._inside = list(self._body.operations)
        self._yielded = list(self._inside[-1].operands)
        self._made: dict[ir.Value[Any], ir.Operation] = {
            result: each.operation for each in self._inside for result in each.results
        }

    def _size(self, dim: int) -> int:
        for exprs, operand in zip(self._maps, self._operands, strict=True):
            for axis, expr in enumerate(exprs):
                if isinstance(expr, ir.AffineDimExpr) and expr.position == dim:
                    return int(operand.shape[axis])
        raise XeTileError("cannot compute linalg.generic with NumPy: expected a loop's size to be a dimension's")

    def results(self) -> list[Array]:
        """The arrays that the operation computes, as NumPy has them in wide types."""
        outputs = self._operands[self._inputs :]
        if 0 in self.sizes:
            return outputs
        if not self.reductions:
            return [self._stored(number, value) for number, value in enumerate(self._values({}, self._before({})))]
        if len(outputs) == 1 and (found := self._reduced()) is not None:
            return [found]
        return self._step_by_step()

    # The body on arrays with a dimension for each loop, of size one where nothing depends on it.

    def _index(self, expr: Any, fixed: Mapping[int, int]) -> Any:
        if isinstance(expr, ir.AffineDimExpr):
            dim = expr.position
            if dim in fixed:
                return np.full([1] * len(self.sizes), fixed[dim])
            return np.arange(self.sizes[dim]).reshape([-1 if each == dim else 1 for each in range(len(self.sizes))])
        if isinstance(expr, ir.AffineConstantExpr):
            return np.full([1] * len(self.sizes), expr.value)
        left, right = self._index(expr.lhs, fixed), self._index(expr.rhs, fixed)
        if isinstance(expr, ir.AffineAddExpr):
            return left + right
        if isinstance(expr, ir.AffineMulExpr):
            return left * right
        if isinstance(expr, ir.AffineModExpr):
            return left % right
        return left // right if isinstance(expr, ir.AffineFloorDivExpr) else -(-left // right)

    def _read(self, number: int, fixed: Mapping[int, int]) -> Array:
        operand, exprs = self._operands[number], self._maps[number]
        if not exprs:
            return operand.reshape([1] * len(self.sizes))
        found: Array = operand[tuple(self._index(expr, fixed) for expr in exprs)]
        return found

    def _before(self, fixed: Mapping[int, int]) -> list[Array]:
        return [self._read(number, fixed) for number in range(self._inputs, len(self._operands))]

    def _values(self, fixed: Mapping[int, int], accumulated: Sequence[Array], wanted: Any = None) -> list[Array]:
        """The values that the body yields, or the value `wanted` alone."""
        values = dict(self._outside)
        arguments = list(self._body.arguments)
        for number in range(self._inputs):
            values[arguments[number]] = self._read(number, fixed)
        for argument, array in zip(arguments[self._inputs :], accumulated, strict=False):
            values[argument] = array
        for op in self._inside[:-1]:
            if wanted is not None and wanted in values:
                break
            if any(operand not in values for operand in op.operands):
                continue  # of what was accumulated
            values[op.results[0]] = self._scalar(op.operation, values, fixed)
        return [values[value] for value in ([wanted] if wanted is not None else self._yielded)]

    def _scalar(self, op: ir.Operation, values: Values, fixed: Mapping[int, int]) -> Array:
        rank = len(self.sizes)
        if op.name == "linalg.index":
            dim = ir.IntegerAttr(op.attributes["dim"]).value
            return np.asarray(self._index(ir.AffineDimExpr.get(dim, op.context), fixed), np.int64)
        if op.name == "arith.constant":
            value = op.attributes["value"]
            number = value.value if isinstance(value, (ir.FloatAttr, ir.IntegerAttr, ir.BoolAttr)) else 0
            return scalars.conform(number, op.results[0].type, self._precision).reshape([1] * rank)
        operands = [values[operand] for operand in op.operands]
        if op.name == "tensor.extract":
            return places.read(operands[0], operands[1:], op) if len(operands) > 1 else operands[0]
        result = scalars.compute(op, operands, self._precision)
        if result is None:
            raise XeTileError(f"cannot compute {op.name} in linalg.generic with NumPy")
        return result

    def _stored(self, number: int, value: Array) -> Array:
        """From loops to the dimensions of an output."""
        output, exprs = self._operands[self._inputs + number], self._maps[self._inputs + number]
        if not all(isinstance(expr, ir.AffineDimExpr) for expr in exprs):
            raise XeTileError("cannot compute linalg.generic with NumPy: expected outputs indexed by loops alone")
        places = [expr.position for expr in exprs if isinstance(expr, ir.AffineDimExpr)]
        whole = np.broadcast_to(value, [size if dim in places else 1 for dim, size in enumerate(self.sizes)])
        rest = [dim for dim in range(len(self.sizes)) if dim not in places]
        return np.ascontiguousarray(whole.transpose(places + rest).reshape(output.shape))

    # Reductions

    def _reduced(self) -> Array | None:
        """A reduction that is one of NumPy's over what does not depend on its result so far; None for others."""
        owner = self._made.get(self._yielded[0])
        if owner is None or owner.name not in _COMBINERS:
            return None
        before = self._body.arguments[self._inputs]
        sides = list(owner.operands)
        if sides.count(before) != 1:
            return None
        other = sides[1 - sides.index(before)]
        if self._depends(other, before):
            return None
        combine = _COMBINERS[owner.name]
        element = self._yielded[0].type
        kept = self._read(self._inputs, {})
        # Windows one by one: what is left of their maps are single loops.
        stepped = [dim for dim in self.reductions if self._is_in_sum(dim)]
        product = self._product(other) if combine is np.add else None
        if product is None:
            while self._elements(stepped) > _MOST_ELEMENTS and len(stepped) < len(self.reductions):
                stepped.append(next(dim for dim in self.reductions if dim not in stepped))
        if math.prod(self.sizes[dim] for dim in stepped) > _MOST_STEPS:
            raise XeTileError("cannot compute linalg.generic with NumPy: its reduction has too many steps")
        total: Array | None = None
        for place in itertools.product(*(range(self.sizes[dim]) for dim in stepped)):
            fixed = dict(zip(stepped, place, strict=True))
            part = self._sum_of_products(product, fixed) if product is not None else None
            if part is None:
                product = None
                axes = tuple(dim for dim in self.reductions if dim not in stepped)
                (values,) = self._values(fixed, [], other)
                shape = [1 if dim in stepped else size for dim, size in enumerate(self.sizes)]
                whole = np.broadcast_to(values, shape)
                part = combine.reduce(whole, axes, keepdims=True, dtype=whole.dtype) if axes else whole
            total = part if total is None else combine(total, part)
        assert total is not None
        return self._stored(0, scalars.conform(combine(kept, total), element, self._precision))

    def _elements(self, stepped: Sequence[int]) -> int:
        return math.prod(size for dim, size in enumerate(self.sizes) if dim not in stepped)

    def _is_in_sum(self, dim: int) -> bool:
        def has(expr: Any) -> bool:
            if isinstance(expr, ir.AffineDimExpr):
                return bool(expr.position == dim)
            return not isinstance(expr, ir.AffineConstantExpr) and (has(expr.lhs) or has(expr.rhs))

        return any(has(expr) for exprs in self._maps for expr in exprs if not isinstance(expr, ir.AffineDimExpr))

    def _depends(self, value: Any, on: Any) -> bool:
        if value == on:
            return True
        owner = self._made.get(value)
        return owner is not None and any(self._depends(operand, on) for operand in owner.operands)

    def _product(self, value: Any) -> list[tuple[int, Any]] | None:
        """Of two inputs, which casts may be before: their numbers, and the values that are multiplied."""
        owner = self._made.get(value)
        if owner is None or owner.name not in ("arith.mulf", "arith.muli"):
            return None
        if scalars.narrow_type(value.type) is not None:
            return None  # each product is rounded
        found = []
        for operand in owner.operands:
            source = operand
            while (cast := self._made.get(source)) is not None and cast.name in _CASTS:
                source = cast.operands[0]
            inputs: list[ir.Value[Any]] = [*list(self._body.arguments)[: self._inputs]]
            if source not in inputs:
                return None
            number = inputs.index(source)
            found.append((number, operand))
        return found

    def _sum_of_products(self, product: list[tuple[int, Any]], fixed: Mapping[int, int]) -> Array | None:
        """None where an operand's map is no choice of loops."""
        parts: list[Any] = []
        for _, wanted in product:
            (values,) = self._values(fixed, [], wanted)
            dims = [dim for dim, size in enumerate(values.shape) if size > 1]
            parts += [values.reshape([values.shape[dim] for dim in dims]), dims]
        places = [dim for dim in range(len(self.sizes)) if dim not in self.reductions]
        first, second = parts[0], parts[2]
        covered = [dim for dim in places if dim in parts[1] or dim in parts[3]]
        # Reduction dimensions that both operands lack multiply the sum.
        lacking = [dim for dim in self.reductions if dim not in (*parts[1], *parts[3], *fixed)]
        times = math.prod(self.sizes[dim] for dim in lacking)
        dtype = first.dtype
        if dtype.kind == "i":
            largest = float(np.abs(first.astype(np.float64)).max(initial=0)) * np.abs(second.astype(np.float64)).max(
                initial=0
            )
            count = math.prod(self.sizes[dim] for dim in self.reductions)
            # Products of matrices are fast for floats; these are exact, or else slow.
            if largest * count < 2.0**53:
                parts[0], parts[2] = first.astype(np.float64), second.astype(np.float64)
        sums = np.einsum(*parts, covered, optimize=True)
        sums = (sums.astype(np.int64) if dtype.kind == "i" and sums.dtype.kind == "f" else sums) * times
        return (
            np.asarray(sums)
            .astype(dtype)
            .reshape([self.sizes[dim] if dim in covered else 1 for dim in range(len(self.sizes))])
        )

    def _step_by_step(self) -> list[Array]:
        steps = math.prod(self.sizes[dim] for dim in self.reductions)
        if steps > _MOST_STEPS:
            raise XeTileError("cannot compute linalg.generic with NumPy: its reduction has too many steps")
        values = self._before({})
        for place in itertools.product(*(range(self.sizes[dim]) for dim in self.reductions)):
            values = self._values(dict(zip(self.reductions, place, strict=True)), values)
        return [self._stored(number, value) for number, value in enumerate(values)]
