# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose region or attributes say what they do: fill, copy, map, reduce, broadcast, transpose, generic, index."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from payloads import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    NUMPY,
    SHAPES,
    Case,
    Draw,
    Payload,
    Spec,
    exactly,
    is_float,
    nearly,
    tensor,
)

__all__ = ["specs"]

TYPES = (*NUMBERS, "i1")
# MLIR casts no f16 to bf16, and reads no such op.
CASTS = [(a, b) for a in NUMBERS for b in NUMBERS if a != b and {a, b} != {"f16", "bf16"}]
REDUCTIONS = {
    "addf": (FLOATS, 0, np.add),
    "mulf": (FLOATS, 1, np.multiply),
    "maximumf": (FLOATS, -np.inf, np.maximum),
    "minimumf": (FLOATS, np.inf, np.minimum),
    "maxnumf": (FLOATS, np.nan, np.fmax),
    "minnumf": (FLOATS, np.nan, np.fmin),
    "addi": (INTEGERS, 0, np.add),
    "muli": (INTEGERS, 1, np.multiply),
    "maxsi": (INTEGERS, None, np.maximum),
    "minsi": (INTEGERS, None, np.minimum),
    "maxui": (INTEGERS, 0, np.maximum),
    "minui": (INTEGERS, -1, np.minimum),
    "andi": ((*INTEGERS, "i1"), -1, np.bitwise_and),
    "ori": ((*INTEGERS, "i1"), 0, np.bitwise_or),
    "xori": ((*INTEGERS, "i1"), 0, np.bitwise_xor),
}


def _shapes(rank: int) -> tuple[str, ...]:
    return SHAPES if rank else ("one",)


def _parallel(rank: int) -> str:
    return ", ".join(['"parallel"'] * rank)


