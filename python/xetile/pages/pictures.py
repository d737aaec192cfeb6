# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts of a level's values as data for pictures: which subgroups own which piece of a tile, and which lane and
register has which element of an operand of the matrix unit, or of what a block message brings or takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from xetile import layout
from xetile.errors import XeTileError
from xetile.mlir import ir
from xetile.pages.levels import Level

__all__ = ["Pictures"]

_MOST_PIECES = 1024
_MOST_ELEMENTS = 2048  # of a message: as many bytes as one brings
_MAP = re.compile(r"sg_layout = \[(\d+), (\d+)\], sg_data = \[(\d+), (\d+)\]")
_TILE = re.compile(r"!xetile\.tile<(\d+)x(\d+)x\w+, #xetile\.tile_attr<wg_map = ")
_VECTOR = re.compile(r"vector<(\d+)x(\d+)x(\w+)>")
_MESSAGE = re.compile(r"vector<(?:(\d+)x)?(\d+)x(\d+)x(b?f16|i16|[fi]32|tf32|i8)>")
_LANES = 16
_DWORD = 32


class Pictures:
    """Pictures that operations have, each kept once; `all` are they, as a page's script reads them."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._known: dict[tuple[Any, ...], int | None] = {}

    def of_level(self, level: Level) -> dict[int, list[int]]:
        """Line of an operation -> the numbers of its pictures, for those that have any."""
        found = {}
        for op, shown in zip(level.operations(), level.ops, strict=True):
            numbers = [number for number in self._of(op) if number is not None]
            if numbers:
                found[shown.line] = list(dict.fromkeys(numbers))
        return found

    def _of(self, op: ir.Operation) -> list[int | None]:
        if op.name == "xegpu.dpas":
            values = [*op.operands, *op.results]
            kinds = [_VECTOR.match(str(value.type)) for value in values]
            elements = kinds[0][3] if kinds[0] else ""
            named = zip(("A", "B", "C", "C"), kinds, strict=False)
            return [
                self._once(("dpas", operand, elements, int(kind[1]), int(kind[2])))
                for operand, kind in named
                if kind and (operand != "C" or kind is kinds[-1])
            ]
        if op.name in ("xegpu.load_nd", "xegpu.store_nd"):
            found = _MESSAGE.match(str((op.results[0] if len(op.results) else op.operands[0]).type))
            if not found:
                return []
            blocks, rows, columns, elements = int(found[1] or 1), int(found[2]), int(found[3]), found[4]
            if "transpose" in op.attributes:
                return [self._once(("turned", columns, rows, elements))] if blocks == 1 else []
            return [self._once(("blocks", blocks, rows, columns, elements))]
        if not op.name.startswith("xetile."):
            return []
        pictures = []
        for value in (*op.results, *op.operands):
            text = str(value.type)
            tile, found = _TILE.match(text), _MAP.search(text)
            if tile and found:
                pictures.append(self._once(("map", int(tile[1]), int(tile[2]), *map(int, found.groups()))))
        if "wg_map" in op.attributes and len(op.results):
            shape, found = _VECTOR.match(str(op.results[0].type)), _MAP.search(str(op.attributes["wg_map"]))
            if shape and found:
                pictures.append(self._once(("map", int(shape[1]), int(shape[2]), *map(int, found.groups()))))
        return pictures

    def _once(self, key: tuple[Any, ...]) -> int | None:
        if key not in self._known:
            try:
                made = _DRAWN[key[0]](*key[1:])
            except XeTileError:
                made = None  # of a size that pictures do not have
            self._known[key] = None if made is None else len(self.all)
            if made is not None:
                self.all.append(made)
        return self._known[key]


def _owners(
    rows: int, columns: int, layout_rows: int, layout_columns: int, data_rows: int, data_columns: int
) -> dict[str, Any] | None:
    """Pieces of a workgroup's tile, [row, column, subgroups]."""
    if (rows // max(1, data_rows)) * (columns // max(1, data_columns)) > _MOST_PIECES:
        return None
    pieces = layout.wg_map_owners((rows, columns), (layout_rows, layout_columns), (data_rows, data_columns))
    return {
        "kind": "map",
        "title": f"{rows} x {columns}: {layout_rows} x {layout_columns} subgroups, "
        f"{data_rows} x {data_columns} each in turn",
        "size": [rows, columns],
        "piece": [data_rows, data_columns],
        "pieces": [[row, column, list(owners)] for (row, column), owners in sorted(pieces.items())],
    }


def _lanes(operand: str, elements: str, rows: int, columns: int) -> dict[str, Any] | None:
    """Lane and register of each element, by rows."""
    if rows * columns > _MOST_PIECES:
        return None
    # Results have elements of 32 bits, whatever the operands have.
    kind = elements if operand != "C" else "f32"
    places = layout.dpas_layout(operand, (rows, columns), kind, layout.Dpas.of(elements))
    sizes = dict(places._ins())
    cells = [[[-1, -1] for _ in range(columns)] for _ in range(rows)]
    for lane in range(sizes["lane"]):
        for register in range(sizes["register"]):
            at = layout.apply(places, register=register, lane=lane, subgroup=0)
            cells[at["dim0"]][at["dim1"]] = [lane, register]
    return {
        "kind": "lanes",
        "title": f"operand {operand} of dpas, {rows} x {columns}, of {elements}: lane L, its register R",
        "size": [rows, columns],
        "cells": cells,
    }


def _blocks(blocks: int, rows: int, columns: int, elements: str) -> dict[str, Any] | None:
    """The same for a message's blocks, side by side: a lane has all rows of a block, then the next; of rows of 32
    bytes two neighbours in each."""
    each = columns // _LANES
    if columns % _LANES or blocks * rows * columns > _MOST_ELEMENTS or each > (2 if elements == "i8" else 1):
        return None
    cells = [
        [
            [column % columns // each, (column // columns * rows + row) * each + column % each]
            for column in range(blocks * columns)
        ]
        for row in range(rows)
    ]
    return {
        "kind": "lanes",
        "title": f"message of {blocks} x {rows} x {columns} {elements}: lane L, its register R",
        "size": [rows, blocks * columns],
        "cells": cells,
    }


def _turned(rows: int, columns: int, elements: str) -> dict[str, Any] | None:
    """The same for a transposing message, as its elements lie in memory: each lane has rows 16 apart, of all of them
    32 bits of a column, then the next ones."""
    each = _DWORD // int(re.sub(r"\D", "", elements.replace("tf", "")))
    if rows % _LANES or columns % each or rows * columns > _MOST_ELEMENTS:
        return None
    held = rows // _LANES
    cells = [
        [[row % _LANES, (column // each * held + row // _LANES) * each + column % each] for column in range(columns)]
        for row in range(rows)
    ]
    return {
        "kind": "lanes",
        "title": f"transposing message of {rows} x {columns} {elements} of memory: lane L, its register R",
        "size": [rows, columns],
        "cells": cells,
    }


_DRAWN: dict[str, Callable[..., dict[str, Any] | None]] = {
    "map": _owners,
    "dpas": _lanes,
    "blocks": _blocks,
    "turned": _turned,
}
