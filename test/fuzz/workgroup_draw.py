# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws kernels of `workgroup_text`."""

from __future__ import annotations

import random
from typing import Any

from bounded import NUMPY, is_float
from expressions import Drawer
from workgroup_meaning import ATOMICS
from workgroup_text import Kernel, Node
from xetile_kernel import reads

TYPES = ["f32", "f32", "f16", "f16", "bf16", "i32", "i32", "i8", "i16"]
SIZES = [1, 2, 3, 4, 6, 8, 8, 12, 16, 16, 16, 24, 32, 32, 48, 64]
SUBGROUPS = [1, 2, 2, 3, 4, 4, 4, 6, 8, 8]
PIECES = 6  # of one value in one subgroup
INT_KINDS = ["add", "mul", "minsi", "maxsi", "minui", "maxui", "and", "or", "xor"]
FLOAT_KINDS = ["add", "add", "mul", "minimumf", "maximumf", "minnumf", "maxnumf"]
# a and b, c, and how deep one multiplication is.
PRODUCTS = [("f16", "f32", 16), ("f16", "f32", 16), ("bf16", "f32", 16), ("i8", "i32", 32)]
PRODUCTS += [("f16", "f16", 16), ("bf16", "bf16", 16), ("f32", "f32", 8)]
OPS = {
    "load": 3, "body": 6, "transpose": 3, "reduce": 3, "broadcast": 3, "convert": 3, "cast": 1, "mma": 3, "table": 1,
    "count": 1, "mask": 1, "shared": 2, "packed": 1, "gather": 1, "loop": 1.5, "if": 1, "atomic": 0.7, "scatter": 0.7,
}  # fmt: skip
INNER = {"load", "body", "transpose", "reduce", "broadcast", "convert", "mma", "shared"}


def draw_kernel(rng: random.Random, area: int) -> Kernel:
    """No value has more than `area` elements: what a case takes grows with them."""
    return Drawing(rng, area).kernel


def uses(node: Node) -> list[int]:
    """The values that a node reads, those in its region included."""
    found = list(node.get("in", []))
    found += [node[key] for key in ("init", "yield", "other") if key in node]
    return found + [i for inner in node.get("nodes", []) for i in uses(inner)]


def with_what_is_read(node: Node) -> Node:
    """The operands of an expression that it reads, and their new numbers in it."""
    if node["op"] != "body":
        return node
    kept = [i for i in range(len(node["in"])) if reads(node["expr"], i)]

    def change(expr: list) -> list:
        if expr[0] == "in":
            return ["in", kept.index(expr[1])]
        return [change(part) if isinstance(part, list) else part for part in expr]

    return node | {"in": [node["in"][i] for i in kept], "expr": change(node["expr"])}


def without_unused(nodes: list[Node], needed: set[int] | None = None) -> list[Node]:
    """Only what a store needs: nothing tells the map of a value that nobody reads."""
    kept: list[Node] = []
    needed = set(needed or ())
    for node in reversed(nodes):
        effect = node["op"] in ("store", "scatter", "atomic")
        if effect or node["id"] in needed:
            node = with_what_is_read(node)
            if "nodes" in node:
                node = node | {"nodes": without_unused(node["nodes"], {node["yield"]})}
            needed |= set(uses(node))
            kept.append(node)
    return kept[::-1]


