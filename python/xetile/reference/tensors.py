# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on whole tensors computed by NumPy: reshapes, slices, pads, and linalg's without loops of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.mlir import ir
from xetile.reference import places, scalars

__all__ = ["compute"]

Array = NDArray[Any]
_DYNAMIC = -(2**63)


def compute(op: ir.Operation, operands: Sequence[Array], precision: Any) -> Array | None:
    """The result; None for an operation that is not known."""
    known = _KNOWN.get(op.name)
    return None if known is None else known(op, list(operands), precision)


def _constant(op: ir.Operation, _: list[Array], precision: Any) -> Array | None:
    value: Any = op.attributes["value"]
    kind: Any = op.results[0].type
    if isinstance(value, (ir.FloatAttr, ir.IntegerAttr, ir.BoolAttr)):
        return scalars.conform(value.value, kind, precision)
    if not isinstance(value, (ir.DenseFPElementsAttr, ir.DenseIntElementsAttr)):
        return None
    element = kind.element_type
    if value.is_splat:
        splat: Any = value.get_splat_value()
        number = splat.value
        return np.full(kind.shape, scalars.conform(number, element, precision))
    return scalars.conform(np.array([value[number] for number in range(len(value))]), element, precision).reshape(
        kind.shape
    )


def _sizes(op: ir.Operation, name: str, dynamic: Sequence[Array]) -> list[int]:
    """Of an attribute of numbers, those that the run knows filled in from `dynamic`."""
    given = iter(dynamic)
    return [int(next(given)) if size == _DYNAMIC else int(size) for size in ir.DenseI64ArrayAttr(op.attributes[name])]


def _segments(op: ir.Operation, operands: list[Array]) -> list[list[Array]]:
    found, start = [], 0
    for count in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]):
        found.append(operands[start : start + count])
        start += count
    return found


def _empty(op: ir.Operation, operands: list[Array], precision: Any) -> Array:
    kind: Any = op.results[0].type
    sizes = iter(operands)
    shape = [int(next(sizes)) if kind.is_dynamic_dim(dim) else kind.get_dim_size(dim) for dim in range(kind.rank)]
    return np.zeros(shape, scalars.dtype_of(kind.element_type, precision))


def _part(op: ir.Operation, offsets: Any, sizes: Any, strides: Any) -> tuple[slice, ...]:
    starts = _sizes(op, "static_offsets", offsets)
    counts, steps = _sizes(op, "static_sizes", sizes), _sizes(op, "static_strides", strides)
    return tuple(
        slice(start, start + (count - 1) * step + 1 if count else start, step)
        for start, count, step in zip(starts, counts, steps, strict=True)
    )


