# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: messages, slices of registers, and how they grow from one DPAS tile; as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xetile import _layout
from xetile._layout import LinearLayout
from xetile.errors import XeTileError
from xetile.layout.parameters import unsigned

__all__ = ["Cost", "Message", "Plan", "Slice", "layout_json"]


@dataclass(frozen=True)
class Message:
    """A 2D block message. `width` counts elements of `element_bits` bits, which may hold several of the operand's;
    `row` and `col` are the corner's in the operand's tile, in its elements, for the first subgroup."""

    element_bits: int
    width: int
    height: int
    blocks: int
    transpose: bool
    transform: bool
    row: int
    col: int

    def __str__(self) -> str:
        kind = " transpose" * self.transpose + " transform" * self.transform
        blocks = f", {self.blocks} blocks" * (self.blocks > 1)
        size = f"{self.height} rows of {self.width}"
        return f"d{self.element_bits}{kind}: {size}{blocks}, at ({self.row}, {self.col})"

    def to_json(self) -> dict[str, int | bool]:
        """Its fields by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Slice:
    """`count` registers of the operand from `register` on: those of `message` from `source` on. A register holds one
    element. (A store: they go there.)"""

    register: int
    message: int
    source: int
    count: int


@dataclass(frozen=True)
class Cost:
    """`shuffles` counts the DPAS operands that are not one slice of one message, in registers of DPAS's width."""

    messages: int
    bytes: int
    shuffles: int


@dataclass(frozen=True)
class Plan:
    """The messages that load (store, prefetch) one subgroup's part of an operand, and the register map.

    `operand` maps (register, lane, subgroup) to (dim0, dim1). `tile_layout`, `iteration_layout` and `load_layout` tell
    how the plan grows from one DPAS tile, in memory rows and message elements. `assumptions` must hold at run time.
    """

    title: str
    access: str
    element_bits: int
    contiguous_dim: int
    messages: tuple[Message, ...]
    cost: Cost
    operand: LinearLayout
    tile_layout: LinearLayout
    iteration_layout: LinearLayout
    load_layout: LinearLayout
    assumptions: tuple[str, ...]
    slices: tuple[tuple[Slice, ...], ...]
    message_register_bits: int
    operand_register_bits: int
    _native: _layout.NativePlan = field(repr=False, compare=False)

    @property
    def registers(self) -> tuple[tuple[int, int], ...]:
        """For each register of the operand the message and the register of it; empty for a prefetch."""
        return tuple(self._native.registers)

    def subgroup_origin(self, subgroup: int) -> tuple[int, int]:
        """Where a subgroup's part starts: to be added to each message's `row` and `col`."""
        return self._native.subgroup_origin(unsigned("subgroup", subgroup))

    def blocks(self, message: int, subgroup: int = 0) -> list[tuple[int, int, int, int]]:
        """The blocks of a message on the operand's tile, each as (row, column, rows, columns)."""
        if not 0 <= unsigned("message", message) < len(self.messages):
            raise XeTileError(f"message is {message}, expected 0 to {len(self.messages) - 1}")
        shape = self.messages[message]
        origin = self.subgroup_origin(subgroup)
        row, col = origin[0] + shape.row, origin[1] + shape.col
        height, width = shape.height, shape.width * shape.element_bits // self.element_bits
        if self.contiguous_dim:
            return [(row, col + block * width, height, width) for block in range(shape.blocks)]
        return [(row + block * width, col, width, height) for block in range(shape.blocks)]

    def prove(self, height: int, width: int, y: int = 0, x: int = 0, subgroup: int = 0) -> None:
        """Runs the messages on a surface of `height` memory rows of `width` elements, the tile's corner at (y, x), and
        compares every register of every lane with what DPAS wants, zeros outside the surface included.

        XeTileError tells the first difference; there is none in a plan that this module made.
        """
        for name, value in {"height": height, "width": width, "y": y, "x": x}.items():
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**40:
                raise XeTileError(f"{name}: expected an integer from -2^40 to 2^40, got {value!r}")
        self._native.prove(height, width, y, x, unsigned("subgroup", subgroup))

    def to_json(self) -> dict[str, Any]:
        """Plain values, for json.dumps."""
        return {
            "access": self.access,
            "messages": [message.to_json() for message in self.messages],
            "cost": {"messages": self.cost.messages, "bytes": self.cost.bytes, "shuffles": self.cost.shuffles},
            "register_bits": {"message": self.message_register_bits, "operand": self.operand_register_bits},
            "operands": [
                [{name: getattr(slice_, name) for name in Slice.__dataclass_fields__} for slice_ in slices]
                for slices in self.slices
            ],
            "layouts": {
                "tile": layout_json(self.tile_layout),
                "iterations": layout_json(self.iteration_layout),
                "loads": layout_json(self.load_layout),
            },
            "assumptions": list(self.assumptions),
        }

    def __str__(self) -> str:
        def count(number: int, what: str) -> str:
            return f"{number} {what}{'' if number == 1 else 's'}"

        cost = self.cost
        lines = [
            f"{self.title}: {count(cost.messages, 'message')} of {cost.bytes // cost.messages} bytes, "
            f"{count(cost.shuffles, 'shuffle')}"
        ]
        lines += [f"  message {number}: {message}" for number, message in enumerate(self.messages)]
        arrow = "->" if self.access == "store" else "<-"
        for number, slices in enumerate(self.slices):
            parts = [f"{part.message}[{_span(part.source, part.count)}]" for part in slices]
            lines.append(f"  DPAS operand {number} {arrow} {', '.join(parts)}")
        if self.cost.shuffles and self.message_register_bits != self.operand_register_bits:
            lines.append(
                f"  Messages fill registers of {self.message_register_bits} bits per lane, "
                f"DPAS takes {self.operand_register_bits}."
            )
        lines += ["", "Block load tile layout:", str(self.tile_layout).rstrip()]
        lines += ["", "Block load tile layout after adding iterations:", str(self.iteration_layout).rstrip()]
        lines += ["", "Block load tile layout after adding loads:", str(self.load_layout).rstrip()]
        if self.assumptions:
            lines += ["", "Holds if:", *(f" - {assumption}" for assumption in self.assumptions)]
        return "\n".join(lines)


def _span(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}:{first + count}"


def layout_json(layout: LinearLayout) -> dict[str, Any]:
    """Bases of each input and sizes of each output, as plain values."""
    return {"bases": dict(layout._bases()), "out_dims": dict(layout._outs())}
