# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of `workgroup_text` compute: their arrays, and the results in NumPy with bounds of the error."""

from __future__ import annotations

import numpy as np
from bounded import NUMPY, UNIT, Bounded, contract, depends_on_order, is_float, settle, wrapped
from data import draw_array
from expressions import constant, evaluate
from nodes import Node, all_nodes
from scalar_ops import apply
from workgroup_text import Kernel

# Numbers of a type that sums of small ones stay exact in: powers of two from an eighth to this.
EXACT = {"f64": 2.0**50, "f32": 2.0**21, "f16": 2.0**8, "bf16": 2.0**5}
FOLDS = {
    "add": "arith.addi",
    "mul": "arith.muli",
    "minsi": "arith.minsi",
    "maxsi": "arith.maxsi",
    "minui": "arith.minui",
    "maxui": "arith.maxui",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
    "minimumf": "arith.minimumf",
    "maximumf": "arith.maximumf",
    "minnumf": "arith.minnumf",
    "maxnumf": "arith.maxnumf",
}
# arith's names of atomic updates.
ATOMICS = {
    "addi": "arith.addi",
    "addf": "arith.addf",
    "maxs": "arith.maxsi",
    "mins": "arith.minsi",
    "maxu": "arith.maxui",
    "minu": "arith.minui",
    "andi": "arith.andi",
    "ori": "arith.ori",
    "maximumf": "arith.maximumf",
    "minimumf": "arith.minimumf",
}


def arrays(kernel: Kernel) -> dict[str, np.ndarray]:
    """The matrices by name, in the order of the parameters; what is stored to is poisoned."""
    rng, found = np.random.default_rng(kernel["seed"]), {}
    for node in all_nodes(kernel["nodes"]):
        i, op = node["id"], node["op"]
        if op in ("load", "store", "atomic"):
            found[f"M{i}"] = _matrix(rng, node, kernel["data"])
        elif op in ("gather", "scatter"):
            count, shape = node["count"], tuple(node["shape"])
            number = shape[0] * shape[1]
            places = rng.permutation(count)[:number] if op == "scatter" else rng.integers(0, count, number)
            found[f"M{i}"] = draw_array(rng, (1, count), node["t"], kernel["data"])
            found[f"P{i}"] = places.reshape(shape).astype(np.int32)
            found[f"K{i}"] = (rng.random(shape) < 0.8).astype(np.int8)
    return found


def _matrix(rng: np.random.Generator, node: Node, data: str) -> np.ndarray:
    matrix, dtype = node["matrix"], node["t"]
    rows, columns = matrix["size"]
    turned = matrix["order"] == [0, 1]
    whole = (columns if turned else rows, matrix["pitch"])
    if node["op"] == "store":
        array = np.full(whole, np.nan if is_float(dtype) else -99, NUMPY[dtype])
    else:
        array = draw_array(rng, whole, dtype, data)
    return array[:, :rows].T if turned else array[:, :columns]


def compute(kernel: Kernel, given: dict[str, np.ndarray], depth: int = 16) -> dict[str, tuple[Bounded, np.ndarray]]:
    """For each array that the kernel writes what it holds in the end, and which elements were written.

    Narrow sums of matrix products are rounded every `depth` elements of k: a matrix unit's, or 1 for a loop.
    """
    results = {}
    for node in all_nodes(kernel["nodes"]):
        if node["op"] in ("store", "scatter", "atomic"):
            array = given[f"M{node['id']}"]
            results[f"M{node['id']}"] = (Bounded.exact(node["t"], array), np.zeros(array.shape, bool))
    for x in range(kernel["grid"][0]):
        for y in range(kernel["grid"][1]):
            Workgroup(given, results, (x, y), depth).run(kernel["nodes"])
    return results


def inside(size: tuple[int, ...], at: tuple[int, int], shape: list[int]) -> tuple[np.ndarray, ...]:
    rows, columns = np.meshgrid(np.arange(shape[0]) + at[0], np.arange(shape[1]) + at[1], indexing="ij")
    return rows, columns, (rows >= 0) & (rows < size[0]) & (columns >= 0) & (columns < size[1])