class Drawing:
    """One kernel as it grows."""

    def __init__(self, rng: random.Random, area: int) -> None:
        self.rng, self.area = rng, area
        self.subgroups = rng.choice(SUBGROUPS)
        self.grid = [rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 1, 2])]
        self.shapes = [self.shape() for _ in range(2)]
        self.given = rng.choice([0.1, 0.5, 0.9])  # how often a value says its map
        self.edges = rng.random() < 0.4
        self.number = self.trips = 0
        self.visible: list[int] = []
        self.types: dict[int, tuple[list[int], str]] = {}
        nodes: list[Node] = []
        self.load(nodes, rng.choice(self.shapes))
        for _ in range(rng.choice([1, 2, 3, 4, 5, 6])):
            self.step(nodes, OPS)
        used = {i for node in nodes for i in uses(node)}
        ends = [node["id"] for node in nodes if node["id"] in self.types and node["id"] not in used]
        # One value has two readers.
        if rng.random() < 0.2:
            ends.append(rng.choice([node["id"] for node in nodes if node["id"] in self.types]))
        for value in ends:
            self.store(nodes, value)
        self.kernel: Kernel = {
            "grid": self.grid,
            "subgroups": self.subgroups,
            "nodes": without_unused(nodes),
            "data": rng.choice(["normal", "integers", "integers"]),
            "seed": rng.randrange(10**6),
        }

    # Parts

    def shape(self) -> list[int]:
        while True:
            shape = [self.rng.choice(SIZES), self.rng.choice(SIZES)]
            if shape[0] * shape[1] <= self.area:
                return shape

    def map(self, shape: list[int], unit: list[int] | None = None, certain: bool = False) -> list | None:
        """Any map of `shape`: pieces shared by subgroups, one each, several each; multiples of `unit`, if there are."""
        if not certain and self.rng.random() > self.given:
            return None
        unit = unit or [1, 1]

        def choices(dim: int, layout: int) -> list[int]:
            size = shape[dim]
            counts = [n for n in range(1, size + 1) if size % n == 0 and (n % layout == 0 or layout % n == 0)]
            found = [size // n for n in counts if n <= PIECES * layout]
            return [data for data in found if data % unit[dim] == 0] or found

        grids = [[n, self.subgroups // n] for n in range(1, self.subgroups + 1) if self.subgroups % n == 0]
        grids = [grid for grid in grids if choices(0, grid[0]) and choices(1, grid[1])]
        if not grids:
            return self.map(shape, None, certain) if unit != [1, 1] else None
        for _ in range(20):
            grid = self.rng.choice(grids)
            data = [self.rng.choice(choices(dim, grid[dim])) for dim in (0, 1)]
            rounds = [max(1, shape[dim] // data[dim] // grid[dim]) for dim in (0, 1)]
            if rounds[0] * rounds[1] <= PIECES:
                break
        return [grid, data]

    def matrix(self, shape: list[int], dtype: str, at: list[int], reach: list[int] = (0, 0)) -> dict[str, Any]:
        rng = self.rng
        size = [max(1, n * blocks + more) for n, blocks, more in zip(shape, self.grid, reach, strict=True)]
        if self.edges:
            size = [max(1, n + rng.choice([0, 0, -1, -3, 5, 16])) for n in size]
            at[:] = [rng.choice([0, 0, 1, 8, -3]), rng.choice([0, 0, 4, 16, -2, 5])]
        order = rng.choice([[1, 0]] * 5 + [[0, 1]])
        row = size[0] if order == [0, 1] else size[1]
        pitch = row
        if rng.random() < 0.5:  # what the 2D unit takes
            unit = 64 // NUMPY[dtype].itemsize
            pitch = -(-row // unit) * unit
        elif rng.random() < 0.3:
            pitch += rng.choice([1, 3, 8])
        return {"size": size, "pitch": pitch, "order": order}

    def add(self, nodes: list[Node], op: str, shape: list[int], dtype: str, /, **more: Any) -> int:
        self.number += 1
        nodes.append({"id": self.number, "op": op, "shape": list(shape), "t": dtype, **more})
        if op not in ("store", "scatter"):
            self.types[self.number] = (list(shape), dtype)
        return self.number

    def load(self, nodes: list[Node], shape: list[int], dtype: str | None = None, trips: int = 0) -> int:
        rng, at = self.rng, [0, 0]
        dtype = dtype or rng.choice(TYPES)
        by = [rng.choice([0, 0, 4, shape[0], -1]), rng.choice([0, 8, 16, shape[1]])] if trips else [0, 0]
        matrix = self.matrix(shape, dtype, at, [abs(n) * trips for n in by])
        padding = rng.choice([1, 3, -2]) if self.edges and rng.random() < 0.4 else None
        prefetch = rng.randrange(4) if rng.random() < 0.15 else None
        map_ = self.map(shape)
        carried = bool(trips) and rng.random() < 0.5
        more = {"matrix": matrix, "at": at, "padding": padding, "prefetch": prefetch, "by": by, "carried": carried}
        return self.add(nodes, "load", shape, dtype, map=map_, **more)

    def store(self, nodes: list[Node], value: int) -> None:
        shape, dtype = self.types[value]
        at = [0, 0]
        matrix = self.matrix(shape, dtype, at) if dtype != "i1" else {}
        if dtype == "i1":  # a mask chooses between numbers
            expr = ["arith.select", ["in", 0], ["const", 2, "i32"], ["const", 1, "i32"]]
            value, dtype = self.add(nodes, "body", shape, "i32", expr=expr, **{"in": [value]}), "i32"
            matrix = self.matrix(shape, dtype, at)
        self.add(
            nodes, "store", shape, dtype, map=self.map(shape, certain=True), matrix=matrix, at=at, **{"in": [value]}
        )

    def pick(self, fits: Any = None) -> int | None:
        """A value, sooner a late one."""
        found = [i for i in self.visible if not fits or fits(*self.types[i])]
        if not found:
            return None
        return found[-1] if self.rng.random() < 0.4 else self.rng.choice(found)

    # Steps

    def step(self, nodes: list[Node], ops: dict[str, float], outer: list[int] = (), trips: int = 0) -> None:
        """One more node, of what is there already; in a loop of so many trips."""
        self.trips = trips
        own = [node["id"] for node in nodes if node["id"] in self.types and node["op"] not in ("store", "scatter")]
        self.visible = [*outer, *own]
        if not outer:
            self.visible = [i for i in self.visible if not self.is_update(nodes, i)]
        for _ in range(10):
            op = self.rng.choices(list(ops), list(ops.values()))[0]
            if op == "load":
                self.load(nodes, self.rng.choice([*self.shapes, self.shape()]), trips=trips)
                return
            if getattr(self, "draw_" + op)(nodes):
                return

    def is_update(self, nodes: list[Node], value: int) -> bool:
        """What an atomic update gives back depends on the order of the workgroups."""
        found = [node for node in nodes if node["id"] == value]
        return found[0]["op"] == "atomic" and self.grid != [1, 1]

    def draw_body(self, nodes: list[Node]) -> bool:
        first = self.pick()
        if first is None:
            return False
        shape = self.types[first][0]
        others = [i for i in self.visible if self.types[i][0] == shape and i != first]
        chosen = [first, *self.rng.sample(others, min(len(others), self.rng.choice([0, 1, 1, 2])))]
        types = [self.types[i][1] for i in chosen]
        dtype = self.rng.choice([*types, *types, self.rng.choice(TYPES)])
        expr = Drawer(self.rng, types, ops="arith").draw(dtype, self.rng.choice([1, 1, 2, 3]))
        self.add(nodes, "body", shape, dtype, expr=expr, **{"in": chosen})
        return True

    def draw_transpose(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        self.add(nodes, "transpose", shape[::-1], dtype, map=self.map(shape[::-1]), **{"in": [x]})
        return True

    def draw_convert(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        self.add(nodes, "convert", shape, dtype, map=self.map(shape, certain=True), **{"in": [x]})
        return True

    def draw_cast(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: 1 in shape)
        if x is None:
            return False
        shape, dtype = self.types[x]
        self.add(nodes, "cast", shape[::-1], dtype, **{"in": [x]})
        return True

    def draw_reduce(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None:
            return False
        shape, dtype = self.types[x]
        dims = self.rng.choice([[0], [1], [0, 1]])
        kept = [1 if dim in dims else size for dim, size in enumerate(shape)]
        kind = self.rng.choice(FLOAT_KINDS if is_float(dtype) else INT_KINDS)
        self.add(nodes, "reduce", kept, dtype, dims=dims, kind=kind, map=self.map(kept), **{"in": [x]})
        return True

    def draw_broadcast(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: 1 in shape)
        if x is None:
            return False
        shape, dtype = self.types[x]
        flat = [dim for dim, size in enumerate(shape) if size == 1]
        dims = self.rng.choice([flat, flat[:1]])
        wide = [
            self.rng.choice([s[dim] for s in self.shapes]) if dim in dims else size for dim, size in enumerate(shape)
        ]
        if wide[0] * wide[1] > self.area:
            return False
        self.add(nodes, "broadcast", wide, dtype, dims=dims, map=self.map(wide), **{"in": [x]})
        return True

    def draw_mma(self, nodes: list[Node]) -> bool:
        rng, trips = self.rng, self.trips
        ab, sums, depth = rng.choice(PRODUCTS)
        shape = rng.choice(self.shapes)
        m, n, k = shape[0], rng.choice([16, 16, 32, 48]), depth * rng.choice([1, 1, 2])
        a = b = None
        if rng.random() < 0.5:
            a = self.pick(lambda s, t: t == ab and s[1] % depth == 0)
        if a is not None:
            m, k = self.types[a][0]
        if rng.random() < 0.3:
            b = self.pick(lambda s, t: t == ab and s[0] == k and s[1] % 16 == 0)
        n = self.types[b][0][1] if b is not None else n
        if m * k > self.area or k * n > self.area or m * n > self.area:
            return False
        a = a if a is not None else self.load(nodes, [m, k], ab, trips)
        b = b if b is not None else self.load(nodes, [k, n], ab, trips)
        operands = [a, b]
        c = self.pick(lambda s, t: t == sums and s == [m, n])
        if c is not None and rng.random() < 0.7:
            operands.append(c)
        unit = [8, 16] if m % 8 == 0 else [1, 16]
        self.add(nodes, "mma", [m, n], sums, map=self.map([m, n], unit, certain=True), **{"in": operands})
        return True

    def draw_table(self, nodes: list[Node]) -> bool:
        shape, dtype = self.rng.choice(self.shapes), self.rng.choice(TYPES)
        row = [self.rng.randrange(-8, 9) for _ in range(shape[1])]
        rows = [[self.rng.randrange(-8, 9) for _ in range(shape[1])] for _ in range(shape[0])]
        values = rows if self.rng.random() < 0.5 else [row] * shape[0]
        self.add(nodes, "table", shape, dtype, values=values)
        return True

    def draw_count(self, nodes: list[Node]) -> bool:
        columns = self.rng.choice(self.shapes)[1]
        self.add(nodes, "count", [1, columns], "i32")
        return True

    def draw_mask(self, nodes: list[Node]) -> bool:
        shape = self.rng.choice(self.shapes)
        self.add(nodes, "mask", shape, "i1", inside=[self.rng.randrange(size + 1) for size in shape])
        return True

    def draw_shared(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None:
            return False
        shape, dtype = self.types[x]
        part, at = list(shape), [0, 0]
        if self.rng.random() < 0.4:
            part = [self.rng.choice([n for n in range(1, size + 1) if size % n == 0]) for size in shape]
            at = [self.rng.randrange(size) for size in shape]
        # What is stored has no other user, and nothing else may tell its map.
        maps = {"map": self.map(shape, certain=True), "back": self.map(part)}
        self.add(nodes, "shared", part, dtype, at=at, **maps, **{"in": [x]})
        return True

    def draw_packed(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None:
            return False
        shape, dtype = self.types[x]
        map_ = self.map(shape, certain=True)
        if map_ is None:
            return False
        blocks = [self.rng.choice([n for n in range(1, size + 1) if size % n == 0]) for size in map_[1]]
        before = self.add(nodes, "convert", shape, dtype, map=map_, **{"in": [x]})
        expr = Drawer(self.rng, [dtype], ops="arith").draw(dtype, 1)
        self.add(nodes, "packed", shape, dtype, blocks=blocks, expr=expr, **{"in": [before]})
        return True

    def draw_gather(self, nodes: list[Node]) -> bool:
        shape, dtype = self.rng.choice([*self.shapes, self.shape()]), self.rng.choice(TYPES)
        more = {"count": self.rng.choice([16, 100, 777]), "padding": self.rng.choice([0, 7])}
        self.add(nodes, "gather", shape, dtype, map=self.map(shape), **more)
        return True

    def draw_scatter(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None or self.grid != [1, 1]:
            return False
        shape, dtype = self.types[x]
        count = shape[0] * shape[1] + self.rng.choice([0, 1, 50])
        map_ = self.map(shape, certain=True)
        self.add(nodes, "scatter", shape, dtype, map=map_, count=count, **{"in": [x]})
        return True

    def draw_atomic(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype in ("i32", "f32"))
        if x is None:
            return False
        shape, dtype = self.types[x]
        at = [0, 0]
        matrix = self.matrix(shape, dtype, at)
        floats = [kind for kind in ATOMICS if kind.endswith("f")]
        kind = self.rng.choice(floats if dtype == "f32" else [kind for kind in ATOMICS if kind not in floats])
        more = {"matrix": matrix, "at": at, "kind": kind}
        self.add(nodes, "atomic", shape, dtype, map=self.map(shape, certain=True), **more, **{"in": [x]})
        return True

    def region(self, nodes: list[Node], first: list[int], like: int, trips: int) -> tuple[list[Node], int]:
        """Nodes that end with a value of the type of `like`, which they read; `first` is visible besides."""
        outer, inner = [*self.visible, *first], []
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            kept = {op: weight for op, weight in OPS.items() if op in INNER}
            self.step(inner, kept, outer, trips)
        shape, dtype = self.types[like]
        found = [n["id"] for n in inner if self.types[n["id"]] == (shape, dtype)]
        same = [n["id"] for n in inner if self.types[n["id"]][0] == shape and n["id"] not in found]
        chosen = [like, *found[-1:], *same[-1:]]
        types = [self.types[i][1] for i in chosen]
        expr: list = ["in", 0]
        for i in range(1, len(chosen)):
            part = Drawer(self.rng, types).cast(["in", i], types[i], dtype)
            plain = "i1" if dtype == "i1" else "f" if is_float(dtype) else "i"
            op = {"i1": "arith.xori", "f": self.rng.choice(["arith.addf", "arith.maximumf"]), "i": "arith.addi"}[plain]
            expr = [op, expr, part]
        if expr == ["in", 0]:
            expr = Drawer(self.rng, types, ops="arith").draw(dtype, 2)
        return inner, self.add(inner, "body", shape, dtype, expr=expr, **{"in": chosen})

    def draw_loop(self, nodes: list[Node]) -> bool:
        init = self.pick()
        if init is None:
            return False
        shape, dtype = self.types[init]
        self.number += 1
        arg, trips = self.number, self.rng.choice([1, 2, 2, 3])
        self.types[arg] = (shape, dtype)
        inner, end = self.region(nodes, [arg], arg, trips)
        more = {"trips": trips, "init": init, "arg": arg, "nodes": inner, "yield": end}
        self.add(nodes, "loop", shape, dtype, **more)
        return True

    def draw_if(self, nodes: list[Node]) -> bool:
        other = self.pick()
        if other is None:
            return False
        inner, end = self.region(nodes, [], other, 0)
        self.add(nodes, "if", *self.types[other], nodes=inner, other=other, **{"yield": end})
        return True
