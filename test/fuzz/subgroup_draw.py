# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws functions of `subgroup_text`."""

from __future__ import annotations

import random
from typing import Any

import node_draw
from bounded import BITS, NUMPY, is_float
from node_draw import FLOAT_KINDS, INT_KINDS, PRODUCTS
from nodes import EFFECTS, Node
from subgroup_meaning import NARROW
from subgroup_text import Function
from workgroup_meaning import ATOMICS

TYPES = ["f32", "f32", "f16", "f16", "bf16", "i32", "i32", "i8", "i16", "i64"]
SIZES = [1, 2, 3, 4, 5, 8, 8, 8, 12, 16, 16, 16, 16, 24, 32]
AREA = 256  # of one value: what a case takes grows with it


def draw_function(rng: random.Random) -> Function:
    return Drawing(rng).function


class Drawing(node_draw.Drawing):
    """One function as it grows."""

    ops = {
        "load": 3, "gather": 1.5, "body": 5, "narrow": 1, "transpose": 3, "broadcast": 2, "cast": 2, "bitcast": 2,
        "reduce": 3,
        "slice": 2, "put": 1.5, "extract": 1, "insert": 1, "interleave": 1, "part": 1, "shuffle": 1.5, "dpas": 3,
        "table": 1, "count": 1, "mask": 1, "shared": 1.5, "loop": 1.5, "if": 0.7, "scatter": 1, "atomic": 0.7,
    }  # fmt: skip
    inner = {"load", "body", "transpose", "reduce", "broadcast", "cast", "slice", "put", "dpas", "shuffle", "gather"}
    dtypes = TYPES
    without_value = set(EFFECTS)

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.shapes = [self.shape(2), self.shape()]
        nodes: list[Node] = []
        self.load(nodes)
        for _ in range(rng.choice([1, 2, 3, 4, 5, 6, 8])):
            self.step(nodes, self.ops)
        for value in self.unread(nodes):
            self.store(nodes, value)
        self.function: Function = self.program(nodes)

    def shape(self, rank: int | None = None) -> list[int]:
        rank = rank or self.rng.choice([1, 2, 2, 2, 2, 3])
        while True:
            shape = [self.rng.choice(SIZES) for _ in range(rank)]
            count = 1
            for size in shape:
                count *= size
            if count <= AREA:
                return shape

    # Memory

    def matrix(self, shape: list[int], dtype: str, at: list[int], whole: bool, least: int = -2) -> dict[str, Any]:
        """A matrix that a tile is in, or hangs over unless `whole`, from `least` on; moves `at`."""
        rng = self.rng
        size = [n + rng.choice([0, 0, 1, 7, 16]) for n in shape]
        at[:] = [rng.randrange(limit - n + 1) for limit, n in zip(size, shape, strict=True)]
        if not whole and rng.random() < 0.4:
            at[:] = [max(least, start + rng.choice([0, 3, 8, -2])) for start in at]
        pitch = size[-1]
        if len(size) == 2 and rng.random() < 0.5:
            unit = 64 // NUMPY[dtype].itemsize
            pitch = -(-pitch // unit) * unit
            if rng.random() < 0.5 and not whole:
                size[-1] = pitch
        return {"size": size, "pitch": pitch}

    def access(self, shape: list[int], dtype: str) -> dict[str, Any]:
        """How a value is loaded or stored."""
        rng = self.rng
        ways = ["vector"]
        if len(shape) == 2:
            ways += ["nd", "nd", "nd", "descriptor", "transfer", "transfer"]
        elif len(shape) == 1:
            ways += ["nd", "transfer"]
        by = rng.choice(ways)
        turned = len(shape) == 2 and by in ("nd", "descriptor", "transfer") and rng.random() < 0.25
        at = [0] * len(shape)
        inner = shape[::-1] if turned else shape
        # Transfers start inside.
        least = 0 if by == "transfer" else -2
        matrix = self.matrix(inner, dtype, at, by == "vector" or len(shape) != 2, least)
        padding = rng.choice([0, 3]) if by == "transfer" else 0
        return {"by": by, "turned": turned, "matrix": matrix, "at": at, "padding": padding}

    def load(self, nodes: list[Node], shape: list[int] | None = None, dtype: str | None = None) -> int:
        shape = shape or self.rng.choice([*self.shapes, self.shape()])
        dtype = dtype or self.rng.choice(TYPES)
        return self.add(nodes, "load", shape, dtype, **self.access(shape, dtype))

    def draw_load(self, nodes: list[Node]) -> bool:
        self.load(nodes)
        return True

    def store(self, nodes: list[Node], value: int) -> None:
        shape, dtype = self.types[value]
        if dtype == "i1":
            value, dtype = self.numbers_of(nodes, value), "i32"
        access = self.access(shape, dtype)
        if access["turned"] and access["by"] != "transfer":
            access |= {"turned": False, "by": "vector"}
            access["matrix"] = self.matrix(shape, dtype, access["at"], True)
        self.add(nodes, "store", shape, dtype, **access, **{"in": [value]})

    def scattered(self, shape: list[int], dtype: str) -> dict[str, Any] | None:
        """How elements of a row are accessed one by one, or in chunks along the last dimension."""
        rng = self.rng
        chunk = shape[-1] if len(shape) == 2 and shape[-1] in (2, 3, 4, 8) and rng.random() < 0.6 else 1
        count = 1
        for size in shape:
            count *= size
        # Descriptors take one vector of offsets, and chunks of whole dwords.
        flat = len(shape) == 1 or (len(shape) == 2 and chunk > 1)
        dwords = chunk == 1 or chunk * NUMPY[dtype].itemsize % 4 == 0
        by = rng.choice(["offsets", "descriptor"]) if flat and dwords and shape[0] == 16 else "offsets"
        return {"chunk": chunk, "by": by, "count": count + chunk * rng.choice([0, 1, 30])}

    def draw_gather(self, nodes: list[Node]) -> bool:
        shape, dtype = self.rng.choice([*self.shapes, self.shape(), [16]]), self.rng.choice(TYPES)
        self.add(nodes, "gather", shape, dtype, padding=self.rng.choice([0, 7]), **self.scattered(shape, dtype))
        return True

    def draw_scatter(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None:
            return False
        self.add(nodes, "scatter", *self.types[x], **self.scattered(*self.types[x]), **{"in": [x]})
        return True

    def draw_atomic(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: shape == [16] and dtype in ("i32", "i64", "f32", "i8", "i16"))
        if x is None:
            return False
        dtype = self.types[x][1]
        kinds = [kind for kind in ATOMICS if kind.endswith("f") == is_float(dtype)]
        more = {"count": self.rng.choice([8, 64]), "kind": self.rng.choice(kinds)}
        self.add(nodes, "atomic", [16], dtype, **more, **{"in": [x]})
        return True

    def draw_shared(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1" and len(shape) == 2)
        if x is None:
            return False
        shape, dtype = self.types[x]
        part = [self.rng.randint(1, size) if self.rng.random() < 0.3 else size for size in shape]
        at = [self.rng.randint(0, size - n) for size, n in zip(shape, part, strict=True)]
        self.add(nodes, "shared", part, dtype, at=at, layout=self.rng.choice(["", "columns"]), **{"in": [x]})
        return True

    # Registers

    def draw_narrow(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype in ("i8", "i16", "i32", "i64"))
        if x is None:
            return False
        shape, dtype = self.types[x]
        bits = self.rng.choice([n for n in (3, 4, 7, 12, 24, 31, 40) if n < BITS[dtype]])
        # Less than the bits, by which nothing is shifted.
        by = self.rng.choice([1, 2, 3][: bits - 1])
        more = {"bits": bits, "kind": self.rng.choice(list(NARROW)), "by": by}
        self.add(nodes, "narrow", shape, dtype, **more, signed=self.rng.random() < 0.5, **{"in": [x]})
        return True

    def draw_transpose(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: len(shape) > 1)
        if x is None:
            return False
        shape, dtype = self.types[x]
        order = self.rng.sample(range(len(shape)), len(shape))
        self.add(nodes, "transpose", [shape[i] for i in order], dtype, order=order, **{"in": [x]})
        return True

    def draw_broadcast(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: len(shape) == 1 or 1 in shape)
        if x is None:
            return False
        shape, dtype = self.types[x]
        wide = [self.rng.choice([4, 8, 16]) if n == 1 and self.rng.random() < 0.7 else n for n in shape]
        if len(wide) < 3 and self.rng.random() < 0.5:
            wide = [self.rng.choice([2, 3, 8]), *wide]
        count = 1
        for size in wide:
            count *= size
        if count > AREA or wide == shape:
            return False
        self.add(nodes, "broadcast", wide, dtype, **{"in": [x]})
        return True

    def draw_cast(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        count = 1
        for size in shape:
            count *= size
        wide = []
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            wide.append(self.rng.choice([n for n in range(1, count + 1) if count % n == 0]))
            count //= wide[-1]
        self.add(nodes, "cast", [*wide, count], dtype, **{"in": [x]})
        return True

    def draw_bitcast(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1")
        if x is None:
            return False
        shape, dtype = self.types[x]
        fitting = [t for t in dict.fromkeys(TYPES) if t != dtype and shape[-1] * BITS[dtype] % BITS[t] == 0]
        if not fitting:
            return False
        to = self.rng.choice(fitting)
        self.add(nodes, "bitcast", [*shape[:-1], shape[-1] * BITS[dtype] // BITS[to]], to, **{"in": [x]})
        return True

    def draw_reduce(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: dtype != "i1" and len(shape) > 1)
        if x is None:
            return False
        shape, dtype = self.types[x]
        dims = sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape) - 1)))
        kept = [size for dim, size in enumerate(shape) if dim not in dims]
        kind = self.rng.choice(FLOAT_KINDS if is_float(dtype) else INT_KINDS)
        start = self.pick(lambda s, t: s == kept and t == dtype)
        if start is None:
            start = self.draw_table(nodes, kept, dtype)
        self.add(nodes, "reduce", kept, dtype, dims=dims, kind=kind, **{"in": [x, start]})
        return True

    def draw_slice(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        part = [self.rng.randint(1, size) if self.rng.random() < 0.6 else size for size in shape]
        at = [self.rng.randint(0, size - n) for size, n in zip(shape, part, strict=True)]
        self.add(nodes, "slice", part, dtype, at=at, **{"in": [x]})
        return True

    def draw_put(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]

        def takes(s: list[int], t: str) -> bool:
            last = s[len(s) - len(shape) :]
            return t == dtype and len(s) >= len(shape) and all(n <= m for n, m in zip(shape, last, strict=True))

        into = self.pick(takes)
        if into is None or into == x:
            return False
        whole = self.types[into][0]
        sizes = [1] * (len(whole) - len(shape)) + shape
        at = [self.rng.randint(0, size - n) for size, n in zip(whole, sizes, strict=True)]
        self.add(nodes, "put", whole, dtype, at=at, **{"in": [x, into]})
        return True

    def draw_extract(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: len(shape) > 1)
        if x is None:
            return False
        shape, dtype = self.types[x]
        depth = self.rng.randint(1, len(shape) - 1)
        at = [self.rng.randrange(size) for size in shape[:depth]]
        self.add(nodes, "extract", shape[depth:], dtype, at=at, **{"in": [x]})
        return True

    def draw_insert(self, nodes: list[Node]) -> bool:
        into = self.pick(lambda shape, dtype: len(shape) > 1)
        if into is None:
            return False
        shape, dtype = self.types[into]
        depth = self.rng.randint(1, len(shape) - 1)
        x = self.pick(lambda s, t: s == shape[depth:] and t == dtype)
        if x is None:
            return False
        at = [self.rng.randrange(size) for size in shape[:depth]]
        self.add(nodes, "insert", shape, dtype, at=at, **{"in": [x, into]})
        return True

    def draw_interleave(self, nodes: list[Node]) -> bool:
        x = self.pick()
        if x is None:
            return False
        shape, dtype = self.types[x]
        y = self.pick(lambda s, t: s == shape and t == dtype)
        self.add(nodes, "interleave", [*shape[:-1], 2 * shape[-1]], dtype, **{"in": [x, y]})
        return True

    def draw_part(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: shape[-1] % 2 == 0)
        if x is None:
            return False
        shape, dtype = self.types[x]
        self.add(nodes, "part", [*shape[:-1], shape[-1] // 2], dtype, number=self.rng.choice([0, 1]), **{"in": [x]})
        return True

    def draw_shuffle(self, nodes: list[Node]) -> bool:
        x = self.pick(lambda shape, dtype: len(shape) == 1)
        if x is None:
            return False
        (size,), dtype = self.types[x]
        y = self.pick(lambda s, t: len(s) == 1 and t == dtype)
        both = size + self.types[y][0][0]
        order = [self.rng.randrange(both) for _ in range(self.rng.choice([1, 5, 16, size]))]
        self.add(nodes, "shuffle", [len(order)], dtype, order=order, **{"in": [x, y]})
        return True

    def draw_dpas(self, nodes: list[Node]) -> bool:
        rng = self.rng
        ab, sums, depth = rng.choice(PRODUCTS)
        m, n, k = rng.choice([1, 2, 4, 8, 8, 8, 16, 7, 24]), rng.choice([16, 16, 32]), depth * rng.choice([1, 1, 2])
        a = self.pick(lambda s, t: t == ab and len(s) == 2 and s[1] % depth == 0) if rng.random() < 0.6 else None
        if a is not None:
            m, k = self.types[a][0]
        b = self.pick(lambda s, t: t == ab and len(s) == 2 and s[0] == k and s[1] % 16 == 0)
        if b is not None and rng.random() < 0.5:
            n = self.types[b][0][1]
        else:
            b = None
        if m * k > AREA or k * n > AREA * 2 or m * n > AREA:
            return False
        a = a if a is not None else self.load(nodes, [m, k], ab)
        b = b if b is not None else self.load(nodes, [k, n], ab)
        operands = [a, b]
        c = self.pick(lambda s, t: t == sums and s == [m, n])
        if c is not None and rng.random() < 0.7:
            operands.append(c)
        self.add(nodes, "dpas", [m, n], sums, **{"in": operands})
        return True

    def draw_table(self, nodes: list[Node], shape: list[int] | None = None, dtype: str | None = None) -> int:
        shape = shape or self.rng.choice([*self.shapes, self.shape()])
        dtype = dtype or self.rng.choice(TYPES)
        count = 1
        for size in shape:
            count *= size
        values = [self.rng.randrange(-8, 9) for _ in range(count)]
        if self.rng.random() < 0.4:
            values = [values[0]] * count
        return self.add(nodes, "table", shape, dtype, values=values)

    def draw_count(self, nodes: list[Node]) -> bool:
        self.add(nodes, "count", [self.rng.choice([1, 5, 16, 32, self.shapes[0][-1]])], "i32")
        return True

    def draw_if(self, nodes: list[Node]) -> bool:
        return self.branch(nodes, taken=self.rng.random() < 0.7)