class Workgroup:
    """One workgroup's values by number."""

    def __init__(self, given: dict, results: dict, block: tuple[int, int], depth: int = 16) -> None:
        self.given, self.results, self.block, self.depth = given, results, block, depth
        self.values: dict[int, Bounded] = {}
        self.trip = 0

    def run(self, nodes: list[Node]) -> None:
        for node in nodes:
            value = getattr(self, "run_" + node["op"])(node, *(self.values[i] for i in node.get("in", [])))
            if value is not None:
                self.values[node["id"]] = value

    def place(self, node: Node) -> tuple[int, int]:
        by = node.get("by", [0, 0])
        row, column = (
            block * size + plus + move * self.trip
            for block, size, plus, move in zip(self.block, node["shape"], node["at"], by, strict=True)
        )
        return row, column

    def run_load(self, node: Node) -> Bounded:
        matrix = self.given[f"M{node['id']}"]
        rows, columns, within = inside(matrix.shape, self.place(node), node["shape"])
        out = np.full(node["shape"], node["padding"] or 0, NUMPY[node["t"]])
        out[within] = matrix[rows[within], columns[within]]
        return Bounded.exact(node["t"], out)

    def run_body(self, node: Node, *operands: Bounded) -> Bounded:
        value = evaluate(node["expr"], operands, None, [])
        return value.view(lambda v: np.broadcast_to(v, node["shape"]))

    def run_packed(self, node: Node, x: Bounded) -> Bounded:
        return self.run_body(node, x)

    def run_transpose(self, node: Node, x: Bounded) -> Bounded:
        return x.view(np.transpose)

    def run_convert(self, node: Node, x: Bounded) -> Bounded:
        return x

    def run_cast(self, node: Node, x: Bounded) -> Bounded:
        return x.view(lambda v: v.reshape(node["shape"]))

    def run_slice(self, node: Node, x: Bounded) -> Bounded:
        (row, column), (rows, columns) = node["at"], node["shape"]
        return x.view(lambda v: v[row : row + rows, column : column + columns])

    def run_broadcast(self, node: Node, x: Bounded) -> Bounded:
        return x.view(lambda v: np.broadcast_to(v, node["shape"]))

    def run_reduce(self, node: Node, x: Bounded) -> Bounded:
        return reduce(node["kind"], x, tuple(node["dims"]))

    def run_mma(self, node: Node, a: Bounded, b: Bounded, c: Bounded | None = None) -> Bounded:
        dtype = node["t"]
        start = c or constant(0, dtype).view(lambda v: np.broadcast_to(v, node["shape"]))
        # tf32 has ten bits behind the point.
        products = 2.0**-10 if a.dtype == "f32" else 0.0
        value = contract(("mk", "kn", "mn"), a, b, start, products=products)
        if dtype not in ("f16", "bf16"):
            return value
        size = np.einsum("mk,kn->mn", np.abs(a.values), np.abs(b.values)) + np.abs(start.values)
        if all(is_coarse(x, 1) for x in (a, b, start)) and np.all(size < EXACT[dtype]):
            return Bounded(dtype, value.values, np.zeros(value.shape))
        steps = a.shape[1] // self.depth + 1
        return settle(dtype, value.values, value.error + (steps * UNIT[dtype] * size).astype(np.float64))

    def run_table(self, node: Node) -> Bounded:
        return Bounded.exact(node["t"], np.array(node["values"]).astype(NUMPY[node["t"]]))

    def run_count(self, node: Node) -> Bounded:
        return Bounded.exact(node["t"], np.arange(node["shape"][1]).reshape(1, -1).astype(NUMPY[node["t"]]))

    def run_mask(self, node: Node) -> Bounded:
        mask = np.zeros(node["shape"], bool)
        mask[: node["inside"][0], : node["inside"][1]] = True
        return Bounded.exact("i1", mask)

    def run_shared(self, node: Node, x: Bounded) -> Bounded:
        def window(array: np.ndarray) -> np.ndarray:
            rows, columns, within = inside(array.shape, node["at"], node["shape"])
            out = np.zeros(node["shape"], array.dtype)
            out[within] = array[rows[within], columns[within]]
            return out

        return x.view(window)

    def run_gather(self, node: Node) -> Bounded:
        i = node["id"]
        found = self.given[f"M{i}"][0][self.given[f"P{i}"]]
        padding = np.array(node["padding"]).astype(NUMPY[node["t"]])
        return Bounded.exact(node["t"], np.where(self.given[f"K{i}"] != 0, found, padding).astype(NUMPY[node["t"]]))

    def run_scatter(self, node: Node, x: Bounded) -> None:
        i = node["id"]
        result, written = self.results[f"M{i}"]
        taken = self.given[f"K{i}"] != 0
        places = self.given[f"P{i}"][taken]
        result.values[0, places], result.error[0, places] = x.values[taken], x.error[taken]
        written[0, places] = True

    def run_store(self, node: Node, x: Bounded) -> None:
        result, written = self.results[f"M{node['id']}"]
        rows, columns, within = inside(written.shape, self.place(node), node["shape"])
        result.values[rows[within], columns[within]] = x.values[within]
        result.error[rows[within], columns[within]] = x.error[within]
        written[rows[within], columns[within]] = True

    def run_atomic(self, node: Node, x: Bounded) -> Bounded:
        """What was there before, which only one workgroup may ask for."""
        result, written = self.results[f"M{node['id']}"]
        rows, columns, within = inside(written.shape, tuple(node["at"]), node["shape"])
        old = np.zeros(node["shape"], result.values.dtype), np.zeros(node["shape"])
        place = rows[within], columns[within]
        old[0][within], old[1][within] = result.values[place], result.error[place]
        before = Bounded(node["t"], *old)
        after = apply(ATOMICS[node["kind"]], [], [before, x])
        result.values[place], result.error[place] = after.values[within], after.error[within]
        written[place] = True
        return before

    def run_loop(self, node: Node) -> Bounded:
        value = self.values[node["init"]]
        for trip in range(node["trips"]):
            self.values[node["arg"]], self.trip = value, trip
            self.run(node["nodes"])
            value = self.values[node["yield"]]
        self.trip = 0
        return value

    def run_if(self, node: Node) -> Bounded:
        if self.block[0]:
            return self.values[node["other"]]
        self.run(node["nodes"])
        return self.values[node["yield"]]


