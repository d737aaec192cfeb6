# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the functions of `subgroup_text` compute: their arrays, and the results in NumPy with bounds of the error."""

from __future__ import annotations

import numpy as np
import workgroup_meaning
from bounded import NUMPY, Bounded, is_float
from data import draw_array
from nodes import Node, all_nodes
from scalar_ops import apply
from subgroup_text import Function, places_shape
from workgroup_meaning import ATOMICS, FOLDS

# Operations of integers: whether they take them as signed, and the result of a number and a small positive one.
NARROW = {
    "addi": (True, np.add),
    "subi": (True, np.subtract),
    "muli": (True, np.multiply),
    "divsi": (True, lambda x, y: np.sign(x) * (np.abs(x) // y)),
    "remsi": (True, np.fmod),
    "shrsi": (True, np.right_shift),
    "shli": (True, np.left_shift),
    "maxsi": (True, np.maximum),
    "divui": (False, np.floor_divide),
    "remui": (False, np.remainder),
    "shrui": (False, np.right_shift),
    "minui": (False, np.minimum),
}


def cut(values: np.ndarray, bits: int, signed: bool) -> np.ndarray:
    """The numbers that the last `bits` of int64 are."""
    values = values & (1 << bits) - 1
    return values - (values >> (bits - 1) << bits) if signed else values


def arrays(function: Function) -> dict[str, np.ndarray]:
    """The matrices by name, in the order of the parameters; what is stored to is poisoned."""
    rng, found = np.random.default_rng(function["seed"]), {}
    for node in all_nodes(function["nodes"]):
        i, op, dtype = node["id"], node["op"], node["t"]
        if op in ("load", "store"):
            size = node["matrix"]["size"]
            whole = [*size[:-1], node["matrix"]["pitch"]]
            poison = np.full(whole, np.nan if is_float(dtype) else -99, NUMPY[dtype])
            array = poison if op == "store" else draw_array(rng, tuple(whole), dtype, function["data"])
            found[f"M{i}"] = array[..., : size[-1]]
        elif op in ("gather", "scatter", "atomic"):
            count, shape, chunk = node["count"], places_shape(node), node.get("chunk", 1)
            number, slots = int(np.prod(shape)), count // chunk
            places = rng.permutation(slots)[:number] if op == "scatter" else rng.integers(0, slots, number)
            whole_chunks = op == "gather" and chunk > 1
            mask = np.ones(shape, np.int8) if whole_chunks else (rng.random(shape) < 0.8).astype(np.int8)
            found[f"M{i}"] = draw_array(rng, (count,), dtype, function["data"])
            found[f"P{i}"] = (places * chunk).reshape(shape).astype(np.int32)
            found[f"K{i}"] = mask
    return found


def compute(function: Function, given: dict[str, np.ndarray]) -> dict[str, tuple[Bounded, np.ndarray]]:
    """For each array that the function writes what it holds in the end, and which elements were written."""
    results = {}
    for node in all_nodes(function["nodes"]):
        if node["op"] in ("store", "scatter", "atomic"):
            array = given[f"M{node['id']}"]
            results[f"M{node['id']}"] = (Bounded.exact(node["t"], array), np.zeros(array.shape, bool))
    Subgroup(given, results, (0, 0)).run(function["nodes"])
    return results


def tile(size: tuple[int, ...], at: list[int], shape: list[int]) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The places of a tile's elements, and which of them are in the matrix."""
    places = np.meshgrid(*(np.arange(n) + start for n, start in zip(shape, at, strict=True)), indexing="ij")
    inside = np.ones(shape, bool)
    for place, limit in zip(places, size, strict=True):
        inside &= (place >= 0) & (place < limit)
    return tuple(places), inside


class Subgroup(workgroup_meaning.Workgroup):
    """The function's values by number."""

    def run_load(self, node: Node) -> Bounded:
        matrix = self.given[f"M{node['id']}"]
        shape = node["shape"][::-1] if node["turned"] else node["shape"]
        places, inside = tile(matrix.shape, node["at"], shape)
        out = np.full(shape, node["padding"] or 0).astype(NUMPY[node["t"]])
        out[inside] = matrix[tuple(place[inside] for place in places)]
        return Bounded.exact(node["t"], out.T if node["turned"] else out)

    def run_store(self, node: Node, x: Bounded) -> None:
        result, written = self.results[f"M{node['id']}"]
        x = x.view(np.transpose) if node["turned"] else x
        places, inside = tile(written.shape, node["at"], list(x.shape))
        at = tuple(place[inside] for place in places)
        result.values[at], result.error[at], written[at] = x.values[inside], x.error[inside], True

    def places(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """Places and mask of each element, those of chunks too."""
        i = node["id"]
        places, mask = self.given[f"P{i}"], self.given[f"K{i}"] != 0
        if (chunk := node.get("chunk", 1)) > 1:
            places = places[..., None] + np.arange(chunk)
            mask = np.broadcast_to(mask[..., None], places.shape)
        return places, mask

    def run_gather(self, node: Node) -> Bounded:
        places, mask = self.places(node)
        found = self.given[f"M{node['id']}"][places]
        return Bounded.exact(node["t"], np.where(mask, found, np.array(node["padding"]).astype(found.dtype)))

    def run_scatter(self, node: Node, x: Bounded) -> None:
        result, written = self.results[f"M{node['id']}"]
        places, mask = self.places(node)
        at = places[mask]
        result.values[at], result.error[at], written[at] = x.values[mask], x.error[mask], True

    def run_atomic(self, node: Node, x: Bounded) -> None:
        result, written = self.results[f"M{node['id']}"]
        places, mask = self.places(node)
        for at, value, error in zip(places[mask], x.values[mask], x.error[mask], strict=True):
            before = Bounded(node["t"], result.values[at : at + 1], result.error[at : at + 1])
            after = apply(ATOMICS[node["kind"]], [], [before, Bounded(node["t"], np.array([value]), np.array([error]))])
            result.values[at], result.error[at], written[at] = after.values[0], after.error[0], True

    def run_narrow(self, node: Node, x: Bounded) -> Bounded:
        signed, function = NARROW[node["kind"]]
        values = cut(x.values, node["bits"], signed)
        made = cut(function(values, np.int64(node["by"])), node["bits"], node["signed"])
        return Bounded(node["t"], made.astype(x.values.dtype), np.where(x.error != 0, np.inf, 0.0))

    def run_transpose(self, node: Node, x: Bounded) -> Bounded:
        return x.view(lambda v: v.transpose(node["order"]))

    def run_bitcast(self, node: Node, x: Bounded) -> Bounded:
        old, new = NUMPY[x.dtype], NUMPY[node["t"]]
        values = np.ascontiguousarray(x.values.astype(old)).view(new)
        # The bits of what is not a number differ.
        wrong = np.ascontiguousarray(np.where((x.error != 0) | (x.values != x.values), 1, 0).astype(f"u{old.itemsize}"))
        unknown = (wrong * np.array(-1).astype(f"i{old.itemsize}").view(f"u{old.itemsize}")).view(f"u{new.itemsize}")
        exact = Bounded.exact(node["t"], values)
        return Bounded(node["t"], exact.values, np.where(unknown != 0, np.inf, 0.0))

    def run_reduce(self, node: Node, x: Bounded, start: Bounded) -> Bounded:
        dims, kind = tuple(node["dims"]), node["kind"]
        if x.dtype == "i1" and kind in ("add", "mul"):
            kind = {"add": "xor", "mul": "and"}[kind]
        # The start is one more element, so that sums are bounded with it.
        flat = np.moveaxis(np.arange(x.values.size).reshape(x.shape), dims, range(-len(dims), 0))
        order = flat.reshape(-1, int(np.prod([x.shape[dim] for dim in dims])))
        rows = Bounded(
            x.dtype,
            np.concatenate([x.values.ravel()[order], start.values.reshape(-1, 1)], axis=1),
            np.concatenate([x.error.ravel()[order], start.error.reshape(-1, 1)], axis=1),
        )
        return workgroup_meaning.reduce(kind, rows, (1,)).view(lambda v: v.reshape(node["shape"]))

    def run_slice(self, node: Node, x: Bounded) -> Bounded:
        where = tuple(slice(at, at + n) for at, n in zip(node["at"], node["shape"], strict=True))
        return x.view(lambda v: v[where])

    def run_put(self, node: Node, x: Bounded, into: Bounded) -> Bounded:
        sizes = [1] * (len(into.shape) - len(x.shape)) + list(x.shape)
        where = tuple(slice(at, at + n) for at, n in zip(node["at"], sizes, strict=True))
        return self.changed(into, where, x.view(lambda v: v.reshape(sizes)))

    def run_extract(self, node: Node, x: Bounded) -> Bounded:
        return x.view(lambda v: v[tuple(node["at"])])

    def run_insert(self, node: Node, x: Bounded, into: Bounded) -> Bounded:
        return self.changed(into, tuple(node["at"]), x)

    def changed(self, x: Bounded, where: tuple, part: Bounded) -> Bounded:
        values, error = np.array(x.values), np.array(x.error)
        values[where], error[where] = part.values, part.error
        return Bounded(x.dtype, values, error)

    def run_interleave(self, node: Node, x: Bounded, y: Bounded) -> Bounded:
        both = [np.stack([a, b], axis=-1).reshape(node["shape"]) for a, b in ((x.values, y.values), (x.error, y.error))]
        return Bounded(x.dtype, both[0], both[1])

    def run_part(self, node: Node, x: Bounded) -> Bounded:
        return x.view(lambda v: v[..., node["number"] :: 2])

    def run_shuffle(self, node: Node, x: Bounded, y: Bounded) -> Bounded:
        both = [np.concatenate(pair)[node["order"]] for pair in ((x.values, y.values), (x.error, y.error))]
        return Bounded(x.dtype, both[0], both[1])

    def run_dpas(self, node: Node, a: Bounded, b: Bounded, c: Bounded | None = None) -> Bounded:
        return self.run_mma(node, a, b, c)

    def run_table(self, node: Node) -> Bounded:
        return Bounded.exact(node["t"], np.array(node["values"]).astype(NUMPY[node["t"]]).reshape(node["shape"]))

    def run_count(self, node: Node) -> Bounded:
        return Bounded.exact(node["t"], np.arange(node["shape"][0]).astype(NUMPY[node["t"]]))

    def run_mask(self, node: Node) -> Bounded:
        mask = np.zeros(node["shape"], bool)
        mask[tuple(slice(n) for n in node["inside"])] = True
        return Bounded.exact("i1", mask)

    def run_if(self, node: Node) -> Bounded:
        if not node["taken"]:
            return self.values[node["other"]]
        self.run(node["nodes"])
        return self.values[node["yield"]]


__all__ = ["FOLDS", "arrays", "compute"]
