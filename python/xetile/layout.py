"""Which lane holds what: DPAS operands as linear layouts, and the 2D block messages that fill them.

    plan = layout.plan("B", (32, 256), "f16", layout.Dpas.of("f16", subgroups=(8, 4), rep_cluster=(4, 2)))
    print(plan)                        # messages, register map, how the plan grows from one DPAS tile
    layout.hardware_view(plan.operand) # what each register of each lane holds

Shapes are (rows, columns) in elements. A is m x k, B is k x n, C is m x n. All of it is computed by the compiler's own
library; nothing needs a GPU, and only `wg_map_owners` needs MLIR. Every function raises XeTileError on input that it
refuses, and names the parameter and its legal values.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xetile import _layout
from xetile._layout import LinearLayout
from xetile.errors import XeTileError, expect, told

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
            **{name: _unsigned(name, getattr(self, name)) for name in numbers},
            warps_per_cta=_pair("subgroups", self.subgroups),
            rep_cluster=_pair("rep_cluster", self.rep_cluster),
        )


@dataclass(frozen=True)
class Surface:
    """What is known of the matrix in memory; None for what only the run will tell.

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
            **{name: None if value is None else _unsigned(name, value) for name, value in values.items()}
        )


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
class LaneLayout:
    """XeGPU's `lane_layout` and `lane_data`."""

    lane_layout: tuple[int, int]
    lane_data: tuple[int, int]

    def linear_layout(self, shape: Sequence[int]) -> LinearLayout:
        """(register, lane) -> (dim0, dim1) on a tile of that shape."""
        return _layout.from_lanes(
            _pair("lane_layout", self.lane_layout), _pair("lane_data", self.lane_data), _pair("shape", shape)
        )

    @classmethod
    def from_linear_layout(cls, layout: LinearLayout, packed: int) -> LaneLayout:
        """The reverse, for a layout of one instruction; `packed` elements share a register of a lane."""
        _check_layout(layout)
        return cls(*_layout.to_lanes(layout, _unsigned("packed", packed)))


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
        return self._native.subgroup_origin(_unsigned("subgroup", subgroup))

    def blocks(self, message: int, subgroup: int = 0) -> list[tuple[int, int, int, int]]:
        """The blocks of a message on the operand's tile, each as (row, column, rows, columns)."""
        if not 0 <= _unsigned("message", message) < len(self.messages):
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
        self._native.prove(height, width, y, x, _unsigned("subgroup", subgroup))

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
                "tile": _layout_json(self.tile_layout),
                "iterations": _layout_json(self.iteration_layout),
                "loads": _layout_json(self.load_layout),
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


def linear_layout(
    inputs: Mapping[str, Iterable[Sequence[int]]], outputs: Mapping[str, int], surjective: bool = True
) -> LinearLayout:
    """A layout from the images of each input's bits, one coordinate per output:
    `linear_layout({"lane": [(0, 1), (0, 2)]}, {"row": 1, "col": 4})`."""
    expect("inputs", inputs, Mapping, "a mapping of names to lists of bases")
    expect("outputs", outputs, Mapping, "a mapping of names to sizes")
    expect("surjective", surjective, bool, "True or False")
    for name, images in inputs.items():
        _text("the name of an input", name)
        for basis in _sequence(f"bases of {name!r}", images):
            _sequence(f"a basis of {name!r}", basis)
    for name in outputs:
        _text("the name of an output", name)
    bases = [
        (name, [[_unsigned(f"a basis of {name!r}", value) for value in basis] for basis in images])
        for name, images in inputs.items()
    ]
    sizes = [(name, _unsigned(f"size of {name!r}", size)) for name, size in outputs.items()]
    return LinearLayout._create(bases, sizes, surjective)


def apply(layout: LinearLayout, **index: int) -> dict[str, int]:
    """The outputs of one index, by name: `apply(layout, register=3, lane=5, subgroup=0)`."""
    _check_layout(layout)
    place = layout._apply([(name, _unsigned(name, value)) for name, value in index.items()])
    return dict(zip((name for name, _ in layout._outs()), place, strict=True))


def _layout_json(layout: LinearLayout) -> dict[str, Any]:
    """Bases of each input and sizes of each output, as plain values."""
    return {"bases": dict(layout._bases()), "out_dims": dict(layout._outs())}


def dpas_layout(operand: str, shape: Sequence[int], type_: str | int, dpas: Dpas | None = None) -> LinearLayout:
    """(register, lane, subgroup) -> (dim0, dim1) of a workgroup's tile of operand "A", "B" or "C".

    Without `dpas` it is one instruction per subgroup, one subgroup, on elements of the type (C: of f16).
    """
    bits = element_bits(type_)
    dpas = _checked_dpas(dpas, operand, bits)
    return _layout.dpas_layout(
        dpas._native(), _text("operand", operand), _unsigned("type", bits), _pair("shape", shape)
    )


def lane_layout(operand: str, type_: str | int, subgroup_size: int = 16) -> LaneLayout:
    """What XeGPU demands of an operand on subgroups of 16 (PVC, Xe2) or 8 lanes (ARC)."""
    lanes = _layout.lane_layout(
        _text("operand", operand), _unsigned("type", element_bits(type_)), _unsigned("subgroup_size", subgroup_size)
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
    bits = element_bits(type_)
    dpas = _checked_dpas(dpas, operand, bits)
    if surface is not None:
        expect("surface", surface, Surface, "an xetile.layout.Surface")
    expect("one_matrix", one_matrix, bool, "True or False")
    native = _layout.plan(
        _text("target", target),
        dpas._native(),
        _text("operand", operand),
        _unsigned("type", bits),
        _pair("shape", shape),
        _unsigned("contiguous_dim", contiguous_dim),
        one_matrix,
        _text("access", access),
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
    bits = element_bits(type_)
    input_bits = element_bits(inputs) if inputs is not None else 16 if operand == "C" else bits
    message, places = _layout.tile_messages(
        _text("target", target),
        _text("operand", operand),
        _unsigned("inputs", input_bits),
        _unsigned("type", bits),
        _pair("shape", shape),
        _text("access", access),
    )
    return tuple(Message(*message, row, col) for row, col in places)


def hardware_view(layout: LinearLayout, subgroup: int | None = None) -> str:
    """A table per subgroup (or of one): a row per register, a column per lane, the place that each holds."""
    _check_layout(layout)
    return _layout.hardware_view(layout, None if subgroup is None else _unsigned("subgroup", subgroup))


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

    rows, columns = _pair("shape", shape)
    with ir.Context():
        try:
            wg_map = dialect.WgMapAttr.get(_pair("sg_layout", sg_layout), _pair("sg_data", sg_data))
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


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise XeTileError(f"{name}: expected a name, got {told(value)}")
    # What a command line brings may hold bytes that are no characters.
    return value.encode(errors="backslashreplace").decode()


def _sequence(name: str, value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise XeTileError(f"{name}: expected a list, got {told(value)}")
    return value


def _unsigned(name: str, value: Any) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 2**32:
        raise XeTileError(f"{name}: expected an integer from 0 to 2^32 - 1, got {told(value)}")
    return number


def _pair(name: str, value: Any) -> tuple[int, int]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise XeTileError(f"{name}: expected two integers (rows, columns), got {told(value)}") from None
    return _unsigned(f"{name}[0]", first), _unsigned(f"{name}[1]", second)
