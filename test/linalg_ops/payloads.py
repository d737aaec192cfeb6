# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Payloads of one linalg op, how their shapes and numbers are drawn, and how far off their results may be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from element_types import scalars

__all__ = [
    "FLOATS",
    "INTEGERS",
    "NUMPY",
    "NUMBERS",
    "SHAPES",
    "Case",
    "Draw",
    "Expected",
    "Payload",
    "Spec",
    "affine",
    "exactly",
    "is_float",
    "nearly",
    "rounding",
    "tensor",
]

NUMPY: dict[str, Any] = scalars("f16", "bf16", "f32", "f64", "i1", "i8", "i16", "i32", "i64")
FLOATS, INTEGERS = ("f16", "bf16", "f32", "f64"), ("i8", "i16", "i32", "i64")
NUMBERS = (*FLOATS, *INTEGERS)
SHAPES = ("odd", "one", "empty")
"""How sizes are drawn: odd ones, all one, some zero."""
_HALF_ULP = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
_TINY = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}


@dataclass(frozen=True)
class Expected:
    """A result: its numbers in f64 or, of integers, exactly; how far from each of them a right result may be."""

    dtype: str
    values: np.ndarray
    allowed: np.ndarray | None = None


@dataclass(frozen=True)
class Case:
    """A module with one function, `program`, what it is called with, and what it has to return."""

    text: str
    arrays: tuple[np.ndarray, ...]
    results: tuple[Expected, ...]


@dataclass(frozen=True)
class Spec:
    """One way to write a registered op: of these types and this rank. `draw` makes a case of it."""

    op: str
    form: str
    draw: Callable[[Draw], Case]
    shapes: tuple[str, ...] = SHAPES


class Draw:
    """Random numbers, and sizes of a kind of `SHAPES`."""

    def __init__(self, rng: np.random.Generator, shapes: str) -> None:
        self.rng, self.shapes, self.zeros = rng, shapes, 0

    def size(self, most: int = 33, least: int = 0) -> int:
        """One size, zero at times where some have to be; `least` keeps zeros away."""
        if self.shapes == "one":
            return 1
        if self.shapes == "empty" and not least and self.rng.random() < 0.4:
            self.zeros += 1
            return 0
        sizes = [size for size in (1, 3, 5, 7, 9, 13, 17, 31, 33, 65, 129, 257) if size <= most]
        return int(self.rng.choice(sizes, p=np.array([1] + [3] * (len(sizes) - 1)) / (3 * len(sizes) - 2)))

    def shape(self, rank: int, elements: int = 3000) -> tuple[int, ...]:
        """Sizes of a tensor that has some `elements` at most."""
        most = {0: 1, 1: 257, 2: 65, 3: 17, 4: 9, 5: 5}[rank]
        while True:
            shape = tuple(self.size(most) for _ in range(rank))
            if np.prod(shape) <= elements:
                return shape

    def choice(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def permutation(self, rank: int) -> list[int]:
        return [int(each) for each in self.rng.permutation(rank)]

    def array(self, shape: Iterable[int], dtype: str, special: bool = False, small: bool = False) -> np.ndarray:
        """Numbers of a type: floats around zero, with NaN and infinities if `special`; integers of the whole range, or
        `small` ones."""
        shape = tuple(shape)
        if dtype == "i1":
            return self.rng.integers(0, 2, shape).astype(np.bool_)
        if not is_float(dtype):
            limit = np.iinfo(NUMPY[dtype])
            low, high = (-9, 9) if small else (limit.min, limit.max)
            return self.rng.integers(low, high, shape, dtype=NUMPY[dtype], endpoint=True)
        numbers = np.asarray(self.rng.standard_normal(shape))
        if special:
            places = self.rng.random(shape) < 0.1
            numbers = np.where(places, self.rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape), numbers)
        return np.asarray(numbers.astype(NUMPY[dtype]))


