# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which lane holds what: DPAS operands as linear layouts, and the 2D block messages that fill them.

    plan = layout.plan("B", (32, 256), "f16", layout.Dpas.of("f16", subgroups=(8, 4), rep_cluster=(4, 2)))
    print(plan)                        # messages, register map, how the plan grows from one DPAS tile
    layout.hardware_view(plan.operand) # what each register of each lane holds

Shapes are (rows, columns) in elements. A is m x k, B is k x n, C is m x n. All of it is computed by the compiler's own
library; nothing needs a GPU, and only `wg_map_owners` needs MLIR. Every function raises XeTileError on input that it
refuses, and names the parameter and its legal values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xetile import _layout
from xetile._layout import LinearLayout
from xetile.errors import XeTileError, expect
from xetile.layout.parameters import Dpas, Surface, checked_sequence, checked_text, element_bits, pair, unsigned
from xetile.layout.plans import Cost, Message, Plan, Slice

__all__ = [
    "Cost",
    "Dpas",
    "LaneLayout",
    "LinearLayout",
    "Message",
    "Plan",
    "Slice",
    "Surface",
    "apply",
    "dpas_layout",
    "element_bits",
    "hardware_view",
    "lane_layout",
    "linear_layout",
    "plan",
    "tensor_view",
    "tile_messages",
    "wg_map_owners",
]


@dataclass(frozen=True)
class LaneLayout:
    """XeGPU's `lane_layout` and `lane_data`."""

    lane_layout: tuple[int, int]
    lane_data: tuple[int, int]

    def linear_layout(self, shape: Sequence[int]) -> LinearLayout:
        """(register, lane) -> (dim0, dim1) on a tile of that shape."""
        return _layout.from_lanes(
            pair("lane_layout", self.lane_layout), pair("lane_data", self.lane_data), pair("shape", shape)
        )

    @classmethod
    def from_linear_layout(cls, layout: LinearLayout, packed: int) -> LaneLayout:
        """The reverse, for a layout of one instruction; `packed` elements share a register of a lane."""
        _check_layout(layout)
        return cls(*_layout.to_lanes(layout, unsigned("packed", packed)))


def linear_layout(
    inputs: Mapping[str, Iterable[Sequence[int]]], outputs: Mapping[str, int], surjective: bool = True
) -> LinearLayout:
    """A layout from the images of each input's bits, one coordinate per output:
    `linear_layout({"lane": [(0, 1), (0, 2)]}, {"row": 1, "col": 4})`."""
    expect("inputs", inputs, Mapping, "a mapping of names to lists of bases")
    expect("outputs", outputs, Mapping, "a mapping of names to sizes")
    expect("surjective", surjective, bool, "True or False")
    for name, images in inputs.items():
        checked_text("the name of an input", name)
        for basis in checked_sequence(f"bases of {name!r}", images):
            checked_sequence(f"a basis of {name!r}", basis)
    for name in outputs:
        checked_text("the name of an output", name)
    bases = [
        (name, [[unsigned(f"a basis of {name!r}", value) for value in basis] for basis in images])
        for name, images in inputs.items()
    ]
    sizes = [(name, unsigned(f"size of {name!r}", size)) for name, size in outputs.items()]
    return LinearLayout._create(bases, sizes, surjective)


def apply(layout: LinearLayout, **index: int) -> dict[str, int]:
    """The outputs of one index, by name: `apply(layout, register=3, lane=5, subgroup=0)`."""
    _check_layout(layout)
    place = layout._apply([(name, unsigned(name, value)) for name, value in index.items()])
    return dict(zip((name for name, _ in layout._outs()), place, strict=True))


def dpas_layout(operand: str, shape: Sequence[int], type_: str | int, dpas: Dpas | None = None) -> LinearLayout:
    """(register, lane, subgroup) -> (dim0, dim1) of a workgroup's tile of operand "A", "B" or "C".

    Without `dpas` it is one instruction per subgroup, one subgroup, on elements of the type (C: of f16).
    """
    operand, bits = checked_text("operand", operand), element_bits(type_)
    dpas = _checked_dpas(dpas, operand, bits)
    return _layout.dpas_layout(dpas._native(), operand, unsigned("type", bits), pair("shape", shape))


def lane_layout(operand: str, type_: str | int, subgroup_size: int = 16) -> LaneLayout:
    """XeGPU's layout of an operand on subgroups of 16 (PVC, Xe2) or 8 lanes (ARC)."""
    lanes = _layout.lane_layout(
        checked_text("operand", operand),
        unsigned("type", element_bits(type_)),
        unsigned("subgroup_size", subgroup_size),
    )
    return LaneLayout(*lanes)


