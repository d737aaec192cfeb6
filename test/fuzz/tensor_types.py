# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of the values of a program on tensors, and the text that it is written as."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bounded import Bounded
from expressions import Invalid, literal

Dim = list
Node = dict


class Mismatch(Exception):
    """Sizes that the program takes to be equal are not."""


class Undetermined(Mismatch):
    """Sizes of one name differ where the program reads only one of them: a slice of fewer rows is a slice, too."""


@dataclass(frozen=True)
class Type:
    """A tensor, or with `shape` None a scalar."""

    dtype: str
    shape: tuple[tuple, ...] | None = None

    def __str__(self) -> str:
        if self.shape is None:
            return self.dtype
        return "tensor<" + "".join(f"{'?' if len(dim) > 1 else dim[0]}x" for dim in self.shape) + self.dtype + ">"

    def of(self, dtype: str) -> str:
        """The spelling of this shape with other elements."""
        return str(Type(dtype, self.shape))

    @property
    def rank(self) -> int:
        return len(self.shape or ())

    @property
    def is_static(self) -> bool:
        return all(len(dim) == 1 for dim in self.shape or ())


def require(condition: Any) -> None:
    if not condition:
        raise Invalid


def make_dim(constant: int, names: list[str] | tuple[str, ...] = ()) -> tuple:
    return (constant, *sorted(names))


def add(*dims: tuple, plus: int = 0) -> tuple:
    return make_dim(sum(d[0] for d in dims) + plus, [name for d in dims for name in d[1:]])


def size_of(dim: Any, sizes: Mapping[str, int]) -> int:
    return dim[0] + sum(sizes[name] for name in dim[1:])


def tensor(value: Type) -> Type:
    require(value.shape is not None)
    return value


def scalar(value: Type) -> Type:
    require(value.shape is None)
    return value


@dataclass
class Writer:
    """The body of the function, line by line."""

    types: list[Type] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)  # size -> argument and axis that has it
    _count: int = 0

    def new(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"%t{self._count} = {text}")
        return f"%t{self._count}"

    def index(self, value: int) -> str:
        return self.new(f"arith.constant {value} : index")

    def size(self, dim: tuple) -> str:
        """An index that holds a dim."""
        total = self.index(dim[0]) if dim[0] or len(dim) == 1 else None
        for name in dim[1:]:
            require(name in self.places)
            number, axis = self.places[name]
            one = self.new(f"tensor.dim {self.names[number]}, {self.index(axis)} : {self.types[number]}")
            total = one if total is None else self.new(f"arith.addi {total}, {one} : index")
        return total

    def dynamic(self, kind: Type) -> str:
        return ", ".join(self.size(dim) for dim in kind.shape if len(dim) > 1)

    def empty(self, kind: Type) -> str:
        return self.new(f"tensor.empty({self.dynamic(kind)}) : {kind}")

    def constant(self, value: float, dtype: str) -> str:
        text = literal(value, dtype)
        return self.new(f"arith.constant {text}" + ("" if dtype == "i1" else f" : {dtype}"))

    def filled(self, value: str, kind: Type) -> str:
        return self.new(f"linalg.fill ins({value} : {kind.dtype}) outs({self.empty(kind)} : {kind}) -> {kind}")


@dataclass(frozen=True)
class Op:
    """What the program knows of an op: `infer` its type from those of its inputs, `write` its MLIR, `compute` it."""

    infer: Callable[[Node, list[Type]], Type]
    write: Callable[[Node, list[Type], Type, list[str], Writer], str]
    compute: Callable[[Node, list[Any], Type, Mapping[str, int]], Any]


def shape_of(kind: Type, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(size_of(dim, sizes) for dim in kind.shape)


def dims(value: Any) -> tuple[tuple, ...]:
    return tuple(make_dim(dim[0], dim[1:]) for dim in value)


def letters_of(maps: list[str], kinds: list[Type], extra: Mapping[str, Any] | None = None) -> dict[str, tuple]:
    """The dims of the letters of `maps`; Invalid where two disagree."""
    found = {letter: make_dim(dim[0], dim[1:]) for letter, dim in (extra or {}).items()}
    for letters, kind in zip(maps, kinds, strict=True):
        require(kind.shape is not None and len(letters) == kind.rank)
        for letter, dim in zip(letters, kind.shape, strict=True):
            require(found.setdefault(letter, dim) == dim)
    return found


def same_sizes(maps: list[str], values: list[Bounded]) -> dict[str, int]:
    """The sizes of the letters; Mismatch where two disagree."""
    found: dict[str, int] = {}
    for letters, value in zip(maps, values, strict=True):
        for letter, size in zip(letters, value.shape, strict=True):
            if found.setdefault(letter, size) != size:
                raise Mismatch(f"{letter}: {found[letter]} and {size}")
    return found


def affine(order: str, letters: str) -> str:
    names = {letter: f"d{i}" for i, letter in enumerate(order)}
    return f"affine_map<({', '.join(names.values())}) -> ({', '.join(names[letter] for letter in letters)})>"
