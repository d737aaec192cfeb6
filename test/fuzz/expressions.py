# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of arith and math: their types, their values, their text in MLIR, random ones and smaller ones.

An expression is a list that JSON can hold: `["in", 0]` an input, `["out"]` what the result held before, `["index", 1]`
a coordinate, `["const", 2, "f32"]`, or `[op, *words, *operands]`, as `["arith.cmpf", "olt", x, y]` and
`["arith.extf", "f64", x]`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from bounded import BITS, NUMPY, Bounded, is_float
from scalar_ops import (
    CASTS,
    FLOAT_BINARY,
    FLOAT_PREDICATES,
    FLOAT_UNARY,
    INT_BINARY,
    INT_BY_CONSTANT,
    INT_PREDICATES,
    INT_UNARY,
    apply,
)

Expr = list


class Invalid(Exception):
    """The program is not well formed: it is no case."""


def result_type(expr: Expr, inputs: Sequence[str], out: str | None = None, rank: int = 0) -> str:
    """The type of an expression; Invalid if it has none."""
    op, *rest = expr
    if op == "in":
        if not 0 <= rest[0] < len(inputs):
            raise Invalid
        return inputs[rest[0]]
    if op == "out":
        if out is None:
            raise Invalid
        return out
    if op == "index":
        if rest[0] >= rank:
            raise Invalid
        return "index"
    if op == "const":
        return rest[1]
    words = [part for part in rest if isinstance(part, str)]
    types = [result_type(part, inputs, out, rank) for part in rest if isinstance(part, list)]
    if not is_well_typed(op, words, types):
        raise Invalid
    if op in ("arith.cmpf", "arith.cmpi"):
        return "i1"
    return words[0] if words else types[-1]


def is_well_typed(op: str, words: list[str], types: list[str]) -> bool:
    if op == "arith.select":
        return len(types) == 3 and types[0] == "i1" and types[1] == types[2]
    if op in CASTS:
        (x,), (to,) = types, words
        narrow, wide = sorted((BITS[x], BITS[to]))
        floats = (is_float(x), is_float(to))
        return {
            "arith.extf": floats == (True, True) and BITS[x] < BITS[to],
            "arith.truncf": floats == (True, True) and BITS[x] > BITS[to],
            "arith.extsi": floats == (False, False) and BITS[x] < BITS[to] and "index" not in (x, to),
            "arith.extui": floats == (False, False) and BITS[x] < BITS[to] and "index" not in (x, to),
            "arith.trunci": floats == (False, False) and BITS[x] > BITS[to] and "index" not in (x, to),
            "arith.sitofp": floats == (False, True) and x != "index",
            "arith.uitofp": floats == (False, True) and x != "index",
            "arith.fptosi": floats == (True, False) and to not in ("index", "i1"),
            "arith.fptoui": floats == (True, False) and to not in ("index", "i1"),
            "arith.index_cast": (x == "index") != (to == "index") and not any(floats),
            "arith.bitcast": floats[0] != floats[1] and narrow == wide and "index" not in (x, to),
        }[op]
    if op == "math.fma":
        return len(types) == 3 and len(set(types)) == 1 and is_float(types[0])
    if len(set(types)) != 1:
        return False
    kind = is_float(types[0])
    if op == "arith.cmpf" or op in FLOAT_BINARY:
        return kind and len(types) == 2
    if op in FLOAT_UNARY:
        return kind and len(types) == 1
    if op in INT_UNARY:
        return not kind and len(types) == 1
    return not kind and len(types) == 2


def evaluate(expr: Expr, inputs: Sequence[Bounded], out: Bounded | None, indices: Sequence[np.ndarray]) -> Bounded:
    """The expression on arrays of one shape."""
    op, *rest = expr
    if op == "in":
        return inputs[rest[0]]
    if op == "out":
        return out
    if op == "index":
        return Bounded.exact("index", indices[rest[0]])
    if op == "const":
        return constant(rest[0], rest[1])
    words = [part for part in rest if isinstance(part, str)]
    operands = [evaluate(part, inputs, out, indices) for part in rest if isinstance(part, list)]
    return apply(op, words, operands)


