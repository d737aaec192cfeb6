# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of rows by their numbers: texts as torch-mlir writes them, inputs, and what NumPy makes of these."""

import element_types
import numpy as np
from gpu_programs import tensor
from xetile import passes
from xetile.mlir import ir

DTYPES = element_types.scalars("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
_BODIES = {
    "add": "arith.addf {b}, {a} : {t}|arith.addi {b}, {a} : {t}",
    "maximum": "arith.maximumf {a}, {b} : {t}|arith.maxsi {a}, {b} : {t}",
    "minimum": "arith.minimumf {a}, {b} : {t}|arith.minsi {a}, {b} : {t}",
    "multiply": "arith.mulf {a}, {b} : {t}|arith.muli {a}, {b} : {t}",
}


def scatter(shape, count, dtype, kind, depth=1, index="i64", body="", *, asserts=False):
    """A module with one function of what is updated, indices and updates; `body` comes before, and gives %u of %v."""
    updates = (count, *[1] * depth, *shape[depth:])
    all_, given, rows = tensor(shape, dtype), tensor(updates, dtype), tensor((count, depth), index)
    one = ""
    if kind != "replace":
        of_floats, of_integers = _BODIES[kind].split("|")
        text = of_floats if dtype in FLOATS else of_integers
        one = f"%s = {text.format(a='%a', b='%b', t=dtype)}\n"
    yielded = "%a" if kind == "replace" else "%s"
    dims = ", ".join(str(each) for each in range(depth))
    arrays = f"%x: {all_}, %i: {rows}, %v: {given}"
    text = (
        f"func.func @program({arrays}) -> {all_} {{\n{body or ''}"
        f'%y = "tm_tensor.scatter"({"%u" if body else "%v"}, %i, %x) <{{dimension_map = array<i64: {dims}>, '
        f"operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}}> ({{\n"
        f"^bb0(%a: {dtype}, %b: {dtype}):\n{one}"
        f'"tm_tensor.yield"({yielded}) : ({dtype}) -> ()\n}}) : ({given}, {rows}, {all_}) -> {all_}\n'
        f"return %y : {all_}\n}}\n"
    )
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        pipeline = f"convert-tm-tensor-to-linalg{{asserts={str(asserts).lower()}}},canonicalize"
        passes.run(module, pipeline, action="import scatters")
        context.allow_unregistered_dialects = False
        return str(module)


def numbers(rng, shape, dtype):
    if dtype == "i1":
        return rng.random(shape) < 0.5
    if dtype in FLOATS:
        return rng.standard_normal(shape).astype(DTYPES[dtype])
    return rng.integers(-100, 100, shape).astype(DTYPES[dtype])


def inputs(rng, shape, count, dtype, depth=1, *, unique=False, index=np.int64, beyond=True):
    """What is updated, indices with negative ones and, if `beyond`, some out of bounds, updates."""
    updates = (count, *[1] * depth, *shape[depth:])
    if unique:
        places = rng.permutation(int(np.prod(shape[:depth])))[:count]
        rows = np.stack(np.unravel_index(places, shape[:depth]), axis=1)
    else:
        rows = np.stack([rng.integers(-size, size, count) for size in shape[:depth]], axis=1)
        if count > 3 and beyond:
            rows[count // 2, 0] = shape[0] + 3
            rows[count // 3, -1] = -shape[depth - 1] - 1
    return [numbers(rng, shape, dtype), rows.astype(index).reshape(count, depth), numbers(rng, updates, dtype)]


def expected(x, rows, updates, kind):
    """Sums of narrow floats are rounded once."""
    depth, y = rows.shape[1], x.copy()
    wide = y.astype(np.float64) if x.dtype.kind not in "biu" else y
    if wide.dtype == np.bool_ and kind == "add":
        kind = "or"
    ufunc = {
        "add": np.add,
        "or": np.logical_or,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "multiply": np.multiply,
    }.get(kind)
    for row, update in zip(rows, updates.reshape(len(rows), *x.shape[depth:]), strict=True):
        if any(not -size <= at < size for at, size in zip(row, x.shape, strict=False)):
            continue
        at = tuple(int(each) for each in row)
        with np.errstate(over="ignore"):
            wide[at] = update if ufunc is None else ufunc(wide[at], update.astype(wide.dtype))
    return wide.astype(x.dtype)
