# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws kernels for `gpu_schedules`, and makes them smaller."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from bounded import NUMPY
from expressions import Drawer, smaller
from xetile_kernel import Kernel, input_types, reads, sum_type

ELEMENTS = ["f32", "f32", "f32", "f16", "f16", "bf16", "i32", "i8", "i16"]


def draw_kernel(rng: random.Random) -> Kernel:
    element = rng.choice(["f16", "f16", "f16", "bf16", "bf16", "i8"])
    depth = 32 if element == "i8" else 16
    with_mma = rng.random() < 0.65
    # Most of a case's time goes into the OpenCL driver's link, by the size of the code.
    most = rng.choices([1, 2, 4, 12], [10, 6, 3, 1])[0]
    while True:
        layout = [rng.choice([1, 1, 2, 2, 3, 4]) for _ in range(2)]
        data = [rng.choice([8, 8, 16, 24, 32]), rng.choice([16, 16, 32, 48, 64])]
        # How often the grid of subgroups fits the tile along each side: more than once is round-robin, less wraps.
        rounds = [rng.choice([1, 1, 1, 2, 3]) for _ in range(2)]
        tile = [data[i] * layout[i] * rounds[i] for i in range(2)]
        for i in range(2):
            if rng.random() < 0.15 and rounds[i] == 1:
                parts = rng.choice([p for p in range(1, layout[i] + 1) if layout[i] % p == 0])
                tile[i] = data[i] * parts
        k = depth * rng.choice([1, 1, 2, 3])
        pieces = rounds[0] * rounds[1] * (data[0] // 8) * (data[1] // 16)
        if layout[0] * layout[1] <= 12 and pieces * (k // depth if with_mma else 1) <= most:
            break
    kernel: Kernel = {
        "grid": [rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2])],
        "tile": tile,
        "map": {"layout": layout, "data": data},
        "element": element,
        "maps": rng.random() < 0.5,
        "mma": None,
        "walk": None,
        "data": rng.choice(["normal", "normal", "integers"]),
    }
    edges = rng.random() < 0.5
    count = rng.choice([0, 0, 1, 2]) if with_mma else rng.choice([1, 1, 2, 3])
    kernel["loads"] = [_matrix(rng, kernel, rng.choice(ELEMENTS), tile, edges) for _ in range(count)]
    for load in kernel["loads"]:
        load["prefetch"] = rng.random() < 0.2
    if with_mma:
        kernel["mma"] = _mma(rng, kernel, k, edges)
    if rng.random() < (0.1 if with_mma else 0.4):
        dtype = rng.choice(["f32", "f32", "f16", "bf16", "i32"])
        load = _matrix(rng, kernel, rng.choice([dtype, dtype, *ELEMENTS]), tile, edges)
        body = Drawer(rng, [load["t"], dtype], ops="arith").draw(dtype, rng.choice([1, 2]))
        by = [rng.choice([0, 0, 4, 8, tile[0], -3]), rng.choice([0, 4, 16, tile[1]])]
        kernel["walk"] = {"load": load, "steps": rng.choice([1, 2, 3]), "by": by, "body": body, "t": dtype, "start": 0}
    types = input_types(kernel)
    kernel["stores"] = []
    for _ in range(rng.choice([1, 1, 1, 2])):
        last = types[-1]
        dtype = last if rng.random() < 0.6 else rng.choice(ELEMENTS)
        store = _matrix(rng, kernel, dtype, tile, edges)
        plain = ["in", len(types) - 1]
        drawer = Drawer(rng, types, ops="arith")
        store["body"] = plain if dtype == last and rng.random() < 0.4 else drawer.draw(dtype, rng.choice([1, 1, 2, 3]))
        kernel["stores"].append(store)
    return kernel


