# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws functions on tensors for `cpu_programs`."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

from bounded import is_float
from expressions import Drawer, Invalid, result_type
from scalar_ops import FLOAT_BINARY
from tensor_linalg import LINALG_NAMED, LOOPS, NAMED, ORDER, TRANSPOSED, takes_cast
from tensor_program import OPS, infer
from tensor_types import Type, make_dim, require, size_of

# Types of A, B and C of contractions.
PRODUCTS = [
    *[("f32", "f32", "f32")] * 4,
    *[("bf16", "bf16", "f32"), ("bf16", "bf16", "bf16"), ("f16", "f16", "f32"), ("f16", "f16", "f16")] * 2,
    ("f64", "f64", "f64"),
    ("f32", "f32", "f64"),
    ("f16", "f32", "f32"),
    *[("i8", "i8", "i32")] * 3,
    ("i8", "i8", "i8"),
    ("i16", "i16", "i32"),
    ("i16", "i16", "i64"),
    ("i32", "i32", "i32"),
    ("i64", "i64", "i64"),
    ("i8", "i16", "i32"),
]
FACTORS = ("f32", "bf16", "f16", "i8", "f64", "i32")
BLOCKED = [("MKmk", "NKkn", "MNmn"), ("mKk", "NKkn", "mNn"), ("MKmkp", "NKknp", "MNmn")]
ELEMENTS = ["f32"] * 6 + ["f64", "f16", "f16", "bf16", "bf16", "i8", "i16", "i32", "i32", "i64", "i1"]
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 65]
CALLED = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 30, 33, 64, 70]


