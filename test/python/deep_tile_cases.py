# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deep-tiled matmuls for tests: forms, shapes, types, legal configurations, comparison with NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import machines
import numpy as np
from xetile import cpu
from xetile.mlir import ir

# Dimensions of A, B and C for each form; capital letters are outer dimensions of blocked operands.
FORMS = {
    "plain": ("mk", "kn", "mn"),
    "transposed A": ("km", "kn", "mn"),
    "transposed B": ("mk", "nk", "mn"),
    "both transposed": ("km", "nk", "mn"),
    "transposed C": ("mk", "kn", "nm"),
    "batch": ("bmk", "bkn", "bmn"),
    "batch, transposed B": ("bmk", "bnk", "bmn"),
    "blocked": ("MKmk", "NKkn", "MNmn"),
    "blocked weights": ("mKk", "NKkn", "mNn"),
    "blocked pairs": ("MKmkp", "NKknp", "MNmn"),
    "two rows": ("Mmk", "kn", "Mmn"),
    "two rows, transposed B": ("Mmk", "nk", "Mmn"),
}
# The rows of a form: blocks of rows where it is blocked, else single ones.
ROWS = {form: "M" if "M" in maps[0] else "m" for form, maps in FORMS.items()}
# m, n, k of the conformance table.
SHAPES = [
    (256, 512, 128),
    (1024, 512, 512),
    (32, 128, 64),
    (100, 200, 300),
    (13, 19, 17),
    (64, 64, 8192),
    (128, 1024, 1024),
]
# Every kind of element types that the pass accepts, A, B and C. An unsigned integer is a signless one that is
# extended with zeros.
TYPES = [
    ("f32", "f32", "f32"),
    ("bf16", "bf16", "f32"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "bf16"),
    ("f16", "f16", "f16"),
    ("f64", "f64", "f64"),
    ("i8", "i8", "i32"),
    ("u8", "i8", "i32"),
    ("u8", "u8", "i32"),
    ("i16", "i16", "i64"),
    ("i32", "i32", "i32"),
]
# Of sums, relative to the largest: narrow results are summed in f32.
SUM_ERROR = {"f64": 1e-12, "f32": 1e-5, "f16": 1e-5, "bf16": 1e-5}
# Of the one rounding of a narrow result, relative to the element: half the distance from 1 to the next number.
ROUNDING = {"f64": 0.0, "f32": 0.0, "f16": 2.0**-11, "bf16": 2.0**-8}
# Half the distance from 1 to the next number, for sums: where terms cancel, their error is of the terms.
TERM_ERROR = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-24, "bf16": 2.0**-24}