def _matrix(
    rng: random.Random, kernel: Kernel, dtype: str, tile: list[int], edges: bool, whole: list[int] | None = None
) -> dict[str, Any]:
    """A matrix that the workgroups' tiles cover, or that some of them hang over."""
    size = list(whole or (tile[0] * kernel["grid"][0], tile[1] * kernel["grid"][1]))
    at = [0, 0]
    if edges:
        size = [max(1, size[0] + rng.choice([0, 0, -1, -7, 5])), max(4, size[1] + rng.choice([0, 0, -4, -12, 8, 16]))]
        if whole is None:
            at = [rng.choice([0, 0, 0, 1, 8, -3]), rng.choice([0, 0, 0, 4, 16, -8])]
    bytes_ = NUMPY[dtype].itemsize
    matrix: dict[str, Any] = {"t": dtype, "size": size, "at": at}
    unit = max(1, 16 // bytes_)
    if rng.random() < 0.97:
        # Rows of 64 bytes or more, and of whole 16 bytes, unless the pitch has them.
        size[1] = max(size[1], 64 // bytes_)
        if rng.random() < 0.25:
            size[1] = -(-size[1] * bytes_ // 4) * 4 // bytes_
            matrix["pitch"] = (-(-size[1] // unit) + rng.choice([0, 1, 3])) * unit
        else:
            size[1] = -(-size[1] // unit) * unit
    if rng.random() < 0.02:
        at[1] += 1
    return matrix


def _mma(rng: random.Random, kernel: Kernel, k: int, edges: bool) -> dict[str, Any]:
    element, steps = kernel["element"], rng.choice([1, 1, 2, 3])
    (m, n), (x, y) = kernel["tile"], kernel["grid"]
    mma: dict[str, Any] = {"k": k, "steps": steps, "loop": rng.random() < 0.5, "prefetch": rng.random() < 0.2}
    for side, whole in (("a", [m * x, k * steps]), ("b", [k * steps, n * y])):
        computed = rng.random() < 0.25
        dtype = rng.choice(["f32", "f16", "bf16"] if element != "i8" else ["i8", "i32"]) if computed else element
        mma[side] = _matrix(rng, kernel, dtype, [0, 0], edges, whole)
        drawer = Drawer(rng, [dtype], ops="arith")
        plain = ["in", 0] if dtype == element else drawer.cast(["in", 0], dtype, element)
        body = drawer.draw(element, rng.choice([1, 2])) if computed and rng.random() < 0.7 else plain
        mma[f"{side}_body"] = body if reads(body, 0) else plain
    sums = [i for i, load in enumerate(kernel["loads"]) if load["t"] == sum_type(kernel)]
    mma["start"] = rng.choice(sums) if sums and rng.random() < 0.7 else {"const": rng.choice([0, 0, 2])}
    return mma


def smaller_kernels(case: Kernel) -> Iterator[Kernel]:
    """Kernels with less, the most promising first; some are not valid."""
    for part in ("mma", "walk"):
        if case[part]:
            yield _without_input(case, part)
    for i in range(len(case["loads"])):
        yield _without_input(case, i)
    if len(case["stores"]) > 1:
        for i in range(len(case["stores"])):
            yield case | {"stores": case["stores"][:i] + case["stores"][i + 1 :]}
    types = input_types(case)
    for i, store in enumerate(case["stores"]):
        plain = [["in", j] for j, kind in enumerate(types) if kind == store["t"]]
        for body in [*plain, *smaller(store["body"], types, None, 0)]:
            if body != store["body"] and (body[0] != "in" or store["body"][0] != "in"):
                yield case | {"stores": _put(case["stores"], i, store | {"body": body})}
        if store["t"] != types[-1]:
            yield case | {"stores": _put(case["stores"], i, store | {"t": types[-1], "body": ["in", len(types) - 1]})}
    if mma := case["mma"]:
        for side in "ab":
            inputs = [mma[side]["t"]]
            for body in smaller(mma[f"{side}_body"], inputs, None, 0):
                yield case | {"mma": mma | {f"{side}_body": body}}
            if mma[f"{side}_body"] != ["in", 0]:
                matrix = mma[side] | {"t": case["element"]}
                yield case | {"mma": mma | {side: matrix, f"{side}_body": ["in", 0]}}
        for change in ({"steps": 1}, {"loop": False}, {"prefetch": False}, {"start": {"const": 0}}):
            if any(mma[key] != value for key, value in change.items()):
                yield case | {"mma": mma | change}
        depth = 32 if case["element"] == "i8" else 16
        if mma["k"] > depth:
            yield case | {"mma": mma | {"k": depth}}
    if walk := case["walk"]:
        for body in smaller(walk["body"], [walk["load"]["t"], walk["t"]], None, 0):
            yield case | {"walk": walk | {"body": body}}
        if walk["steps"] > 1:
            yield case | {"walk": walk | {"steps": 1}}
    if case["grid"] != [1, 1]:
        yield case | {"grid": [1, 1]}
    for key, value in {"target": "pvc", "data": "integers", "builtins": "portable"}.items():
        if case[key] != value:
            yield case | {key: value}
    layout, data, tile = case["map"]["layout"], case["map"]["data"], case["tile"]
    for i, unit in ((0, 8), (1, 16)):
        if layout[i] > 1:
            less = _put(layout, i, 1)
            yield case | {"map": {"layout": less, "data": data}, "tile": _put(tile, i, data[i])}
            yield case | {"map": {"layout": less, "data": data}}
        if data[i] > unit:
            factor = tile[i] // data[i]
            yield case | {"map": {"layout": layout, "data": _put(data, i, unit)}, "tile": _put(tile, i, unit * factor)}
        if tile[i] > data[i] * layout[i]:
            yield case | {"tile": _put(tile, i, data[i] * layout[i])}
    yield from _smaller_matrices(case)


def _smaller_matrices(case: Kernel) -> Iterator[Kernel]:
    for group in ("loads", "stores"):
        for i, matrix in enumerate(case[group]):
            for less in _plainer(case, matrix, case["tile"]):
                yield case | {group: _put(case[group], i, less)}
    if mma := case["mma"]:
        for side, shape in (("a", [case["tile"][0], mma["k"]]), ("b", [mma["k"], case["tile"][1]])):
            for less in _plainer(case, mma[side], shape):
                yield case | {"mma": mma | {side: less}}
    if walk := case["walk"]:
        for less in _plainer(case, walk["load"], case["tile"]):
            yield case | {"walk": walk | {"load": less}}


def _plainer(case: Kernel, matrix: dict[str, Any], shape: list[int]) -> Iterator[dict[str, Any]]:
    if matrix["at"] != [0, 0]:
        yield matrix | {"at": [0, 0]}
    if matrix.get("prefetch"):
        yield matrix | {"prefetch": False}
    if matrix.get("pitch"):
        rest = {key: value for key, value in matrix.items() if key != "pitch"}
        yield rest | {"size": [matrix["size"][0], matrix["pitch"]]}
    size = [shape[0], max(shape[1], 64 // NUMPY[matrix["t"]].itemsize)]
    if matrix["size"] != size and not matrix.get("pitch"):
        yield matrix | {"size": size}


def _put(values: list, i: int, value: Any) -> list:
    return [*values[:i], value, *values[i + 1 :]]


def _without_input(case: Kernel, which: int | str) -> Kernel:
    """Without a load, the product or the walk; a constant stands for it where it was read."""
    types = input_types(case)
    number = which if isinstance(which, int) else len(types) - 1 if which == "walk" else len(case["loads"])

    def change(expr: list) -> list:
        if expr[0] == "in":
            return ["const", 1, types[number]] if expr[1] == number else ["in", expr[1] - (expr[1] > number)]
        return [change(part) if isinstance(part, list) else part for part in expr]

    less = case | {"stores": [store | {"body": change(store["body"])} for store in case["stores"]]}
    if isinstance(which, str):
        return less | {which: None}
    less["loads"] = case["loads"][:number] + case["loads"][number + 1 :]
    if less["mma"] and isinstance(less["mma"]["start"], int):
        start = less["mma"]["start"]
        less["mma"] = less["mma"] | {"start": {"const": 0} if start == number else start - (start > number)}
    return less
