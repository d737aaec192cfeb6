# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of layouts: who owns each element of a tile, and the outline of each 2D block message.

Needs matplotlib (`pip install xetile[draw]`). The file's suffix chooses the format: .svg or .png.
"""

from __future__ import annotations

import colorsys
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError, expect
from xetile.layout import LinearLayout, Plan, wg_map_owners
from xetile.system import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "draw_wg_map"]

# Rows and columns of one subgroup's part that are drawn element by element.
_MOST_CELLS = 64
# Limits of drawings that take some seconds.
_MOST_ELEMENTS = 1 << 20
_MOST_PIECES = 1 << 12
_CELL = 0.34  # inches
_MESSAGE_COLOUR = "#b00020"
_DPI = 110
_FORMATS = (".svg", ".png")

# row, column, rows, columns
_Rectangle = tuple[int, int, int, int]


@dataclass(frozen=True)
class _Part:
    """A subgroup's fragment: its rows and columns of the tile, and [row, column] -> lane, register."""

    rows: list[int]
    cols: list[int]
    lanes: NDArray[np.int64]
    registers: NDArray[np.int64]

    @classmethod
    def of(cls, layout: LinearLayout, subgroup: int) -> _Part:
        """Every register of every lane; refused unless they fill whole rows and columns once."""
        (_, registers), (_, lanes), _ = layout._ins()
        bases = dict(layout._bases())
        number = np.arange(registers * lanes)
        indices = {"register": number % registers, "lane": number // registers, "subgroup": np.full(1, subgroup)}
        place = np.zeros((2, registers * lanes), dtype=np.int64)
        for name, index in indices.items():
            for bit, basis in enumerate(bases[name]):
                place ^= (index >> bit & 1) * np.array(basis).reshape(2, 1)
        rows, row_index = np.unique(place[0], return_inverse=True)
        cols, col_index = np.unique(place[1], return_inverse=True)
        lane_of = np.full((len(rows), len(cols)), -1)
        register_of = np.full((len(rows), len(cols)), -1)
        lane_of[row_index, col_index] = indices["lane"]
        register_of[row_index, col_index] = indices["register"]
        if len(rows) * len(cols) != registers * lanes or (lane_of < 0).any():
            raise XeTileError("layout: expected one whose subgroups hold whole rows and columns, each element once")
        return cls(rows.tolist(), cols.tolist(), lane_of, register_of)


def draw(
    layout: LinearLayout, path: str | Path, *, plan: Plan | None = None, title: str = "", subgroup: int = 0
) -> None:
    """Draws a layout from (register, lane, subgroup) to (dim0, dim1), and the plan's messages, to a file.

    Two panels: the whole tile, coloured and labelled by the subgroups that own it, with the outline of every message;
    and the part of one subgroup with the lane and the register of each element. Where one subgroup owns all, only that.
    """
    path = _checked(path)
    expect("layout", layout, LinearLayout, "a LinearLayout")
    ins, outs = layout._ins(), layout._outs()
    if [name for name, _ in ins] != ["register", "lane", "subgroup"] or len(outs) != 2:
        raise XeTileError("layout: expected one from register, lane and subgroup to two dimensions (dpas_layout)")
    subgroups = ins[2][1]
    expect("subgroup", subgroup, int, "an integer")
    if not 0 <= subgroup < subgroups:
        raise XeTileError(f"subgroup is {subgroup}, expected 0 to {subgroups - 1}")
    if plan is not None:
        expect("plan", plan, Plan, "a Plan of the same operand")
    expect("title", title, str, "a string")
    elements = math.prod(size for _, size in ins)
    if elements > _MOST_ELEMENTS:
        raise XeTileError(
            f"the subgroups hold {elements} elements together, expected at most {_MOST_ELEMENTS} to draw; "
            "use a smaller shape"
        )
    parts = [_Part.of(layout, number) for number in range(subgroups)]
    owners: dict[_Rectangle, list[int]] = {}
    for number, part in enumerate(parts):
        for row, height in _runs(part.rows):
            for col, width in _runs(part.cols):
                owners.setdefault((row, col, height, width), []).append(number)

    _check_pieces(len(owners))
    rows, cols = (size for _, size in outs)
    part = parts[subgroup]
    cells = min(len(part.rows), _MOST_CELLS), min(len(part.cols), _MOST_CELLS)
    detail_size = cells[1] * _CELL + 0.9, cells[0] * _CELL + 0.9
    with _style():
        figure = _figure()
        if len(owners) == 1:
            figure.set_size_inches(detail_size[0], detail_size[1] + 0.4)
            detail = figure.add_subplot()
        else:
            overview, detail = _panels(figure, rows, cols, detail_size)
            _draw_owners(overview, rows, cols, {piece: tuple(ids) for piece, ids in owners.items()})
            overview.set_title("subgroups" + (" and messages" if plan else ""), fontsize=10)
            if plan:
                for ids in {tuple(ids) for ids in owners.values()}:
                    for message in range(len(plan.messages)):
                        _outline(overview, plan.blocks(message, ids[0]), 1.0)
        _draw_part(detail, part, cells, plan, subgroup)
        figure.suptitle(title, fontsize=12)
        _save(figure, path)


def draw_wg_map(
    shape: Sequence[int], sg_layout: Sequence[int], sg_data: Sequence[int], path: str | Path, *, title: str = ""
) -> None:
    """Draws which subgroups own each piece of a workgroup's tile under a wg_map. The sizes may be any."""
    path = _checked(path)
    expect("title", title, str, "a string")
    pieces = wg_map_owners(shape, sg_layout, sg_data)
    _check_pieces(len(pieces))
    rows, cols = shape
    piece_rows, piece_cols = sg_data
    with _style():
        figure = _figure()
        width, height = _overview_size(rows, cols, 8.0)
        figure.set_size_inches(max(width, 4.0) + 0.9, height + 1.1)
        axes = figure.add_subplot()
        owners = {(row, col, piece_rows, piece_cols): ids for (row, col), ids in pieces.items()}
        _draw_owners(axes, rows, cols, owners)
        figure.suptitle(title, fontsize=12)
        _save(figure, path)


def _check_pieces(pieces: int) -> None:
    if pieces > _MOST_PIECES:
        raise XeTileError(
            f"the picture has {pieces} pieces, expected at most {_MOST_PIECES}; use a smaller shape or larger pieces"
        )


def _save(figure: Any, path: Path) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), dpi=_DPI)
    files.write(path, picture.getvalue())


