# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws programs of nodes (nodes.py): what `workgroup_draw` and `subgroup_draw` have in common."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

from bounded import is_float
from expressions import Drawer
from nodes import Node, uses, without_unused

INT_KINDS = ["add", "mul", "minsi", "maxsi", "minui", "maxui", "and", "or", "xor"]
FLOAT_KINDS = ["add", "add", "mul", "minimumf", "maximumf", "minnumf", "maxnumf"]
# a and b, c, and how deep one multiplication is.
PRODUCTS = [("f16", "f32", 16), ("f16", "f32", 16), ("bf16", "f32", 16), ("i8", "i32", 32)]
PRODUCTS += [("f16", "f16", 16), ("bf16", "bf16", 16), ("f32", "f32", 8)]


class Drawing:
    """One program as it grows. A subclass has a `draw_NAME` for each of `ops`, which says whether it added a node."""

    ops: ClassVar[dict[str, float]]  # how often which is drawn
    inner: ClassVar[set[str]]  # those in loops and branches
    dtypes: ClassVar[list[str]]
    without_value: ClassVar[set[str]]

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.number = 0
        self.trips = 0  # of the loop that is drawn
        self.visible: list[int] = []
        self.types: dict[int, tuple[list[int], str]] = {}
        self.shapes: list[list[int]] = []

    def program(self, nodes: list[Node]) -> dict[str, Any]:
        """What is stored of the nodes, and the data."""
        return {
            "nodes": without_unused(nodes),
            "data": self.rng.choice(["normal", "integers", "integers"]),
            "seed": self.rng.randrange(10**6),
        }

    def add(self, nodes: list[Node], op: str, shape: list[int], dtype: str, /, **more: Any) -> int:
        self.number += 1
        nodes.append({"id": self.number, "op": op, "shape": list(shape), "t": dtype, **more})
        if op not in self.without_value:
            self.types[self.number] = (list(shape), dtype)
        return self.number

    def values(self, nodes: list[Node]) -> list[int]:
        return [node["id"] for node in nodes if node["id"] in self.types and self.may_read(node)]

    def unread(self, nodes: list[Node]) -> list[int]:
        used = {i for node in nodes for i in uses(node)}
        return [value for value in self.values(nodes) if value not in used]

    def pick(self, fits: Callable[[list[int], str], bool] | None = None) -> int | None:
        """A value, sooner a late one."""
        found = [i for i in self.visible if not fits or fits(*self.types[i])]
        if not found:
            return None
        return found[-1] if self.rng.random() < 0.4 else self.rng.choice(found)

    def may_read(self, node: Node) -> bool:
        """Whether other nodes may read its value."""
        return True

    def step(self, nodes: list[Node], ops: dict[str, float], outer: list[int] = ()) -> None:
        """One more node, of what is there already."""
        self.visible = [*outer, *self.values(nodes)]
        for _ in range(10):
            op = self.rng.choices(list(ops), list(ops.values()))[0]
            if getattr(self, "draw_" + op)(nodes):
                return

    def draw_body(self, nodes: list[Node]) -> bool:
        first = self.pick()
        if first is None:
            return False
        shape = self.types[first][0]
        others = [i for i in self.visible if self.types[i][0] == shape and i != first]
        chosen = [first, *self.rng.sample(others, min(len(others), self.rng.choice([0, 1, 1, 2])))]
        types = [self.types[i][1] for i in chosen]
        dtype = self.rng.choice([*types, *types, self.rng.choice(self.dtypes)])
        expr = Drawer(self.rng, types, ops="arith").draw(dtype, self.rng.choice([1, 1, 2, 3]))
        self.add(nodes, "body", shape, dtype, expr=expr, **{"in": chosen})
        return True

    def draw_mask(self, nodes: list[Node]) -> bool:
        shape = self.rng.choice(self.shapes)
        self.add(nodes, "mask", shape, "i1", inside=[self.rng.randrange(size + 1) for size in shape])
        return True

    def numbers_of(self, nodes: list[Node], mask: int) -> int:
        """A mask cannot be stored: it chooses between numbers."""
        expr = ["arith.select", ["in", 0], ["const", 2, "i32"], ["const", 1, "i32"]]
        return self.add(nodes, "body", self.types[mask][0], "i32", expr=expr, **{"in": [mask]})

    def region(self, first: list[int], like: int, trips: int = 0) -> tuple[list[Node], int]:
        """Nodes that end with a value of the type of `like`, which they read; `first` is visible besides."""
        outer, inner = [*self.visible, *first], []
        around, self.trips = self.trips, trips
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            self.step(inner, {op: weight for op, weight in self.ops.items() if op in self.inner}, outer)
        self.trips = around
        shape, dtype = self.types[like]
        made = self.values(inner)
        found = [value for value in made if self.types[value] == (shape, dtype)]
        same = [value for value in made if self.types[value][0] == shape and value not in found]
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
        inner, end = self.region([arg], arg, trips)
        more = {"trips": trips, "init": init, "arg": arg, "nodes": inner, "yield": end}
        self.add(nodes, "loop", shape, dtype, **more)
        return True

    def branch(self, nodes: list[Node], **more: Any) -> bool:
        other = self.pick()
        if other is None:
            return False
        inner, end = self.region([], other)
        self.add(nodes, "if", *self.types[other], nodes=inner, other=other, **more, **{"yield": end})
        return True