def _fill(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    value = draw.array((), dtype, special=draw.rng.random() < 0.3)[()]
    return payload.case([payload.filled(value, shape, dtype)], [exactly(np.full(shape, value), dtype)])


def _copy(source: str, dtype: str, is_unsigned: bool, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    # Numbers that the other type holds, or nearly: what is out of its range is undefined.
    array = draw.array(shape, source, special=is_float(source) and is_float(dtype))
    if is_float(source) and not is_float(dtype):
        array = np.asarray((np.abs(array) if is_unsigned else array) * NUMPY[source](20), NUMPY[source])
    name, start = payload.argument(array, source), payload.empty(shape, dtype)
    kind = tensor(shape, dtype)
    cast = " {cast = #linalg.type_fn<cast_unsigned>}" if is_unsigned else ""
    result = payload.line(f"linalg.copy{cast} ins({name} : {tensor(shape, source)}) outs({start} : {kind}) -> {kind}")
    if is_float(source) and not is_float(dtype):
        array = np.trunc(array.astype(np.float64)).astype(np.int64)
    elif is_unsigned and not is_float(source):
        array = array.view(f"u{array.dtype.itemsize}")
    if not is_float(source) and is_float(dtype):
        # f64 holds these but for i64, which NumPy rounds once, too.
        return payload.case([result], [nearly(array.astype(np.float64), dtype)])
    with np.errstate(over="ignore"):
        return payload.case([result], [exactly(array, dtype)])


def _map(dtype: str, count: int, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    kind, letter = tensor(shape, dtype), "f" if is_float(dtype) else "i"
    arrays = [draw.array(shape, dtype) for _ in range(count)]
    names = [payload.argument(array, dtype) for array in arrays]
    start = payload.empty(shape, dtype)
    constant = payload.constant(3, dtype)
    before = f"ins({', '.join(names)} : {', '.join([kind] * count)}) " if count else ""
    parameters = ", ".join(f"%x{number}: {dtype}" for number in range(count))
    body, last, value, magnitude = "", constant, np.full(shape, 3, np.float64 if letter == "f" else np.int64), 0.0
    for number, array in enumerate(arrays):
        body += f"    %p{number} = arith.mul{letter} %x{number}, {last} : {dtype}\n"
        body += f"    %s{number} = arith.add{letter} %p{number}, %x{number} : {dtype}\n"
        last = f"%s{number}"
        wide = array.astype(value.dtype)
        magnitude = np.abs(wide) * (np.abs(value) + magnitude + 1)
        value = wide * value + wide
    parameters = ", ".join([*([parameters] if parameters else []), f"%o: {dtype}"])
    result = payload.line(
        f"linalg.map {before}outs({start} : {kind}) ({parameters}) {{\n{body}    linalg.yield {last} : {dtype}\n  }}"
    )
    expected = exactly(value, dtype) if letter == "i" else nearly(value, dtype, magnitude, parts=4.0 * max(count, 1))
    return payload.case([result], [expected])


def _reduce(combiner: str, dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    _, neutral, of = REDUCTIONS[combiner]
    if neutral is None:
        limits = np.iinfo(NUMPY[dtype])
        neutral = limits.min if combiner == "maxsi" else limits.max
    dims = tuple(sorted(draw.permutation(rank)[: draw.rng.integers(0 if rank else 0, rank + 1)]))
    kept = tuple(size for axis, size in enumerate(shape) if axis not in dims)
    array = draw.array(shape, dtype, special=combiner.startswith(("max", "min")))
    if combiner == "mulf":
        # Products that neither overflow nor vanish.
        array = np.asarray(
            np.where(draw.rng.random(shape) < 0.02, 1.5, np.sign(array.astype(np.float32))), NUMPY[dtype]
        )
    name = payload.argument(array, dtype)
    value = NUMPY[dtype](neutral) if dtype != "i1" else np.bool_(neutral)
    start, before = payload.start(draw, kept, dtype, [value])
    result = payload.line(
        f"linalg.reduce ins({name} : {tensor(shape, dtype)}) outs({start} : {tensor(kept, dtype)}) dimensions = "
        f"[{', '.join(map(str, dims))}] (%x: {dtype}, %s: {dtype}) {{\n"
        f"    %r = arith.{combiner} %s, %x : {dtype}\n    linalg.yield %r : {dtype}\n  }}"
    )
    if combiner.endswith("ui"):
        bits = f"u{array.dtype.itemsize}"
        found = of(of.reduce(array.view(bits), dims, initial=before.dtype.type(neutral).view(bits)), before.view(bits))
        return payload.case([result], [exactly(found.view(before.dtype), dtype)])
    if combiner in ("addf", "mulf"):
        wide, first = array.astype(np.float64), before.astype(np.float64)
        magnitude = np.abs(wide).sum(dims) + np.abs(first) if combiner == "addf" else None
        found = of(of.reduce(wide, dims), first)
        # A product rounds at each step.
        ulps = 1.0 if combiner == "addf" else float(max(1, np.prod([shape[axis] for axis in dims])))
        return payload.case([result], [nearly(found, dtype, magnitude, parts=4, ulps=ulps)])
    wide = array if dtype[0] == "i" else array.astype(np.float64)
    first = before if dtype[0] == "i" else before.astype(np.float64)
    with np.errstate(invalid="ignore"):
        found = of(of.reduce(wide, dims, initial=wide.dtype.type(neutral)) if dims else wide, first)
    return payload.case([result], [exactly(found, dtype)])


def _reduce_two(dtype: str, rank: int, draw: Draw) -> Case:
    """The largest element with the place that another tensor gives it, and the last of equal ones."""
    payload, shape = Payload(), draw.shape(rank)
    dims = tuple(sorted(draw.permutation(rank)[: draw.rng.integers(1, rank + 1)]))
    kept = tuple(size for axis, size in enumerate(shape) if axis not in dims)
    array = draw.array(shape, dtype, small=True)
    places = np.arange(np.prod(shape, dtype=np.int64), dtype=np.int32).reshape(shape)
    names = [payload.argument(array, dtype), payload.argument(places, "i32")]
    low = NUMPY[dtype](-np.inf) if is_float(dtype) else np.iinfo(NUMPY[dtype]).min
    starts = [payload.filled(low, kept, dtype), payload.filled(-1, kept, "i32")]
    compare = "cmpf oge" if is_float(dtype) else "cmpi sge"
    inputs = f"{tensor(shape, dtype)}, {tensor(shape, 'i32')}"
    outputs = f"{tensor(kept, dtype)}, {tensor(kept, 'i32')}"
    results = payload.lines(
        f"linalg.reduce ins({', '.join(names)} : {inputs}) outs({', '.join(starts)} : {outputs}) dimensions = "
        f"[{', '.join(map(str, dims))}] (%x: {dtype}, %i: i32, %s: {dtype}, %j: i32) {{\n"
        f"    %c = arith.{compare}, %x, %s : {dtype}\n    %r = arith.select %c, %x, %s : {dtype}\n"
        f"    %q = arith.select %c, %i, %j : i32\n    linalg.yield %r, %q : {dtype}, i32\n  }}",
        2,
    )
    if array.size == 0:
        return payload.case(results, [exactly(np.full(kept, low), dtype), exactly(np.full(kept, -1), "i32")])
    wide = array.astype(np.float64 if is_float(dtype) else np.int64)
    moved, numbers = (np.moveaxis(each, dims, range(len(kept), rank)).reshape(*kept, -1) for each in (wide, places))
    last = moved.shape[-1] - 1 - np.flip(moved, -1).argmax(-1)
    take = (np.take_along_axis(each, last[..., None], -1)[..., 0] for each in (moved, numbers))
    return payload.case(results, [exactly(each, kind) for each, kind in zip(take, (dtype, "i32"), strict=True)])


def _reduce_by_code(dtype: str, rank: int, draw: Draw) -> Case:
    """What was before is halved, or as an integer times three, before the next element is added: the order matters."""
    payload, shape = Payload(), draw.shape(rank)
    dims = tuple(sorted(draw.permutation(rank)[: draw.rng.integers(1, rank + 1)]))
    kept = tuple(size for axis, size in enumerate(shape) if axis not in dims)
    array = draw.array(shape, dtype)
    name = payload.argument(array, dtype)
    start, before = payload.start(draw, kept, dtype)
    letter, factor = ("f", "0.5") if is_float(dtype) else ("i", "3")
    result = payload.line(
        f"linalg.reduce ins({name} : {tensor(shape, dtype)}) outs({start} : {tensor(kept, dtype)}) dimensions = "
        f"[{', '.join(map(str, dims))}] (%x: {dtype}, %s: {dtype}) {{\n"
        f"    %f = arith.constant {factor} : {dtype}\n    %p = arith.mul{letter} %s, %f : {dtype}\n"
        f"    %r = arith.add{letter} %p, %x : {dtype}\n    linalg.yield %r : {dtype}\n  }}"
    )
    wide = array.astype(np.float64 if letter == "f" else np.int64)
    value = before.astype(wide.dtype)
    count = int(np.prod([shape[axis] for axis in dims], dtype=np.int64)) if array.size else 0
    steps = np.moveaxis(wide, dims, range(len(kept), rank)).reshape(*kept, count) if count else wide[:0]
    magnitude = np.abs(value)
    for step in range(count):
        value = value * wide.dtype.type(float(factor)) + steps[..., step]
        magnitude = magnitude / 2 + np.abs(steps[..., step])
    expected = exactly(value, dtype) if letter == "i" else nearly(value, dtype, magnitude, parts=8)
    return payload.case([result], [expected])


def _broadcast(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    dims = tuple(sorted(draw.permutation(rank)[: draw.rng.integers(0, rank + 1)]))
    kept = tuple(size for axis, size in enumerate(shape) if axis not in dims)
    array = draw.array(kept, dtype)
    name, start = payload.argument(array, dtype), payload.empty(shape, dtype)
    result = payload.line(
        f"linalg.broadcast ins({name} : {tensor(kept, dtype)}) outs({start} : {tensor(shape, dtype)}) dimensions = "
        f"[{', '.join(map(str, dims))}]"
    )
    return payload.case([result], [exactly(np.broadcast_to(np.expand_dims(array, dims), shape), dtype)])


def _transpose(dtype: str, rank: int, draw: Draw) -> Case:
    payload, shape = Payload(), draw.shape(rank)
    order = draw.permutation(rank)
    array = draw.array(shape, dtype)
    after = array.transpose(order)
    name, start = payload.argument(array, dtype), payload.empty(after.shape, dtype)
    result = payload.line(
        f"linalg.transpose ins({name} : {tensor(shape, dtype)}) outs({start} : {tensor(after.shape, dtype)}) "
        f"permutation = [{', '.join(map(str, order))}]"
    )
    return payload.case([result], [exactly(after, dtype)])


def _generic(dtype: str, rank: int, draw: Draw) -> Case:
    """A body with two results, of which one is of another type; inputs that are reversed, strided, and one number."""
    payload, shape = Payload(), draw.shape(rank)
    a = draw.array([2 * size for size in shape], dtype)
    b, c = draw.array(shape, dtype), draw.array((), dtype)
    names = [payload.argument(each, dtype) for each in (a, b, c)]
    loops = ", ".join(f"d{axis}" for axis in range(rank))
    doubled = ", ".join(f"d{axis} * 2" for axis in range(rank))
    turned = ", ".join(f"{max(size - 1, 0)} - d{axis}" for axis, size in enumerate(shape))
    maps = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in (doubled, turned, "", loops, loops))
    kinds = [tensor(shape, dtype), tensor(shape, "i1")]
    starts = [payload.empty(shape, dtype), payload.empty(shape, "i1")]
    letter, compare = ("f", "cmpf olt") if is_float(dtype) else ("i", "cmpi slt")
    results = payload.lines(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{_parallel(rank)}]}} "
        f"ins({', '.join(names)} : {', '.join(tensor(each.shape, dtype) for each in (a, b, c))}) "
        f"outs({', '.join(starts)} : {', '.join(kinds)}) {{\n"
        f"  ^bb0(%x: {dtype}, %y: {dtype}, %z: {dtype}, %o: {dtype}, %q: i1):\n"
        f"    %s = arith.sub{letter} %x, %y : {dtype}\n    %r = arith.add{letter} %s, %z : {dtype}\n"
        f"    %c = arith.{compare}, %x, %y : {dtype}\n    linalg.yield %r, %c : {dtype}, i1\n"
        f"  }} -> ({', '.join(kinds)})",
        2,
    )
    x, y = a[(slice(None, None, 2),) * rank], np.flip(b)
    wide = np.float64 if letter == "f" else np.int64
    value = x.astype(wide) - y.astype(wide) + c.astype(wide)
    magnitude = np.abs(x.astype(wide)) + np.abs(y.astype(wide)) + np.abs(c.astype(wide))
    first = exactly(value, dtype) if letter == "i" else nearly(value, dtype, magnitude, parts=3)
    return payload.case(results, [first, exactly(x.astype(wide) < y.astype(wide), "i1")])


def _index(dtype: str, rank: int, draw: Draw) -> Case:
    """Places, summed up with weights, as numbers of a type."""
    payload, shape = Payload(), draw.shape(rank)
    loops = ", ".join(f"d{axis}" for axis in range(rank))
    start, kind = payload.empty(shape, dtype), tensor(shape, dtype)
    body, last = "    %t = arith.constant 1 : index\n", "%t"
    for axis in range(rank):
        body += f"    %i{axis} = linalg.index {axis} : index\n    %w{axis} = arith.constant {axis + 2} : index\n"
        body += f"    %p{axis} = arith.muli %i{axis}, %w{axis} : index\n"
        body += f"    %s{axis} = arith.addi {last}, %p{axis} : index\n"
        last = f"%s{axis}"
    whole = "i64" if is_float(dtype) else dtype
    body += f"    %n = arith.index_cast {last} : index to {whole}\n"
    if is_float(dtype):
        body += f"    %r = arith.sitofp %n : i64 to {dtype}\n"
    result = payload.line(
        f"linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>], "
        f"iterator_types = [{_parallel(rank)}]}} outs({start} : {kind}) {{\n  ^bb0(%o: {dtype}):\n{body}"
        f"    linalg.yield {'%r' if is_float(dtype) else '%n'} : {dtype}\n  }} -> {kind}"
    )
    places = np.indices(shape)
    value = 1 + sum((places[axis] * (axis + 2) for axis in range(rank)), np.zeros(shape, np.int64))
    return payload.case([result], [exactly(value, dtype)])


def specs() -> Iterator[Spec]:
    for rank in range(6):
        for dtype in TYPES:
            # MLIR's verifier of a transpose of rank 0 crashes: it inverts a permutation that is none.
            moves = (("fill", _fill), ("broadcast", _broadcast), *([("transpose", _transpose)] if rank else []))
            for op, make in moves:
                yield Spec(f"linalg.{op}", f"{dtype} rank {rank}", partial(make, dtype, rank), _shapes(rank))
        for dtype in NUMBERS:
            yield Spec("linalg.copy", f"{dtype} rank {rank}", partial(_copy, dtype, dtype, False, rank), _shapes(rank))
            for op, make in (("generic", _generic), ("index", _index)):
                yield Spec(f"linalg.{op}", f"{dtype} rank {rank}", partial(make, dtype, rank), _shapes(rank))
            for count in range(4):
                form = f"{dtype} rank {rank}, {count} inputs"
                yield Spec("linalg.map", form, partial(_map, dtype, count, rank), _shapes(rank))
        for combiner, (types, _, _) in REDUCTIONS.items():
            for dtype in types:
                form = f"{combiner} {dtype} rank {rank}"
                yield Spec("linalg.reduce", form, partial(_reduce, combiner, dtype, rank), _shapes(rank))
        for dtype in NUMBERS if rank else ():
            form = f"largest and its place {dtype} rank {rank}"
            yield Spec("linalg.reduce", form, partial(_reduce_two, dtype, rank), _shapes(rank))
        for dtype in NUMBERS if rank else ():
            form = f"by code {dtype} rank {rank}"
            yield Spec("linalg.reduce", form, partial(_reduce_by_code, dtype, rank), _shapes(rank))
    for source, dtype in CASTS:
        yield Spec("linalg.copy", f"{source} -> {dtype}", partial(_copy, source, dtype, False, 2))
        if not (is_float(source) and is_float(dtype)):
            yield Spec("linalg.copy", f"{source} -> {dtype} unsigned", partial(_copy, source, dtype, True, 2))