def _draw_owners(axes: Axes, rows: int, cols: int, owners: dict[_Rectangle, tuple[int, ...]]) -> None:
    """Pieces of the tile, coloured by who owns them; neighbours of the same owners share a label."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    number = {ids: index for index, ids in enumerate(sorted(set(owners.values())))}
    patches = [Rectangle((col, row), width, height) for row, col, height, width in owners]
    colours = [_pastel(number[ids]) for ids in owners.values()]
    # Lines between pieces would hide the colours of very small ones.
    smallest = min(min(height / rows, width / cols) for _, _, height, width in owners)
    axes.add_collection(
        PatchCollection(patches, facecolors=colours, edgecolors="white", linewidths=1.0 if smallest > 0.01 else 0.0)
    )
    inches = _overview_size(rows, cols, 8.0)
    for (row, col, height, width), ids in _merged(owners).items():
        text = _ids(ids)
        room = width / cols * inches[0] * 72 / (0.62 * max(3, len(text))), height / rows * inches[1] * 72 / 1.3
        if (size := min(9.0, *room)) >= 3.5:
            # Messages are drawn over the pieces: keep their lines off the text.
            box = {"facecolor": (1, 1, 1, 0.8), "edgecolor": "none", "pad": 1.2}
            x, y = col + width / 2, row + height / 2
            axes.text(x, y, text, fontsize=size, bbox=box, ha="center", va="center", zorder=6)
    _frame(axes, rows, cols)
    for axis, edges in (
        (axes.yaxis, {row for row, *_ in owners} | {rows}),
        (axes.xaxis, {col for _, col, *_ in owners} | {cols}),
    ):
        axis.set_ticks(_thinned(sorted(edges)))


def _draw_part(axes: Axes, part: _Part, cells: tuple[int, int], plan: Plan | None, subgroup: int) -> None:
    """One subgroup's elements: lane above register in each, coloured by DPAS operand, messages outlined."""
    height, width = cells
    per_operand = len(plan.registers) // len(plan.slices) if plan and plan.slices else 0
    groups = part.registers // per_operand if per_operand else part.lanes
    image = np.array([[_pastel(groups[row, col]) for col in range(width)] for row in range(height)])
    axes.imshow(image, extent=(0, width, height, 0), interpolation="nearest", aspect="equal")
    axes.set_xticks(np.arange(width + 1), minor=True)
    axes.set_yticks(np.arange(height + 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    for row in range(height):
        for col in range(width):
            text = f"L{part.lanes[row, col]}\nR{part.registers[row, col]}"
            # Out of the layout: text in a cell needs no room, and measuring thousands takes seconds.
            x, y = col + 0.5, row + 0.52
            axes.text(x, y, text, fontsize=6.2, linespacing=1.05, ha="center", va="center", in_layout=False)
    if plan:
        for number in range(len(plan.messages)):
            blocks = [_compressed(block, part, cells) for block in plan.blocks(number, subgroup)]
            _outline(axes, [block for block in blocks if block], 2.4)
    _frame(axes, height, width)
    # Ticks name the tile's own rows and columns, at the left and upper edge of their cells.
    for axis, indices in ((axes.yaxis, part.rows[:height]), (axes.xaxis, part.cols[:width])):
        starts = [at for at, index in enumerate(indices) if at % 8 == 0 or index != indices[at - 1] + 1]
        axis.set_ticks(starts, [str(indices[at]) for at in starts])
    parts = [f"subgroup {subgroup}: lane (L) and register (R) of each element"]
    if plan:
        parts.append("colours: DPAS operands; red: messages" if per_operand else "red: messages")
    if (height, width) != (len(part.rows), len(part.cols)):
        parts.append(f"first {height}x{width} of {len(part.rows)}x{len(part.cols)}")
    axes.set_title("\n".join(parts) if width < 40 else "; ".join(parts), fontsize=10)


def _outline(axes: Axes, blocks: Iterable[_Rectangle], line: float) -> None:
    """A message: solid around all of its blocks, dashed between them."""
    from matplotlib.patches import Rectangle

    blocks = list(blocks)
    if not blocks:
        return
    top, left = min(block[0] for block in blocks), min(block[1] for block in blocks)
    bottom = max(row + height for row, _, height, _ in blocks)
    right = max(col + width for _, col, _, width in blocks)
    style: dict[str, Any] = {"fill": False, "edgecolor": _MESSAGE_COLOUR, "clip_on": False}
    axes.add_patch(Rectangle((left, top), right - left, bottom - top, linewidth=line, zorder=4, **style))
    for row, col, height, width in blocks if len(blocks) > 1 else ():
        axes.add_patch(
            Rectangle((col, row), width, height, linewidth=line / 2, linestyle=(0, (4, 3)), zorder=3, **style)
        )


def _compressed(block: _Rectangle, part: _Part, cells: tuple[int, int]) -> _Rectangle | None:
    """A block in the cells that are drawn: without the gaps between the subgroup's rows and columns, cut at the end."""
    row, col, height, width = block
    top, left = part.rows.index(row), part.cols.index(col)
    height, width = min(height, cells[0] - top), min(width, cells[1] - left)
    return (top, left, height, width) if height > 0 and width > 0 else None


def _merged(owners: dict[_Rectangle, tuple[int, ...]]) -> dict[_Rectangle, tuple[int, ...]]:
    """Neighbouring pieces of the same owners as one: along columns, then along rows."""
    by_row: list[tuple[_Rectangle, tuple[int, ...]]] = []
    for (row, col, height, width), ids in sorted(owners.items()):
        if by_row:
            (last_row, last_col, last_height, last_width), last_ids = by_row[-1]
            if (last_row, last_height, last_ids, last_col + last_width) == (row, height, ids, col):
                by_row[-1] = (row, last_col, height, last_width + width), ids
                continue
        by_row.append(((row, col, height, width), ids))
    result: list[tuple[_Rectangle, tuple[int, ...]]] = []
    for (row, col, height, width), ids in sorted(by_row, key=lambda entry: (entry[0][1], entry[0][0])):
        if result:
            (last_row, last_col, last_height, last_width), last_ids = result[-1]
            if (last_col, last_width, last_ids, last_row + last_height) == (col, width, ids, row):
                result[-1] = (last_row, col, last_height + height, width), ids
                continue
        result.append(((row, col, height, width), ids))
    return dict(result)


def _runs(values: Sequence[int]) -> list[tuple[int, int]]:
    """First and length of each run of successive integers."""
    breaks = [0, *(at + 1 for at, (low, high) in enumerate(pairwise(values)) if high != low + 1), len(values)]
    return [(values[start], end - start) for start, end in pairwise(breaks)]


def _ids(ids: tuple[int, ...]) -> str:
    """S3, S0-3, or the first, the second and the last of ids with equal steps."""
    if len(ids) == 1:
        return f"S{ids[0]}"
    steps = {high - low for low, high in pairwise(ids)}
    if steps == {1}:
        return f"S{ids[0]}-{ids[-1]}"
    if len(steps) == 1 and len(ids) > 2:
        return f"S{ids[0]},{ids[1]}..{ids[-1]}"
    return "S" + ",".join(map(str, ids))


def _thinned(edges: list[int]) -> list[int]:
    """At most 17 ticks, the first among them."""
    return edges[:: max(1, -(-len(edges) // 17))]


def _pastel(number: int) -> tuple[float, float, float]:
    """Colours that black text is readable on; successive numbers differ much."""
    return colorsys.hsv_to_rgb(number * 0.381966 % 1.0, 0.30, 0.98)


def _frame(axes: Axes, rows: int, cols: int) -> None:
    """Row 0 on top, as matrices are written."""
    axes.set_xlim(0, cols)
    axes.set_ylim(rows, 0)
    axes.set_aspect("equal")
    axes.xaxis.tick_top()
    axes.tick_params(labelsize=7)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _overview_size(rows: int, cols: int, longest: float) -> tuple[float, float]:
    """Width and height in inches of a tile whose longer side has `longest`."""
    scale = longest / max(rows, cols)
    return cols * scale, rows * scale


def _panels(figure: Any, rows: int, cols: int, detail: tuple[float, float]) -> tuple[Axes, Axes]:
    """Tall tiles stand beside the part of one subgroup, wide ones lie above it."""
    if rows >= cols:
        width, height = _overview_size(rows, cols, max(8.0, detail[1]))
        width = max(width, 1.6)
        figure.set_size_inches(width + detail[0] + 1.2, max(height, detail[1]) + 0.8)
        return tuple(figure.subplots(1, 2, width_ratios=(width + 0.5, detail[0])))
    width, height = _overview_size(rows, cols, max(8.0, detail[0]))
    figure.set_size_inches(max(width, detail[0]) + 0.6, height + detail[1] + 1.8)
    return tuple(figure.subplots(2, 1, height_ratios=(height + 0.5, detail[1])))


def _checked(path: str | Path) -> Path:
    path = files.path_of(path, "the picture")
    if path.suffix.lower() not in _FORMATS:
        raise XeTileError(f"{path}: expected a file name that ends in {' or '.join(_FORMATS)}")
    if not path.parent.is_dir():
        raise XeTileError(f"{path}: there is no directory {path.parent}; create it first")
    return path


def _style() -> Any:
    """Text in SVG stays text."""
    _figure_class()
    from matplotlib import rc_context

    return rc_context({"svg.fonttype": "none", "svg.hashsalt": "xetile", "font.family": "DejaVu Sans"})


def _figure() -> Any:
    return _figure_class()(layout="constrained")


def _figure_class() -> Any:
    # Not pyplot: it keeps global state and looks for a display.
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise XeTileError("pictures need matplotlib; install it: pip install matplotlib") from None
    return Figure
