# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise ops that linalg names, and `linalg.elementwise` of every kind that the bindings list."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from payloads import (
    FLOATS,
    INTEGERS,
    NUMPY,
    SHAPES,
    Case,
    Draw,
    Expected,
    Payload,
    Spec,
    affine,
    exactly,
    is_float,
    nearly,
    tensor,
)

__all__ = ["KINDS", "specs"]

RANKS = range(6)
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _round(x: np.ndarray) -> np.ndarray:
    """Halves away from zero, as C's round."""
    return np.where(np.isfinite(x), np.copysign(np.floor(np.abs(x) + 0.5), x), x)


# Of f64; the type's own rounding comes after.
UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "negf": np.negative,
    "reciprocal": np.reciprocal,
    "round": _round,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
    "tanh": np.tanh,
    "erf": _erf,
}
EXACT = ("abs", "ceil", "floor", "negf", "round")
BINARY = ("add", "sub", "mul", "div", "div_unsigned", "max", "min", "powf")
KINDS = {
    **dict.fromkeys(UNARY, 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "div_unsigned", "powf"), 2),
    **dict.fromkeys(("max_signed", "min_signed", "max_unsigned", "min_unsigned"), 2),
    "select": 3,
}
"""Kinds of `linalg.elementwise` with how many operands they have."""


def _types(op: str) -> tuple[str, ...]:
    if op in UNARY or op == "powf":
        return FLOATS
    if op.endswith("_unsigned"):
        return INTEGERS  # MLIR's parser crashes on others
    # Booleans are added with or, multiplied with and; the larger of two is that of -1 and 0.
    return (*FLOATS, *INTEGERS, *(("i1",) if op not in ("sub", "div") else ()))


def _expected(op: str, operands: list[np.ndarray], dtype: str) -> Expected:
    with np.errstate(all="ignore"):
        if op == "select":
            return exactly(np.where(*operands), dtype)
        if not is_float(dtype):
            return exactly(_integers(op, *operands), dtype)
        wide = [each.astype(np.float64) for each in operands]
        if op in UNARY:
            values = UNARY[op](*wide)
            # One step from f64 to a narrower type: nothing is rounded twice.
            return exactly(values, dtype) if op in EXACT else nearly(values, dtype, ulps=2 if op != "rsqrt" else 4)
        if op.startswith(("max", "min")):
            return exactly((np.maximum if op.startswith("max") else np.minimum)(*wide), dtype)
        if op == "powf":
            return nearly(np.power(*wide), dtype, ulps=8)
        values = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op](*wide)
        return nearly(values, dtype, ulps=1 if op != "div" else 2)


def _integers(op: str, a: np.ndarray, b: np.ndarray) -> Any:
    if a.dtype.kind == "b":
        return a | b if op in ("add", "min", "min_signed") else a & b
    if op == "div":
        # Toward zero; NumPy's goes down.
        quotients = a.astype(object).copy()
        return (np.abs(quotients) // np.abs(b.astype(object)) * (np.sign(a).astype(object) * np.sign(b))).astype(
            a.dtype
        )
    if op in ("div_unsigned", "max_unsigned", "min_unsigned"):
        bits = f"u{a.dtype.itemsize}"
        of = {"div_unsigned": np.floor_divide, "max_unsigned": np.maximum, "min_unsigned": np.minimum}[op]
        return of(a.view(bits), b.view(bits)).view(a.dtype)
    of = np.maximum if op.startswith("max") else np.minimum if op.startswith("min") else None
    return (of or {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op])(a, b)