def plan(
    operand: str,
    shape: Sequence[int],
    type_: str | int,
    dpas: Dpas | None = None,
    *,
    target: str = "pvc",
    contiguous_dim: int = 1,
    one_matrix: bool = False,
    access: str = "load",
    surface: Surface | None = None,
) -> Plan:
    """The plan with the fewest messages, then the fewest shuffles, for one subgroup of a workgroup's tile.

    `contiguous_dim` is 1 if the tile's rows are contiguous in memory, 0 if its columns are. `access` is "load", "store"
    or "prefetch". With `one_matrix` a message brings at most one DPAS operand. XeTileError says which limit of the
    target forbids any plan.
    """
    operand, bits = checked_text("operand", operand), element_bits(type_)
    dpas = _checked_dpas(dpas, operand, bits)
    if surface is not None:
        expect("surface", surface, Surface, "an xetile.layout.Surface")
    expect("one_matrix", one_matrix, bool, "True or False")
    native = _layout.plan(
        checked_text("target", target),
        dpas._native(),
        operand,
        unsigned("type", bits),
        pair("shape", shape),
        unsigned("contiguous_dim", contiguous_dim),
        one_matrix,
        checked_text("access", access),
        (surface or Surface())._native(),
    )
    tile, iterations, loads = native.layouts()
    message_bits, operand_bits = native.register_bits
    rows = "rows" if contiguous_dim else "columns"
    return Plan(
        title=f"{access} {operand} {'x'.join(map(str, shape))} of {bits} bits, {rows} contiguous, on {target}",
        access=access,
        element_bits=bits,
        contiguous_dim=contiguous_dim,
        messages=tuple(Message(*native.shape, row, col) for row, col in native.places),
        cost=Cost(*native.cost),
        operand=native.operand,
        tile_layout=tile,
        iteration_layout=iterations,
        load_layout=loads,
        assumptions=tuple(native.assumptions()),
        slices=tuple(tuple(Slice(*part) for part in native.slices(number)) for number in range(native.tiles)),
        message_register_bits=message_bits,
        operand_register_bits=operand_bits,
        _native=native,
    )


def tile_messages(
    operand: str,
    shape: Sequence[int],
    type_: str | int,
    *,
    inputs: str | int | None = None,
    target: str = "pvc",
    access: str = "load",
) -> tuple[Message, ...]:
    """The messages of one subgroup for its own row-major tile, as the compiler makes them, in their order.

    Its sides need not be powers of two: the plan of the largest part with such sides that divides it is repeated.
    `inputs` is the type of A and B where it is not that of the elements. A prefetch takes tiles of any size, and every
    operand alike. XeTileError says which limit of the target forbids any plan.
    """
    operand, bits = checked_text("operand", operand), element_bits(type_)
    input_bits = element_bits(inputs) if inputs is not None else 16 if operand == "C" else bits
    message, places = _layout.tile_messages(
        checked_text("target", target),
        operand,
        unsigned("inputs", input_bits),
        unsigned("type", bits),
        pair("shape", shape),
        checked_text("access", access),
    )
    return tuple(Message(*message, row, col) for row, col in places)


def hardware_view(layout: LinearLayout, subgroup: int | None = None) -> str:
    """A table per subgroup (or of one): a row per register, a column per lane, the place that each holds."""
    _check_layout(layout)
    return _layout.hardware_view(layout, None if subgroup is None else unsigned("subgroup", subgroup))


def tensor_view(layout: LinearLayout) -> str:
    """A line per row of the tensor: who holds each element, as "S0-3:L5:R17" (subgroups, lane, register)."""
    _check_layout(layout)
    return _layout.tensor_view(layout)


def wg_map_owners(
    shape: Sequence[int], sg_layout: Sequence[int], sg_data: Sequence[int]
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Which subgroups own each piece of a workgroup's tile; the key is the piece's first row, column.

    The tile is cut into pieces of `sg_data`, dealt round-robin to `sg_layout` along each dimension. Where there are
    fewer pieces than subgroups, ids wrap around and share them. Linear ids run along columns first. The sizes need not
    be powers of two. The rule is the dialect's own, which this function asks; it needs xetile.mlir. There are at most
    65536 pieces and 2^20 owners of all of them together.
    """
    from xetile.mlir import ir
    from xetile.mlir.dialects import xetile as dialect

    rows, columns = pair("shape", shape)
    with ir.Context():
        try:
            wg_map = dialect.WgMapAttr.get(pair("sg_layout", sg_layout), pair("sg_data", sg_data))
            return {(row, column): tuple(ids) for row, column, ids in wg_map.owners(rows, columns)}
        except ValueError as error:
            raise XeTileError(f"wg_map: {str(error).replace('at loc(unknown): ', '').strip()}") from None


def _checked_dpas(dpas: Dpas | None, operand: str, bits: int) -> Dpas:
    if dpas is None:
        return Dpas() if operand == "C" else Dpas.of(bits)
    expect("dpas", dpas, Dpas, "an xetile.layout.Dpas")
    return dpas


def _check_layout(value: Any) -> None:
    expect("layout", value, LinearLayout, "a LinearLayout")
