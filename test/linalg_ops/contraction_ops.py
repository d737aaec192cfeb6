# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products that linalg names, and `linalg.contract`: letters of dimensions, NumPy's einsum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from payloads import NUMPY, Case, Draw, Expected, Payload, Spec, affine, exactly, is_float, nearly, tensor

__all__ = ["specs", "sum_of_products"]

MAPS = {
    "matmul": ("mk", "kn", "mn"),
    "batch_matmul": ("bmk", "bkn", "bmn"),
    "batch_reduce_matmul": ("bmk", "bkn", "mn"),
    "matvec": ("mk", "k", "m"),
    "vecmat": ("k", "kn", "n"),
    "batch_matvec": ("bmk", "bk", "bm"),
    "batch_vecmat": ("bk", "bkn", "bn"),
    "dot": ("k", "k", ""),
    "mmt4d": ("mkac", "nkdc", "mnad"),
    "batch_mmt4d": ("bmkac", "bnkdc", "bmnad"),
}
QUANTIZED = {"quantized_matmul": ("mk", "kn", "mn"), "quantized_batch_matmul": ("bmk", "bkn", "bmn")}
# Maps of matmul and its kin that are written out: transposed and broadcast operands.
WRITTEN = {
    "matmul": [("km", "kn", "mn"), ("mk", "nk", "mn"), ("k", "kn", "mn"), ("mk", "k", "mn"), ("km", "k", "mn")],
    "batch_matmul": [("bkm", "bkn", "bmn"), ("bmk", "bnk", "bmn"), ("bmk", "k", "bmn"), ("k", "bkn", "bmn")],
    "batch_reduce_matmul": [("bkm", "bkn", "mn"), ("bmk", "bnk", "mn")],
}
CONTRACT = ("mk,kn->mn", "km,nk->nm", "bmk,kn->bmn", "bmk,bnk->mbn", "mhk,hkn->mn", "ij,ij->",  "bik,bkj->ijb",
            "mkl,lkn->nm", "abk,akc->cab", "i,ij->j", "abcdk,ke->abcde")  # fmt: skip