def _operands(draw: Draw, op: str, shapes: list[tuple[int, ...]], dtype: str) -> list[np.ndarray]:
    """Of the domain of `op`, and beside it where the result is NaN; no quotient that is undefined."""
    kinds = ["i1", dtype, dtype] if op == "select" else [dtype] * len(shapes)
    found = [draw.array(shape, kind, special=True) for shape, kind in zip(shapes, kinds, strict=True)]
    if op in ("div", "div_unsigned") and not is_float(dtype):
        lowest = np.iinfo(NUMPY[dtype]).min
        found[1] = np.where(found[1] == 0, NUMPY[dtype](3), found[1])
        if op == "div":
            found[0] = np.where(found[0] == lowest, NUMPY[dtype](lowest + 1), found[0])
    if op in ("log", "sqrt", "rsqrt") or op == "powf":
        positive = draw.rng.random(found[0].shape) < 0.8
        found[0] = np.asarray(np.where(positive, np.abs(found[0]), found[0]), NUMPY[dtype])
    return [np.asarray(each) for each in found]


def _named(op: str, dtype: str, rank: int, draw: Draw) -> Case:
    count = 1 if op in UNARY else 3 if op == "select" else 2
    shape = draw.shape(rank)
    payload = Payload()
    operands = _operands(draw, op, [shape] * count, dtype)
    kinds = ["i1", dtype, dtype] if op == "select" else [dtype] * count
    names = [payload.argument(array, kind) for array, kind in zip(operands, kinds, strict=True)]
    start, kind = payload.empty(shape, dtype), tensor(shape, dtype)
    name = payload.line(
        f"linalg.{op} ins({', '.join(names)} : {', '.join(tensor(shape, each) for each in kinds)}) "
        f"outs({start} : {kind}) -> {kind}"
    )
    return payload.case([name], [_expected(op, operands, dtype)])


def _of_kind(op: str, dtype: str, rank: int, draw: Draw) -> Case:
    """Operands are read in another order of dimensions, or lack some."""
    shape = draw.shape(rank)
    loops = "abcde"[:rank]
    count = KINDS[op]
    maps = ["".join(loops[each] for each in draw.permutation(rank)) for _ in range(count)]
    maps = ["".join(each for each in letters if draw.rng.random() < 0.8) for letters in maps]
    if draw.rng.random() < 0.4:
        maps = [loops] * count
    sizes = dict(zip(loops, shape, strict=True))
    payload = Payload()
    operands = _operands(draw, op, [tuple(sizes[each] for each in letters) for letters in maps], dtype)
    kinds = ["i1", dtype, dtype] if op == "select" else [dtype] * count
    names = [payload.argument(array, kind) for array, kind in zip(operands, kinds, strict=True)]
    start, kind = payload.empty(shape, dtype), tensor(shape, dtype)
    written = ""
    if any(letters != loops for letters in maps):
        written = f" indexing_maps = [{', '.join(affine(loops, letters) for letters in (*maps, loops))}]"
    inputs = ", ".join(tensor(array.shape, each) for array, each in zip(operands, kinds, strict=True))
    name = payload.line(
        f"linalg.elementwise kind=#linalg.elementwise_kind<{op}>{written} ins({', '.join(names)} : {inputs}) "
        f"outs({start} : {kind}) -> {kind}"
    )
    return payload.case([name], [_expected(op, [_placed(*each, loops, shape) for each in zip(operands, maps)], dtype)])  # noqa: B905


def _placed(array: np.ndarray, letters: str, loops: str, shape: tuple[int, ...]) -> np.ndarray:
    ordered = array.transpose([letters.index(each) for each in loops if each in letters])
    return np.broadcast_to(ordered.reshape([shape[i] if each in letters else 1 for i, each in enumerate(loops)]), shape)


def specs() -> Iterator[Spec]:
    for op in (*UNARY, *BINARY, "select"):
        for dtype in _types(op):
            for rank in RANKS:
                shapes = SHAPES if rank else ("one",)
                yield Spec(f"linalg.{op}", f"{dtype} rank {rank}", partial(_named, op, dtype, rank), shapes)
    for op in KINDS:
        for dtype in _types(op):
            for rank in RANKS:
                shapes = SHAPES if rank else ("one",)
                yield Spec(
                    "linalg.elementwise", f"{op} {dtype} rank {rank}", partial(_of_kind, op, dtype, rank), shapes
                )