class Builder:
    """A program that grows by one op at a time. Values are numbered as they come; `finish` puts arguments first."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.types: list[Type] = []
        self.made: list[dict[str, Any]] = []  # for each value its argument or node
        names = rng.choice([[], [], [], ["x"], ["x"], ["x", "y"]])
        self.dims = [make_dim(rng.choice(SIZES)) for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.04:
            self.dims.append((0,))
        self.dims += [make_dim(0, [name]) for name in names] * 2

    def dim(self) -> tuple:
        return self.rng.choice(self.dims)

    def small_dim(self) -> tuple:
        return (self.rng.choice([1, 2, 3, 4]),)

    def argument(self, kind: Type) -> int:
        self.made.append({"t": kind.dtype, "s": None if kind.shape is None else [list(dim) for dim in kind.shape]})
        self.types.append(kind)
        return len(self.types) - 1

    def fitting(self, test: Callable[[Type], bool]) -> list[int]:
        return [i for i, kind in enumerate(self.types) if test(kind)]

    def need(self, want: Type | int) -> int:
        """A value of that type: one that is there, recent ones first, or a new argument."""
        if isinstance(want, int):
            return want
        found = self.fitting(lambda kind: kind == want)
        return self.rng.choice(found[-2:]) if found and self.rng.random() < 0.5 else self.argument(want)

    def some_tensor(self, test: Callable[[Type], bool] = lambda kind: True) -> int:
        found = self.fitting(lambda kind: kind.shape is not None and test(kind))
        if found and self.rng.random() < 0.75:
            return self.rng.choice(found[-3:])
        for _ in range(20):
            kind = Type(self.rng.choice(ELEMENTS), tuple(self.dim() for _ in range(self.rng.choice([1, 2, 2, 2, 3]))))
            if test(kind):
                return self.argument(kind)
        raise Invalid

    def node(self, op: str, wants: list[Type | int], **attributes: Any) -> int:
        """Adds an op on values that are there or needed. Invalid, and nothing added, if it is none or too large."""
        kinds = [self.types[want] if isinstance(want, int) else want for want in wants]
        node = {"op": op, "in": [], **attributes}
        kind = OPS[op].infer(node, kinds)
        elements = 1
        for dim in kind.shape or ():
            require(dim[0] <= 300 and len(dim) <= 9 and (dim[0] >= 0 or len(dim) > 1))
            elements *= max(dim[0], 1) if len(dim) == 1 else 20
        require(elements <= 60_000)
        node["in"] = [self.need(want) for want in wants]
        self.made.append(node)
        self.types.append(kind)
        return len(self.types) - 1

    def program(self, results: list[int]) -> dict[str, Any]:
        """With arguments first."""
        order = sorted(range(len(self.made)), key=lambda i: ("op" in self.made[i], i))
        place = {old: new for new, old in enumerate(order)}
        nodes = [{**made, "in": [place[i] for i in made["in"]]} for made in self.made if "op" in made]
        args = [made for made in self.made if "op" not in made]
        return {"args": args, "nodes": nodes, "results": [place[i] for i in results]}


def draw_program(rng: random.Random) -> dict[str, Any]:
    """A program of a few ops, most of which some result depends on."""
    while True:
        builder = Builder(rng)
        wanted = rng.choice([1, 1, 2, 2, 3, 3, 4, 5, 7])
        for _ in range(wanted * 6):
            if sum("op" in made for made in builder.made) >= wanted:
                break
            with contextlib.suppress(Invalid):
                name = rng.choices(list(STEPS), [weight for weight, _ in STEPS.values()])[0]
                STEPS[name][1](builder, rng)
        with contextlib.suppress(Invalid):
            require(builder.types)
            program = finish(builder, rng)
            infer(program)
            return program


def finish(builder: Builder, rng: random.Random) -> dict[str, Any]:
    """Chooses the results; Invalid if a size that is not known is that of no argument."""
    types, made = builder.types, builder.made
    nodes = [i for i, one in enumerate(made) if "op" in one]
    require(nodes or rng.random() < 0.1)
    used = {i for one in made for i in one.get("in", ())}
    results = ([i for i in nodes if i not in used] or nodes[-1:] or [0])[-3:]
    if rng.random() < 0.1:
        results.append(rng.randrange(len(types)))
    if rng.random() < 0.04:
        results.append(rng.choice(results))
    names = {name for kind in types for dim in kind.shape or () for name in dim[1:]}
    plain = {
        dim[1]
        for kind, one in zip(types, made, strict=True)
        if "op" not in one
        for dim in kind.shape or ()
        if len(dim) == 2 and dim[0] == 0
    }
    require(names <= plain)
    return builder.program(results)


def draw_calls(rng: random.Random, program: dict[str, Any]) -> list[dict[str, Any]]:
    """Sizes for the names of the program; among them some that do not fit each other."""
    types = infer(program)
    names = sorted({name for kind in types for dim in kind.shape or () for name in dim[1:]})
    calls = []
    for _ in range(rng.choice([1, 2, 3]) if names else rng.choice([1, 1, 2])):
        for _ in range(20):
            sizes = {name: rng.choice(CALLED) for name in names}
            if all(size_of(dim, sizes) >= 0 for kind in types for dim in kind.shape or ()):
                calls.append({"sizes": sizes})
                break
    if names and calls and rng.random() < 0.3:
        places = [
            (number, axis)
            for number, argument in enumerate(program["args"])
            for axis, dim in enumerate(argument["s"] or ())
            if len(dim) > 1
        ]
        number, axis = rng.choice(places)
        calls.append({**calls[-1], "wrong": [number, axis, rng.choice([0, 1, 2, 5, 9, 40, 70])]})
    return calls or [{"sizes": dict.fromkeys(names, 64)}]


# Steps: each adds one op.


def _contract(b: Builder, rng: random.Random) -> None:
    a, bb, c = rng.choice(PRODUCTS)
    style = rng.choice(["named", "named", "named", "contract", "generic"])
    if style == "named":
        maps = rng.choice([*list(NAMED) * 2, *TRANSPOSED, ("mk", "kn", "mn"), ("mk", "kn", "mn"), ("mk", "kn", "mn")])
    elif rng.random() < 0.15:
        maps = rng.choice(BLOCKED)
    else:
        batch = rng.sample("bg", rng.choice([0, 0, 0, 1, 1, 2]))
        rows = rng.sample("mMh", rng.choice([0, 1, 1, 1, 2]))
        columns = rng.sample("nN", rng.choice([0, 1, 1, 1, 2]))
        sums = rng.sample("kKp", rng.choice([1, 1, 1, 2]))
        groups = (batch + rows + sums, batch + sums + columns, batch + rows + columns)
        mixed = rng.random() < 0.5
        maps = tuple("".join(rng.sample(g, len(g)) if mixed else sorted(g, key=ORDER.index)) for g in groups)
    sizes = {letter: b.dim() for m in maps for letter in m}
    for letter in "bgMNKph":
        if letter in sizes and (rng.random() < 0.8 or letter == "p"):
            sizes[letter] = b.small_dim()
    # An operand that is there, where one fits.
    wants: list[Any] = [None, None]
    side = rng.randrange(2)
    found = b.fitting(lambda k: k.shape is not None and k.rank == len(maps[side]) and k.dtype in FACTORS)
    if found and rng.random() < 0.6:
        wants[side] = rng.choice(found[-2:])
        kind = b.types[wants[side]]
        sizes |= dict(zip(maps[side], kind.shape, strict=True))
        choices = [p for p in PRODUCTS if p[side] == kind.dtype]
        a, bb, c = rng.choice(choices)
    for i, dtype in ((0, a), (1, bb)):
        if wants[i] is None:
            wants[i] = Type(dtype, tuple(sizes[letter] for letter in maps[i]))
    work = 1
    for dim in sizes.values():
        work *= max(dim[0], 1) if len(dim) == 1 else 40
    if work > 400_000:
        raise Invalid
    if rng.random() < 0.35:
        wants.append(Type(c, tuple(sizes[letter] for letter in maps[2])))
    casts = style == "generic" or (style == "named" and takes_cast(tuple(maps)))
    unsigned = casts and not is_float(c) and rng.random() < 0.25
    fill = 0 if rng.random() < 0.9 else 2
    node = {"maps": list(maps), "t": c, "style": style}
    if unsigned:
        node["unsigned"] = True
    if len(wants) == 2:
        node["fill"] = fill
    b.node("contract", wants, **node)


def _map(b: Builder, rng: random.Random) -> None:
    main = b.some_tensor()
    kind = b.types[main]
    rank = kind.rank
    order = LOOPS[:rank]
    style = rng.choice(["generic"] * 5 + ["map", "arith", "arith", "named"])
    sizes = dict(zip(order, kind.shape, strict=True))
    wants: list[Any] = [main]
    maps: list[Any] = [order]
    if style == "generic" and rank > 1 and rng.random() < 0.15:
        maps[0] = "".join(rng.sample(order, rank))
        sizes = dict(zip(maps[0], kind.shape, strict=True))
    for _ in range(rng.choice([0, 1, 1, 2])):
        if style != "generic" or rng.random() < 0.5:
            m = order
        elif rng.random() < 0.15:
            m = None
        else:
            m = "".join(rng.sample(order, rng.randint(0, rank)))
        dtype = kind.dtype if rng.random() < 0.7 else rng.choice(ELEMENTS)
        wants.append(Type(dtype, None if m is None else tuple(sizes[letter] for letter in m)))
        maps.append(m)
    to = kind.dtype if rng.random() < 0.6 else rng.choice(ELEMENTS)
    node: dict[str, Any] = {"rank": rank, "t": to, "style": style}
    inputs = [b.types[w].dtype if isinstance(w, int) else w.dtype for w in wants]
    if style == "generic" and rng.random() < 0.12:
        node["into"] = "".join(rng.sample(order, rank))
    out = None
    if style == "generic" and rng.random() < 0.15:
        into = node.get("into", order)
        wants.append(Type(to, tuple(sizes[letter] for letter in into)))
        maps.append(into)
        inputs.append(to)
        node["over"] = True
        out = to
    drawer = Drawer(rng, inputs[: len(inputs) - bool(out)], out=out, rank=rank if style == "generic" else 0)
    if style == "named":
        binary = (*FLOAT_BINARY, "arith.addi", "arith.muli", "arith.subi")
        op = rng.choice([op for op in LINALG_NAMED if (op in binary) == (len(wants) == 2)])
        node["body"] = [op, *(["in", i] for i in range(len(wants)))]
        node["t"] = result_type(node["body"], inputs)
    else:
        node["body"] = drawer.draw(to, rng.choice([1, 1, 2, 2, 3]))
    node["maps"] = maps
    b.node("map", wants, **node)


def _fill(b: Builder, rng: random.Random) -> None:
    dtype = rng.choice(ELEMENTS)
    shape = [list(b.dim()) for _ in range(rng.choice([0, 1, 2, 2, 3]))]
    style = rng.choice(["fill", "fill", "splat"])
    if rng.random() < 0.4:
        b.node("fill", [Type(dtype)], t=dtype, s=shape, style=style)
    else:
        b.node("fill", [], t=dtype, s=shape, style=style, value=rng.choice([0, 1, 0, 2]) if dtype != "i1" else 1)


def _constant(b: Builder, rng: random.Random) -> None:
    shape = [[rng.choice([1, 2, 3, 5, 8, 17])] for _ in range(rng.choice([1, 2, 2]))]
    if rng.random() < 0.5:
        static = [list(d) for d in b.dims if len(d) == 1] or [[4]]
        shape = [rng.choice(static) for _ in shape]
    b.node("constant", [], t=rng.choice(ELEMENTS), s=shape, seed=rng.randrange(1000))


def _reduce(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1 and k.dtype != "i1")
    kind = b.types[x]
    along = sorted(rng.sample(range(kind.rank), rng.randint(1, min(2, kind.rank))))
    ops = ("arith.addf", "arith.addf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.mulf")
    whole = ("arith.addi", "arith.maxsi", "arith.minui", "arith.xori", "arith.muli")
    op = rng.choice(ops if is_float(kind.dtype) else whole)
    wants: list[Any] = [x]
    node = {"kind": op, "dims": along, "style": rng.choice(["reduce", "generic"])}
    if rng.random() < 0.3:
        wants.append(Type(kind.dtype, tuple(d for i, d in enumerate(kind.shape) if i not in along)))
    else:
        node["start"] = rng.choice([0, 1])
    b.node("reduce", wants, **node)


def _broadcast(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank <= 2)
    rank = b.types[x].rank + 1
    b.node("broadcast", [x], dims=[rng.randrange(rank)], sizes=[list(b.dim())])


def _transpose(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 2)
    rank = b.types[x].rank
    b.node("transpose", [x], perm=rng.sample(range(rank), rank))


def _slice(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    offsets, trims, strides, drop = [], [], [], []
    for i, dim in enumerate(b.types[x].shape):
        offset, trim, stride = rng.choice([0, 0, 1, 3]), rng.choice([0, 0, 1, 2]), 1
        if len(dim) == 1:
            stride = rng.choice([1, 1, 1, 2])
            if rng.random() < 0.2 and dim[0] > 0:
                offset = rng.randrange(dim[0])
                trim = dim[0] - offset - 1
                if rng.random() < 0.7:
                    drop.append(i)
        offsets.append(offset)
        trims.append(trim)
        strides.append(stride)
    if len(drop) == b.types[x].rank:
        drop = drop[1:]
    b.node("slice", [x], offsets=offsets, trim=trims, strides=strides, drop=drop)


def _insert(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    big = b.types[x]
    offsets, dims = [], []
    for dim in big.shape:
        offset = rng.choice([0, 0, 1, 2])
        if len(dim) > 1 or dim[0] < offset:
            offset = 0
        less = rng.choice([0, 1, 2]) if len(dim) == 1 else 0
        offsets.append(offset)
        dims.append(make_dim(max(dim[0] - offset - less, 0) if len(dim) == 1 else dim[0], dim[1:]))
    b.node("insert", [Type(big.dtype, tuple(dims)), x], offsets=offsets)


def _pad(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    rank = b.types[x].rank
    low, high = ([rng.choice([0, 0, 1, 3]) for _ in range(rank)] for _ in range(2))
    b.node("pad", [x], low=low, high=high, value=rng.choice([0, 1]))


def _collapse(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 2)
    groups: list[list[int]] = [[0]]
    for i in range(1, b.types[x].rank):
        if rng.random() < 0.6:
            groups[-1].append(i)
        else:
            groups.append([i])
    b.node("collapse", [x], groups=groups)


def _expand(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    factors = [[rng.choice([1, 2, 3, 4])] if rng.random() < 0.5 else [] for _ in b.types[x].shape]
    b.node("expand", [x], factors=factors)


def _concat(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    kind = b.types[x]
    axis = rng.randrange(kind.rank)
    shape = list(kind.shape)
    if rng.random() < 0.6:
        shape[axis] = b.dim()
    b.node("concat", [x, Type(kind.dtype, tuple(shape))], axis=axis)


def _dim(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.rank >= 1)
    b.node("dim", [x], axis=rng.randrange(b.types[x].rank), t=rng.choice(["i32", "i64"]))


def _extract(b: Builder, rng: random.Random) -> None:
    x = b.some_tensor(lambda k: k.is_static and all(d[0] > 0 for d in k.shape))
    b.node("extract", [x], at=[rng.randrange(d[0]) for d in b.types[x].shape])


def _scalar(b: Builder, rng: random.Random) -> None:
    found = b.fitting(lambda k: k.shape is None)
    x = rng.choice(found) if found and rng.random() < 0.8 else b.argument(Type(rng.choice(ELEMENTS)))
    dtype = b.types[x].dtype
    to = dtype if rng.random() < 0.6 else rng.choice(ELEMENTS)
    b.node("scalar", [x], body=Drawer(rng, [dtype]).draw(to, 2))


def _elements(b: Builder, rng: random.Random) -> None:
    found = b.fitting(lambda k: k.shape is None)
    if not found:
        raise Invalid
    kind = b.types[rng.choice(found)]
    b.node("elements", [rng.choice(b.fitting(lambda k: k == kind)) for _ in range(rng.randint(1, 3))])


STEPS = {
    "contract": (30, _contract),
    "map": (34, _map),
    "fill": (3, _fill),
    "constant": (4, _constant),
    "reduce": (7, _reduce),
    "broadcast": (3, _broadcast),
    "transpose": (4, _transpose),
    "slice": (5, _slice),
    "insert": (2, _insert),
    "pad": (3, _pad),
    "collapse": (2, _collapse),
    "expand": (2, _expand),
    "concat": (2, _concat),
    "dim": (1, _dim),
    "extract": (1, _extract),
    "scalar": (1, _scalar),
    "elements": (1, _elements),
}