CASTS = ("matmul", "batch_matmul", "contract")
"""Ops whose attribute `cast` says how they extend. MLIR's `batch_reduce_matmul` has one, and a region that extends with
the sign whatever it says."""
TYPES = [
    *((dtype, dtype, dtype) for dtype in ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64")),
    *(("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32", "f32", "f64"), ("f16", "f32", "f32")),
    *(("i8", "i8", "i32"), ("i16", "i16", "i32"), ("i32", "i32", "i64"), ("i8", "i16", "i32"), ("i8", "i8", "f32")),
]


def sum_of_products(equation: str, a: np.ndarray, b: np.ndarray, start: np.ndarray, dtype: str) -> Expected:
    """`start` and the products of both, which have the element type `dtype` already, with as many bits as NumPy has."""
    if not is_float(dtype):
        products = np.einsum(equation, a.astype(np.int64), b.astype(np.int64))
        return exactly(products + start.astype(np.int64), dtype)
    wide = [each.astype(np.float64) for each in (a, b, start)]
    exact = np.einsum(equation, wide[0], wide[1]) + wide[2]
    magnitude = np.einsum(equation, np.abs(wide[0]), np.abs(wide[1])) + np.abs(wide[2])
    return nearly(exact, dtype, magnitude, parts=8)


def _draw(
    op: str, maps: list[tuple[str, str, str]], types: tuple[str, str, str], form: str, zero_points: bool, draw: Draw
) -> Case:
    a_map, b_map, c_map = draw.choice(maps)
    payload = Payload()
    loops = "".join(dict.fromkeys(c_map + a_map + b_map))
    most = 33 if len(loops) < 4 else 13 if len(loops) < 5 else 5
    sizes = {letter: draw.size(most) for letter in loops}
    if draw.shapes == "odd" and op in ("matmul", "dot", "matvec") and draw.rng.random() < 0.3:
        sizes["k"] = 257
    a, b = (
        draw.array([sizes[each] for each in letters], kind, small=types[2] == "f32" and kind[0] == "i")
        for letters, kind in zip((a_map, b_map), types, strict=False)
    )
    shape = tuple(sizes[each] for each in c_map)
    names = [payload.argument(a, types[0]), payload.argument(b, types[1])]
    kinds = [tensor(a.shape, types[0]), tensor(b.shape, types[1])]
    cast = _unsigned if "unsigned" in form else _signed
    a, b = cast(a, types[2]), cast(b, types[2])
    if zero_points:
        points = [int(draw.rng.integers(-9, 10)) for _ in range(2)]
        names += [payload.constant(each, types[2]) for each in points]
        kinds += [types[2]] * 2
        a, b = a - NUMPY[types[2]](points[0]), b - NUMPY[types[2]](points[1])
    start, before = payload.start(draw, shape, types[2])
    attributes = " {cast = #linalg.type_fn<cast_unsigned>}" if "unsigned" in form else ""
    written = ""
    if op == "contract" or (a_map, b_map, c_map) != (MAPS | QUANTIZED)[op]:
        order = loops if op == "contract" else _loops(op)
        written = f" indexing_maps = [{', '.join(affine(order, each) for each in (a_map, b_map, c_map))}]"
    kind = tensor(shape, types[2])
    if op == "contract" and attributes:
        where = f"{written} ins({', '.join(names)} : {', '.join(kinds)}) outs({start} : {kind})"
        result = payload.line(f"linalg.contract{where} {{cast = #linalg.type_fn<cast_unsigned>}} -> {kind}")
    else:
        result = payload.line(
            f"linalg.{op}{written}{attributes} ins({', '.join(names)} : {', '.join(kinds)}) outs({start} : {kind}) "
            f"-> {kind}"
        )
    lacking = {letter: size for letter, size in sizes.items() if letter not in a_map + b_map and letter in c_map}
    a = np.broadcast_to(a.reshape(a.shape + (1,) * len(lacking)), a.shape + tuple(lacking.values()))
    equation = f"{a_map}{''.join(lacking)},{b_map}->{c_map}"
    return payload.case([result], [sum_of_products(equation, a, b, before, types[2])])


def _loops(op: str) -> str:
    return {"matmul": "mnk", "batch_matmul": "bmnk", "batch_reduce_matmul": "bmnk"}[op]


def _signed(array: np.ndarray, dtype: str) -> np.ndarray:
    return array.astype(NUMPY[dtype])


def _unsigned(array: np.ndarray, dtype: str) -> np.ndarray:
    return (
        array.view(f"u{array.dtype.itemsize}").astype(NUMPY[dtype])
        if array.dtype.kind == "i"
        else _signed(array, dtype)
    )


def specs() -> Iterator[Spec]:
    for op in (*MAPS, "contract"):
        ways = [tuple(each.replace("->", ",").split(",")) for each in CONTRACT] if op == "contract" else [MAPS[op]]
        for types in TYPES:
            form = f"{types[0]} x {types[1]} -> {types[2]}"
            yield Spec(f"linalg.{op}", form, partial(_draw, op, ways, types, form, False))
            if op in WRITTEN:
                form += " with maps"
                yield Spec(f"linalg.{op}", form, partial(_draw, op, WRITTEN[op], types, form, False))
        if op in CASTS:
            form = "i8 x i8 -> i32 unsigned"
            yield Spec(f"linalg.{op}", form, partial(_draw, op, ways, ("i8", "i8", "i32"), form, False))
    for op, maps in QUANTIZED.items():
        for types in (("i8", "i8", "i32"), ("i16", "i16", "i32"), ("i32", "i32", "i32"), ("i8", "i8", "i64")):
            form = f"{types[0]} x {types[1]} -> {types[2]}"
            yield Spec(f"linalg.{op}", form, partial(_draw, op, [maps], types, form, True))