def constant(value: float, dtype: str) -> Bounded:
    """A number as the element type holds it."""
    return Bounded.exact(dtype, np.array(value).astype(NUMPY[dtype]))


def literal(value: float, dtype: str) -> str:
    """The number as MLIR's attributes spell it."""
    if not is_float(dtype):
        return ("true" if value else "false") if dtype == "i1" else str(int(value))
    exact = float(np.array(value).astype(NUMPY[dtype]))
    if math.isfinite(exact):
        text = repr(exact)
        mantissa, _, exponent = text.partition("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + (f"e{exponent}" if exponent else "")
    bits = int(np.array(value).astype(NUMPY[dtype]).view(f"u{NUMPY[dtype].itemsize}"))
    return f"0x{bits:0{NUMPY[dtype].itemsize * 2}X}"


class Emitter:
    """Writes an expression as ops, one a line; `shape` makes them ops on tensors or vectors of that type's spelling."""

    def __init__(self, prefix: str, shape: Callable[[str], str] = str) -> None:
        self.lines: list[str] = []
        self.prefix, self.shape = prefix, shape

    def emit(
        self, expr: Expr, names: Sequence[str], inputs: Sequence[str], out: tuple[str, str] | None, rank: int
    ) -> str:
        """The name of the value; `names` and `inputs` are those of the inputs and their types."""
        op, *rest = expr
        if op == "in":
            return names[rest[0]]
        if op == "out":
            return out[0]
        new = f"%{self.prefix}{len(self.lines)}"
        if op == "index":
            self.lines.append(f"{new} = linalg.index {rest[0]} : index")
            return new
        if op == "const":
            value, dtype = rest
            kind, text = self.shape(dtype), literal(value, dtype)
            text = f"dense<{text}> : {kind}" if kind != dtype else text if dtype == "i1" else f"{text} : {kind}"
            self.lines.append(f"{new} = arith.constant {text}")
            return new
        words = [part for part in rest if isinstance(part, str)]
        parts = [part for part in rest if isinstance(part, list)]
        operands = [self.emit(part, names, inputs, out, rank) for part in parts]
        types = [result_type(part, inputs, out[1] if out else None, rank) for part in parts]
        new = f"%{self.prefix}{len(self.lines)}"
        kinds = [self.shape(kind) for kind in types]
        joined = ", ".join(operands)
        if op in CASTS:
            text = f"{op} {joined} : {kinds[0]} to {self.shape(words[0])}"
        elif words:
            text = f"{op} {words[0]}, {joined} : {kinds[0]}"
        elif op == "arith.select":
            text = f"{op} {joined} : {kinds[0]}, {kinds[1]}" if kinds[0] != "i1" else f"{op} {joined} : {kinds[1]}"
        else:
            text = f"{op} {joined} : {kinds[0]}"
        self.lines.append(f"{new} = {text}")
        return new


# Drawing


def draw_constant(rng: random.Random, dtype: str) -> Expr:
    if is_float(dtype):
        return ["const", rng.choice([0.0, 0.5, 1.0, -1.0, 1.5, 3.0, -0.25, 100.0]), dtype]
    return ["const", rng.choice([0, 1]) if dtype == "i1" else rng.choice([0, 1, 2, 3, -1, -7, 100]), dtype]


class Drawer:
    """Draws expressions from inputs of the given types."""

    def __init__(
        self, rng: random.Random, inputs: Sequence[str], *, out: str | None = None, rank: int = 0, ops: str = "all"
    ):
        self.rng, self.inputs, self.out, self.rank, self.ops = rng, list(inputs), out, rank, ops

    def leaf(self, dtype: str) -> Expr:
        rng = self.rng
        fitting = [["in", i] for i, kind in enumerate(self.inputs) if kind == dtype]
        if self.out == dtype and rng.random() < 0.3:
            fitting.append(["out"])
        if self.rank and dtype in ("i32", "i64") and rng.random() < 0.1:
            return ["arith.index_cast", dtype, ["index", rng.randrange(self.rank)]]
        if fitting and rng.random() < 0.9:
            return rng.choice(fitting)
        other = [i for i, kind in enumerate(self.inputs) if kind != dtype]
        if other and rng.random() < 0.8:
            i = rng.choice(other)
            return self.cast(["in", i], self.inputs[i], dtype)
        return draw_constant(rng, dtype)

    def cast(self, expr: Expr, source: str, to: str) -> Expr:
        rng = self.rng
        if source == to:
            return expr
        if is_float(source) and is_float(to):
            if BITS[source] == BITS[to]:
                return ["arith.truncf", to, ["arith.extf", "f32", expr]]
            return ["arith.extf" if BITS[source] < BITS[to] else "arith.truncf", to, expr]
        if is_float(source):
            if to == "i1":
                return ["arith.cmpf", rng.choice(FLOAT_PREDICATES), expr, draw_constant(rng, source)]
            if BITS[source] == BITS[to] and rng.random() < 0.2:
                return ["arith.bitcast", to, expr]
            return [rng.choice(["arith.fptosi", "arith.fptosi", "arith.fptoui"]), to, expr]
        if is_float(to):
            if BITS[source] == BITS[to] and rng.random() < 0.2:
                return ["arith.bitcast", to, expr]
            return [rng.choice(["arith.sitofp", "arith.uitofp"]), to, expr]
        if source == "index" or to == "index":
            return ["arith.index_cast", to, expr]
        if BITS[source] < BITS[to]:
            return [rng.choice(["arith.extsi", "arith.extui"]), to, expr]
        if to == "i1" and rng.random() < 0.8:
            return ["arith.cmpi", rng.choice(INT_PREDICATES), expr, draw_constant(rng, source)]
        return ["arith.trunci", to, expr]

    def draw(self, dtype: str, depth: int) -> Expr:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf(dtype)
        again = lambda kind=dtype: self.draw(kind, depth - 1)  # noqa: E731
        if dtype == "i1":
            kind = rng.choice([k for k in self.inputs if k != "i1"] or ["i1"])
            if kind == "i1":
                return [rng.choice(["arith.andi", "arith.ori", "arith.xori"]), again(), again()]
            predicates = FLOAT_PREDICATES if is_float(kind) else INT_PREDICATES
            return ["arith.cmpf" if is_float(kind) else "arith.cmpi", rng.choice(predicates), again(kind), again(kind)]
        if rng.random() < 0.12:
            return ["arith.select", self.draw("i1", 1), again(), again()]
        if is_float(dtype):
            roll = rng.random()
            if self.ops == "arith" or roll < 0.55:
                return [rng.choice(FLOAT_BINARY[:8] if self.ops != "all" else FLOAT_BINARY), again(), again()]
            if roll < 0.6:
                return ["math.fma", again(), again(), again()]
            return [rng.choice(FLOAT_UNARY), again()]
        roll = rng.random()
        if roll < 0.7 or self.ops == "arith":
            return [rng.choice(INT_BINARY), again(), again()]
        if roll < 0.9:
            op = rng.choice(INT_BY_CONSTANT)
            by = rng.choice([0, 1, 3, BITS[dtype] - 1] if "sh" in op else [1, 2, 3, 7, -3, 100])
            return [op, again(), ["const", by, dtype]]
        return [rng.choice(INT_UNARY), again()]


def smaller(expr: Expr, inputs: Sequence[str], out: str | None, rank: int) -> list[Expr]:
    """Expressions of the same type with fewer ops, the smallest first: operands in the place of their op."""
    return sorted(_smaller(expr, inputs, out, rank), key=lambda e: len(str(e)))


def _smaller(expr: Expr, inputs: Sequence[str], out: str | None, rank: int) -> list[Expr]:
    dtype = result_type(expr, inputs, out, rank)

    def below(e: Expr) -> list[Expr]:
        return [inner for part in e[1:] if isinstance(part, list) for inner in (part, *below(part))]

    found = [e for e in below(expr) if result_type(e, inputs, out, rank) == dtype]
    for i, part in enumerate(expr):
        if i and isinstance(part, list):
            found += [[*expr[:i], less, *expr[i + 1 :]] for less in _smaller(part, inputs, out, rank)]
            if part[0] not in ("in", "const", "index", "out"):
                kind = result_type(part, inputs, out, rank)
                found.append([*expr[:i], ["const", 1, kind], *expr[i + 1 :]])
    return found