def _extract_slice(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    (source,), offsets, sizes, strides = _segments(op, operands)
    part = source[_part(op, offsets, sizes, strides)]
    kind: Any = op.results[0].type
    if kind.rank == part.ndim:
        return part
    # Dimensions of one that the result has not, from the front on as MLIR drops them.
    wanted = [None if kind.is_dynamic_dim(dim) else kind.get_dim_size(dim) for dim in range(kind.rank)]
    shape: list[int] = []
    for size in part.shape:
        left = len(wanted) - len(shape)
        if left and (wanted[len(shape)] in (size, None)) and (size != 1 or wanted[len(shape)] == 1):
            shape.append(size)
    return part.reshape(shape)


def _insert_slice(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    (source,), (into,), offsets, sizes, strides = _segments(op, operands)
    result = into.copy()
    place = _part(op, offsets, sizes, strides)
    result[place] = source.reshape(result[place].shape)
    return result


def _collapse(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    groups = [
        [ir.IntegerAttr(dim).value for dim in ir.ArrayAttr(group)]
        for group in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    return operands[0].reshape([math.prod(operands[0].shape[dim] for dim in group) for group in groups])


def _expand(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    return operands[0].reshape(_sizes(op, "static_output_shape", operands[1:]))


def _pad(op: ir.Operation, operands: list[Array], precision: Any) -> Array | None:
    (source,), low, high = _segments(op, operands)
    inside = list(op.regions[0].blocks[0].operations)
    padding = inside[-1].operands[0].owner
    # One number, of the region or from before it.
    if isinstance(padding, ir.Block) or padding.name != "arith.constant":
        return None
    number: Any = _constant(padding.operation, [], precision)
    widths = zip(_sizes(op, "static_low", low), _sizes(op, "static_high", high), strict=True)
    return np.pad(source, list(widths), constant_values=number)


def _extract(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    return places.read(operands[0], operands[1:], op)


def _from_elements(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    kind: Any = op.results[0].type
    return np.array(operands).reshape(kind.shape)


def _concat(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    return np.concatenate(operands, axis=ir.IntegerAttr(op.attributes["dim"]).value)


def _softmax(op: ir.Operation, operands: list[Array], precision: Any) -> Array:
    axis, (values, _) = ir.IntegerAttr(op.attributes["dimension"]).value, operands
    kind: Any = op.results[0].type
    with np.errstate(all="ignore"):
        powers = np.exp(values - values.max(axis, keepdims=True))
        shares = powers / powers.sum(axis, keepdims=True)
    return scalars.conform(shares, kind.element_type, precision)


def _packing(op: ir.Operation, rank: int, tiles: Sequence[Array]) -> tuple[list[int], list[int], list[int]]:
    """Which dimensions are cut, by what, and the order of the outer ones."""
    dims = list(ir.DenseI64ArrayAttr(op.attributes["inner_dims_pos"]))
    order = list(ir.DenseI64ArrayAttr(op.attributes["outer_dims_perm"])) if "outer_dims_perm" in op.attributes else []
    return dims, _sizes(op, "static_inner_tiles", tiles), order or list(range(rank))


def _pack(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    (source,), (into,), padding, tiles = _segments(op, operands)
    dims, sizes, order = _packing(op, source.ndim, tiles)
    outer = dict(zip(order, into.shape, strict=False))
    whole = [outer[dim] * sizes[dims.index(dim)] if dim in dims else source.shape[dim] for dim in range(source.ndim)]
    more = [(0, max(0, size - had)) for size, had in zip(whole, source.shape, strict=True)]
    padded = np.pad(source, more, constant_values=padding[0] if padding else 0)
    shape: list[int] = []
    outer_axes: list[int] = []
    inner_axes: dict[int, int] = {}
    for dim in range(source.ndim):
        outer_axes.append(len(shape))
        shape.append(outer[dim])
        if dim in dims:
            inner_axes[dim] = len(shape)
            shape.append(sizes[dims.index(dim)])
    axes = [outer_axes[dim] for dim in order] + [inner_axes[dim] for dim in dims]
    return padded.reshape(shape).transpose(axes)


def _unpack(op: ir.Operation, operands: list[Array], _: Any) -> Array:
    source, into, *tiles = operands
    dims, sizes, order = _packing(op, into.ndim, tiles)
    axes: list[int] = []
    for dim in range(into.ndim):
        axes.append(order.index(dim))
        if dim in dims:
            axes.append(into.ndim + dims.index(dim))
    whole = [
        source.shape[order.index(dim)] * (sizes[dims.index(dim)] if dim in dims else 1) for dim in range(into.ndim)
    ]
    return source.transpose(axes).reshape(whole)[tuple(map(slice, into.shape))]


_KNOWN = {
    "arith.constant": _constant,
    "linalg.pack": _pack,
    "linalg.softmax": _softmax,
    "linalg.unpack": _unpack,
    "tensor.cast": lambda op, operands, precision: operands[0],
    "tensor.collapse_shape": _collapse,
    "tensor.concat": _concat,
    "tensor.dim": lambda op, operands, precision: np.asarray(operands[0].shape[int(operands[1])], np.int64),
    "tensor.empty": _empty,
    "tensor.expand_shape": _expand,
    "tensor.extract": _extract,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
}
