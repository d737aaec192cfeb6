# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws kernels of `workgroup_text`."""

from __future__ import annotations

import random
from typing import Any

import node_draw
from bounded import NUMPY, is_float
from expressions import Drawer
from node_draw import FLOAT_KINDS, INT_KINDS, PRODUCTS
from nodes import WITHOUT_VALUE, Node
from workgroup_meaning import ATOMICS
from workgroup_text import Kernel

TYPES = ["f32", "f32", "f16", "f16", "bf16", "i32", "i32", "i8", "i16"]
SIZES = [1, 2, 3, 4, 6, 8, 8, 12, 16, 16, 16, 24, 32, 32, 48, 64]
SUBGROUPS = [1, 2, 2, 3, 4, 4, 4, 6, 8, 8]
PIECES = 6  # of one value in one subgroup
# Where the host has no instruction for a gather, LLVM makes a branch for each element, and hands the whole vector on
# through all of them: 768 elements of f16 took it minutes.
SCATTERED = 128


def draw_kernel(rng: random.Random, area: int) -> Kernel:
    """No value has more than `area` elements: what a case takes grows with them."""
    return Drawing(rng, area).kernel


class Drawing(node_draw.Drawing):
    """One kernel as it grows."""

    ops = {
        "load": 3, "body": 6, "transpose": 3, "reduce": 3, "broadcast": 3, "convert": 3, "cast": 1, "mma": 3,
        "slice": 1.5, "table": 1, "count": 1, "mask": 1, "shared": 2, "packed": 1, "gather": 1, "loop": 1.5, "if": 1,
        "atomic": 0.7, "scatter": 0.7,
    }  # fmt: skip
    inner = {"load", "body", "transpose", "reduce", "broadcast", "convert", "mma", "shared"}
    dtypes = TYPES
    without_value = set(WITHOUT_VALUE)

    def __init__(self, rng: random.Random, area: int) -> None:
        super().__init__(rng)
        self.area = area
        self.subgroups = rng.choice(SUBGROUPS)
        self.grid = [rng.choice([1, 1, 1, 2, 3]), rng.choice([1, 1, 1, 2])]
        self.shapes = [self.shape() for _ in range(2)]
        self.given = rng.choice([0.1, 0.5, 0.9])  # how often a value says its map
        self.edges = rng.random() < 0.4
        nodes: list[Node] = []
        self.load(nodes, rng.choice(self.shapes))
        for _ in range(rng.choice([1, 2, 3, 4, 5, 6])):
            self.step(nodes, self.ops)
        ends = self.unread(nodes)
        # One value has two readers.
        if rng.random() < 0.2:
            ends.append(rng.choice(self.values(nodes)))
        for value in ends:
            self.store(nodes, value)
        self.kernel: Kernel = {"grid": self.grid, "subgroups": self.subgroups, **self.program(nodes)}

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

    def load(self, nodes: list[Node], shape: list[int], dtype: str | None = None) -> int:
        rng, at, trips = self.rng, [0, 0], self.trips
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
        if dtype == "i1":
            value, dtype = self.numbers_of(nodes, value), "i32"
        more = {"map": self.map(shape, certain=True), "matrix": self.matrix(shape, dtype, at), "at": at}
        self.add(nodes, "store", shape, dtype, **more, **{"in": [value]})

    def may_read(self, node: Node) -> bool:
        """What an atomic update gives back depends on the order of the workgroups."""
        return node["op"] != "atomic" or self.grid == [1, 1]

    def draw_load(self, nodes: list[Node]) -> bool:
        self.load(nodes, self.rng.choice([*self.shapes, self.shape()]))
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

    def draw_slice(self, nodes: list[Node]) -> bool:
        """A slice of what each subgroup has: along a dimension that is cut, subgroups share nothing out."""
        rng, x = self.rng, self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        cut = rng.choice([[0], [1], [0, 1]])
        grid = [1, self.subgroups] if cut == [0] else [self.subgroups, 1]
        data = [size if dim in cut else self.map_along(size, grid[dim]) for dim, size in enumerate(shape)]
        whole = self.add(nodes, "convert", shape, dtype, map=[grid, data], **{"in": [x]})
        sizes = [rng.randint(1, size) if dim in cut else size for dim, size in enumerate(shape)]
        at = [rng.randint(0, size - part) for size, part in zip(shape, sizes, strict=True)]
        self.add(nodes, "slice", sizes, dtype, at=at, map=None, **{"in": [whole]})
        return True

    def map_along(self, size: int, subgroups: int) -> int:
        """Elements of a piece of a dimension of `size` elements that so many subgroups share."""
        counts = [n for n in range(1, size + 1) if size % n == 0 and (n % subgroups == 0 or subgroups % n == 0)]
        return size // self.rng.choice([n for n in counts if n <= PIECES * subgroups])

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
        rng = self.rng
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
        a = a if a is not None else self.load(nodes, [m, k], ab)
        b = b if b is not None else self.load(nodes, [k, n], ab)
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
        # A map that cuts the blocks cannot be theirs.
        sides = shape if self.rng.random() < 0.3 else map_[1]
        blocks = [self.rng.choice([n for n in range(1, size + 1) if size % n == 0]) for size in sides]
        before = self.add(nodes, "convert", shape, dtype, map=map_, **{"in": [x]})
        expr = Drawer(self.rng, [dtype], ops="arith").draw(dtype, 1)
        self.add(nodes, "packed", shape, dtype, blocks=blocks, expr=expr, **{"in": [before]})
        return True

    def draw_gather(self, nodes: list[Node]) -> bool:
        shape, dtype = self.rng.choice([*self.shapes, self.shape()]), self.rng.choice(TYPES)
        if shape[0] * shape[1] > SCATTERED:
            return False
        more = {"count": self.rng.choice([16, 100, 777]), "padding": self.rng.choice([0, 7])}
        self.add(nodes, "gather", shape, dtype, map=self.map(shape), **more)
        return True

    def draw_scatter(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1" and shape[0] * shape[1] <= SCATTERED)
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

    def draw_if(self, nodes: list[Node]) -> bool:
        return self.branch(nodes)
