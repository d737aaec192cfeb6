# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters of layouts and plans: element types, DPAS parameters, facts of a matrix; and their checks."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xetile import _layout
from xetile.errors import XeTileError, told

__all__ = ["Dpas", "Surface", "checked_sequence", "checked_text", "element_bits", "pair", "unsigned"]

_TYPES = {
    "f32": 32, "tf32": 32, "i32": 32, "s32": 32, "u32": 32,
    "f16": 16, "bf16": 16,
    "i8": 8, "s8": 8, "u8": 8,
    "i4": 4, "s4": 4, "u4": 4,
}  # fmt: skip


def element_bits(type_: str | int) -> int:
    """The bits of an element type, "f16" or 16; operands of other sizes are refused where they are used."""
    if isinstance(type_, int) and not isinstance(type_, bool):
        return type_
    if not isinstance(type_, str) or type_ not in _TYPES:
        raise XeTileError(f"type: unknown type {told(type_)}; known: {', '.join(_TYPES)}")
    return _TYPES[type_]


@dataclass(frozen=True)
class Dpas:
    """One DPAS instruction and how a workgroup repeats it; the names are those of Intel's DPAS layouts.

    `repeat_count` rows m, `execution_size` columns n, systolic_depth * ops_per_channel along k. `subgroups` and
    `rep_cluster` count along (m, n): subgroups of the workgroup, and neighbouring instructions of one subgroup.
    """

    repeat_count: int = 8
    systolic_depth: int = 8
    execution_size: int = 16
    ops_per_channel: int = 2
    threads_per_warp: int = 16
    subgroups: tuple[int, int] = (1, 1)
    rep_cluster: tuple[int, int] = (1, 1)

    @classmethod
    def of(cls, type_: str | int, **parameters: Any) -> Dpas:
        """The instruction on A and B of that type: `Dpas.of("i8", subgroups=(8, 4))`."""
        bits = element_bits(type_)
        if bits not in (4, 8, 16, 32):
            raise XeTileError(f"type: {bits} bits, expected A and B of 4, 8, 16 or 32 bits")
        return cls(ops_per_channel=32 // bits, **parameters)

    def _native(self) -> _layout.DpasParams:
        numbers = ("repeat_count", "systolic_depth", "execution_size", "ops_per_channel", "threads_per_warp")
        return _layout.DpasParams(
            **{name: unsigned(name, getattr(self, name)) for name in numbers},
            warps_per_cta=pair("subgroups", self.subgroups),
            rep_cluster=pair("rep_cluster", self.rep_cluster),
        )


@dataclass(frozen=True)
class Surface:
    """Static facts of the matrix in memory; None for dynamic ones.

    `base_align`, `width` and `pitch` are in bytes, `height` in memory rows. The tile's first element of a memory row is
    a multiple of `x_multiple`.
    """

    base_align: int | None = None
    width: int | None = None
    height: int | None = None
    pitch: int | None = None
    x_multiple: int | None = None

    def _native(self) -> _layout.SurfaceFacts:
        facts = ("base_align", "width", "height", "pitch", "x_multiple")
        values = {name: getattr(self, name) for name in facts}
        return _layout.SurfaceFacts(
            **{name: None if value is None else unsigned(name, value) for name, value in values.items()}
        )


def checked_text(name: str, value: Any) -> str:
    """A name, as text that can be printed. XeTileError if `value` is no string."""
    if not isinstance(value, str):
        raise XeTileError(f"{name}: expected a name, got {told(value)}")
    # Arguments of a command line may hold bytes that are no characters.
    return value.encode(errors="backslashreplace").decode()


def checked_sequence(name: str, value: Any) -> Sequence[Any]:
    """A list of any elements. XeTileError if `value` is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise XeTileError(f"{name}: expected a list, got {told(value)}")
    return value


def unsigned(name: str, value: Any) -> int:
    """An integer of 32 bits without a sign. XeTileError if `value` is none."""
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise XeTileError(f"{name}: expected an integer from 0 to 2^32 - 1, got {told(value)}")
    return number


def pair(name: str, value: Any) -> tuple[int, int]:
    """Two integers, rows and columns. XeTileError if `value` is no such pair."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise XeTileError(f"{name}: expected two integers (rows, columns), got {told(value)}") from None
    return unsigned(f"{name}[0]", first), unsigned(f"{name}[1]", second)