@dataclass(frozen=True)
class Problem:
    """One matmul: `sizes` of its form's dimensions, element types of A, B and C.

    With `fill` the sums start from zero, else from C. `dynamic` names dimensions whose sizes the module does not tell.
    `machine` has DLTI entries of the device "CPU".
    """

    form: str
    sizes: Mapping[str, int]
    types: tuple[str, str, str]
    fill: bool = False
    dynamic: str = ""
    machine: Mapping[str, int] = field(default_factory=dict)

    def shape(self, operand: int) -> tuple[int, ...]:
        return tuple(self.sizes[dim] for dim in FORMS[self.form][operand])

    def module(self) -> ir.Module:
        """One linalg.matmul for the plain form of signed elements, else one linalg.generic."""
        maps = FORMS[self.form]
        order = [d for d in "bMNmnKkp" if any(d in m for m in maps)]
        name = {dim: f"d{number}" for number, dim in enumerate(order)}
        elements = [kind.replace("u", "i") for kind in self.types]
        a, b, c = (
            f"tensor<{'x'.join(['?' if d in self.dynamic else str(self.sizes[d]) for d in dims] + [element])}>"
            for dims, element in zip(maps, elements, strict=True)
        )
        kind = "f" if self.types[2][0] in "fb" else "i"
        lines = [f"func.func @f(%A: {a}, %B: {b}, %C: {c}) -> {c} {{"]
        start = "%C"
        if self.fill:
            lines.append(f"%zero = arith.constant {'0.0' if kind == 'f' else '0'} : {elements[2]}")
            lines.append(f"%filled = linalg.fill ins(%zero : {elements[2]}) outs(%C : {c}) -> {c}")
            start = "%filled"
        if self.form == "plain" and "u" not in "".join(self.types):
            lines.append(f"%r = linalg.matmul ins(%A, %B : {a}, {b}) outs({start} : {c}) -> {c}")
        else:
            affine = [f"affine_map<({', '.join(name.values())}) -> ({', '.join(name[d] for d in m)})>" for m in maps]
            iterators = json.dumps(["reduction" if d in "Kkp" else "parallel" for d in order])
            lines.append(
                f"%r = linalg.generic {{indexing_maps = [{', '.join(affine)}], iterator_types = {iterators}}} "
                f"ins(%A, %B : {a}, {b}) outs({start} : {c}) {{"
            )
            lines.append(f"^bb0(%x: {elements[0]}, %y: {elements[1]}, %z: {elements[2]}):")
            factors = []
            for value, given, element in zip("xy", self.types, elements, strict=False):
                factors.append(f"%{value}" if element == elements[2] else f"%{value}_wide")
                if element != elements[2]:
                    cast = "extf" if kind == "f" else "extui" if given[0] == "u" else "extsi"
                    lines.append(f"%{value}_wide = arith.{cast} %{value} : {element} to {elements[2]}")
            lines.append(f"%p = arith.mul{kind} {', '.join(factors)} : {elements[2]}")
            lines.append(f"%s = arith.add{kind} %z, %p : {elements[2]}")
            lines += [f"linalg.yield %s : {elements[2]}", f"}} -> {c}"]
        lines += [f"return %r : {c}", "}"]
        if self.machine or machines.chosen():
            described = f"module attributes {{dlti.target_system_spec = {machines.spec(self.machine)}}} {{"
            lines = [described, *lines, "}"]
        with ir.Context():
            return ir.Module.parse("\n".join(lines))

    def arrays(self, rng: np.random.Generator, kernel: cpu.Kernel) -> list[np.ndarray]:
        """Random operands. A C that no sum starts from is not to be read: it is NaN, or a large integer."""
        operands = [draw(rng, self.shape(number), spec.numpy_dtype) for number, spec in enumerate(kernel.arguments)]
        if self.fill:
            operands[2] = poisoned(operands[2].shape, operands[2].dtype)
        return operands

    def expected(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """In f64 or i64."""
        maps = FORMS[self.form]
        wide = np.int64 if c.dtype.kind in "iu" else np.float64
        x, y = (
            (array.view(f"u{array.itemsize}") if kind[0] == "u" else array).astype(wide)
            for array, kind in zip((a, b), self.types, strict=False)
        )
        product = np.einsum(f"{maps[0]},{maps[1]}->{maps[2]}", x, y, optimize=True)
        return product if self.fill else product + c.astype(wide)


def blocked(form: str, m: int, n: int, k: int, batch: int = 3) -> dict[str, int]:
    """The sizes of a form's dimensions for a problem of at least m x n x k."""
    if form.startswith("blocked"):
        pair = 2 if form == "blocked pairs" else 1
        inner = {"m": 16, "n": 32, "k": 32 // pair, "p": 2}
        sizes = {"M": -(-m // 16), "N": -(-n // 32), "K": -(-k // 32), **inner}
        return {**sizes, "m": m} if form == "blocked weights" else sizes
    if form.startswith("two rows"):
        return {"M": -(-m // 7), "m": 7, "n": n, "k": k}
    return {"m": m, "n": n, "k": k, "b": batch}


def plain(m: int, n: int, k: int, *, dtype: str = "f32", fill: bool = True) -> ir.Module:
    """The module of a plain matmul whose operands and result are of one type."""
    return Problem("plain", blocked("plain", m, n, k), (dtype,) * 3, fill).module()


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        low, high = (-128, 128) if dtype.itemsize == 1 else (-200, 200)
        return rng.integers(low, high, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype(dtype)


def poisoned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """What no result should hold."""
    return np.full(shape, np.iinfo(dtype).max if dtype.kind in "iu" else np.nan, dtype)


def compare(problem: Problem, arrays: list[np.ndarray], result: np.ndarray) -> None:
    """Fails unless `result` is right: exactly for integers, else but for the error of sums and of one rounding."""
    expected = problem.expected(*arrays)
    assert result.shape == expected.shape
    if expected.dtype.kind == "i":
        # Sums wrap around in the type of the result.
        assert (result == expected.astype(result.dtype)).all()
        return
    kind = problem.types[2]
    sizes = np.abs(expected)
    terms = problem.expected(*map(np.abs, arrays))
    allowed = SUM_ERROR[kind] * (sizes.max(initial=0.0) or 1.0) + ROUNDING[kind] * sizes + TERM_ERROR[kind] * terms
    excess = (np.abs(result.astype(np.float64) - expected) / allowed).max(initial=0.0)
    # Not a number is no result, either.
    assert excess <= 1, f"{excess:.3g} times the error that is allowed"


def check(
    rng: np.random.Generator,
    problem: Problem,
    config: Mapping[str, int] | None = None,
    threads: int = 2,
    pack: str = "auto",
) -> cpu.Kernel:
    """Compiles, runs on random operands and compares; operands stay, results are written everywhere."""
    print(problem, dict(config or {}), f"{threads=} {pack=}")
    kernel = cpu.compile(problem.module(), config=config, threads=threads, pack=pack)
    arrays = problem.arrays(rng, kernel)
    kept = [array.copy() for array in arrays]
    result = kernel(*arrays) if problem.dynamic else kernel(*arrays, out=poisoned(arrays[2].shape, arrays[2].dtype))
    for array, copy in zip(arrays, kept, strict=True):
        assert array.tobytes() == copy.tobytes(), "an argument was changed"
    compare(problem, arrays, result)
    return kernel


def random_config(rng: np.random.Generator, problem: Problem, threads: int) -> dict[str, int]:
    """A legal configuration: blocks that are multiples of units and innermost blocks, at most `threads` in all."""
    maps, sizes = FORMS[problem.form], problem.sizes
    config: dict[str, int] = {}
    for dim in rng.permutation(list("MNK")):
        operands = maps[0] + maps[1]
        inner = sizes[dim.lower()] * (sizes["p"] if dim == "K" and "p" in operands else 1)
        unit, extent = (inner, inner * sizes[dim]) if dim in operands else (1, inner)
        innermost = unit * int(rng.integers(1, 1 + max(1, min(64, extent) // unit)))
        count = -(-extent // innermost)
        share = int(rng.integers(1, 1 + min(threads, count)))
        threads //= share
        block = innermost * int(rng.integers(1, 2 + count))
        config |= {f"{dim}Threads": share, f"innermost{dim}Block": innermost, f"{dim}Block": block}
    return config | {"loopOrder": int(rng.integers(6))}


def random_problem(rng: np.random.Generator, largest: int = 150) -> Problem:
    """Any form and types, sizes up to `largest`; in some the number of rows is not known."""
    form = list(FORMS)[int(rng.integers(len(FORMS)))]
    m, n, k = (int(size) for size in rng.integers(1, largest, 3))
    sizes = blocked(form, m, n, k, batch=int(rng.integers(1, 4)))
    types = TYPES[int(rng.integers(len(TYPES)))]
    return Problem(form, sizes, types, fill=bool(rng.integers(2)), dynamic=ROWS[form] if rng.integers(4) == 0 else "")


# Modules in text

T = "tensor<40x40xf32>"
SMALL = {
    "MThreads": 1,
    "NThreads": 1,
    "KThreads": 1,
    "MBlock": 24,
    "NBlock": 32,
    "KBlock": 16,
    "innermostMBlock": 8,
    "innermostNBlock": 16,
    "innermostKBlock": 8,
}


def tensor(shape: tuple[int, ...], kind: str) -> str:
    return "tensor<" + "x".join([*map(str, shape), kind]) + ">"


def compile_text(body: str, signature: str, **options) -> cpu.Kernel:
    with ir.Context():
        return cpu.compile(ir.Module.parse(f"func.func @f{signature} {{\n{body}\n}}"), **options)


def floats(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [rng.uniform(-1, 1, shape).astype("f4") for shape in shapes]