def is_coarse(x: Bounded, parts: int = 8) -> bool:
    """Whether all numbers are exact multiples of an eighth: then sums of a few are exact."""
    with np.errstate(all="ignore"):
        scaled = x.values * parts
        return not x.error.any() and bool(np.all(np.isfinite(scaled) & (scaled == np.rint(scaled))))


def reduce(kind: str, x: Bounded, dims: tuple[int, ...]) -> Bounded:
    """Over `dims`, which keep size 1, in any order."""
    number = int(np.prod([x.shape[dim] for dim in dims]))
    with np.errstate(all="ignore"):
        if kind == "add" and is_float(x.dtype):
            size = np.abs(x.values).sum(dims, keepdims=True) + x.error.sum(dims, keepdims=True)
            error = x.error.sum(dims, keepdims=True)
            if not (is_coarse(x) and np.all(size < EXACT[x.dtype])):
                steps = min(number, 4 * number**0.5) + 1
                error = error + (steps * UNIT[x.dtype] * size).astype(np.float64)
            total = settle(x.dtype, x.values.sum(dims, keepdims=True), error, roundings=0 if not error.any() else 1)
            # Parts of the sum may overflow in one order, and not in another.
            largest = settle(x.dtype, size, error)
            return Bounded(x.dtype, total.values, np.where(np.isinf(largest.error), np.inf, total.error))
        if kind == "mul" and is_float(x.dtype):
            value = x.values.prod(dims, keepdims=True)
            relative = np.where(x.error == 0, 0, x.error / np.abs(x.values)).sum(dims, keepdims=True)
            error = np.abs(value) * (np.expm1(relative) + number * UNIT[x.dtype])
            # The dimensions that are kept, of size 1 where reduced, behind one of all factors.
            factors = np.moveaxis(x.values, dims, range(len(dims))).reshape(number, *value.shape)
            unknown = depends_on_order("mul", x.dtype, factors)
            return settle(x.dtype, value, np.where(unknown | np.isnan(error), np.inf, error).astype(np.float64))
        if kind == "add" or kind == "mul":
            values = (x.values.sum if kind == "add" else x.values.prod)(axis=dims, keepdims=True)
            return wrapped(x.dtype, values, x.error.max(dims, keepdims=True))
    moved = np.moveaxis(np.arange(x.values.size).reshape(x.shape), dims, range(len(dims)))
    order = moved.reshape(number, -1)
    kept = [1 if dim in dims else size for dim, size in enumerate(x.shape)]
    flat = x.view(np.ravel)
    total = flat.view(lambda v: v[order[0]])
    for row in order[1:]:
        total = apply(FOLDS[kind], [], [total, flat.view(lambda v, row=row: v[row])])
    return total.view(lambda v: v.reshape(kept))