class Payload:
    """Writes the function: arguments, lines, results."""

    def __init__(self) -> None:
        self._arguments: list[str] = []
        self._arrays: list[np.ndarray] = []
        self._lines: list[str] = []
        self._numbers = itertools.count()

    def argument(self, array: np.ndarray, dtype: str) -> str:
        name = f"%a{len(self._arrays)}"
        self._arguments.append(f"{name}: {tensor(array.shape, dtype)}")
        self._arrays.append(array)
        return name

    def line(self, text: str) -> str:
        """The name of the one result of an op."""
        name = f"%v{next(self._numbers)}"
        self._lines.append(f"  {name} = {text}")
        return name

    def lines(self, text: str, results: int) -> list[str]:
        """The names of the results of an op that has more than one."""
        name = f"%v{next(self._numbers)}"
        self._lines.append(f"  {name}:{results} = {text}")
        return [f"{name}#{number}" for number in range(results)]

    def constant(self, value: Any, dtype: str) -> str:
        if dtype == "i1":
            text = "true" if value else "false"
            return self.line(f"arith.constant {text}")
        text = repr(float(value)) if is_float(dtype) else str(int(value))
        if "inf" in text or "nan" in text:
            bits = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}[dtype]
            text = f"0x{int(np.asarray(value, NUMPY[dtype]).view(bits)):0{2 * bits().itemsize}X}"
        elif is_float(dtype) and "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return self.line(f"arith.constant {text} : {dtype}")

    def empty(self, shape: Iterable[int], dtype: str) -> str:
        return self.line(f"tensor.empty() : {tensor(shape, dtype)}")

    def filled(self, value: Any, shape: Iterable[int], dtype: str) -> str:
        kind = tensor(shape, dtype)
        number, empty = self.constant(value, dtype), self.empty(shape, dtype)
        return self.line(f"linalg.fill ins({number} : {dtype}) outs({empty} : {kind}) -> {kind}")

    def start(self, draw: Draw, shape: tuple[int, ...], dtype: str, numbers: Sequence[Any] = (0,)) -> tuple[str, Any]:
        """What a reduction starts from, and its name: an argument, or one of `numbers` everywhere."""
        if draw.rng.random() < 0.5:
            array = draw.array(shape, dtype)
            return self.argument(array, dtype), array
        value = draw.choice(numbers)
        return self.filled(value, shape, dtype), np.full(shape, value, NUMPY[dtype])

    def case(self, names: Sequence[str], results: Sequence[Expected]) -> Case:
        kinds = ", ".join(tensor(each.values.shape, each.dtype) for each in results)
        text = (
            f"func.func @program({', '.join(self._arguments)}) -> ({kinds}) {{\n"
            + "\n".join(self._lines)
            + f"\n  return {', '.join(names)} : {kinds}\n}}\n"
        )
        return Case(text, tuple(self._arrays), tuple(results))


def is_float(dtype: str) -> bool:
    return dtype in FLOATS


def tensor(shape: Iterable[int], dtype: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


def affine(loops: str, results: str) -> str:
    """A map of loops named by letters to dimensions named by letters."""
    names = {letter: f"d{number}" for number, letter in enumerate(loops)}
    return f"affine_map<({', '.join(names.values())}) -> ({', '.join(names[each] for each in results)})>"


def rounding(dtype: str) -> float:
    """By which part of itself a number changes at most when it becomes one of this type; 0 for integers."""
    return _HALF_ULP.get(dtype, 0.0)


def exactly(values: Any, dtype: str) -> Expected:
    """Integers wrap as those of the type do; floats that arithmetic of the type gives exactly."""
    return Expected(dtype, np.asarray(values).astype(NUMPY[dtype]))


def nearly(values: Any, dtype: str, magnitude: Any = None, parts: float = 2.0, ulps: float = 1.0) -> Expected:
    """`ulps` units in the last place of a result; besides, `parts` halves of such a unit of the `magnitude` of what was
    added."""
    exact = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = 2 * ulps * _HALF_ULP[dtype] * np.abs(exact) + _TINY[dtype]
        if magnitude is not None:
            allowed = allowed + parts * _HALF_ULP[dtype] * np.asarray(magnitude, np.float64)
    return Expected(dtype, exact, np.broadcast_to(allowed, exact.shape))
