# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types by their names, constants of them, and maps of subgroups."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xetile.errors import told
from xetile.mlir import ir
from xetile.tiles.trace import current, emit, integers, parse_attribute, parse_type, wrong

__all__ = [
    "Shape",
    "WgMap",
    "attribute_of",
    "bits_of",
    "constant",
    "is_float",
    "name_of",
    "type_of",
    "vector_type",
    "wg_map",
]

Shape = tuple[int, int]

_FLOATS = {
    "bf16": (16, 3.3895313892515355e38),
    "f16": (16, 65504.0),
    "f32": (32, 3.4028234663852886e38),
    "f64": (64, 0.0),
}
_INTEGERS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


def name_of(dtype: Any) -> str:
    """The name, as MLIR writes it, of an element type. XeTileError for others than are known."""
    if isinstance(dtype, str) and (dtype in _FLOATS or dtype in _INTEGERS):
        return dtype
    raise wrong(f"expected an element type, one of {', '.join([*_FLOATS, *_INTEGERS])}; got {told(dtype)}")


def is_float(dtype: str) -> bool:
    """True if the elements are floats."""
    return dtype in _FLOATS


def bits_of(dtype: str) -> int:
    """The bits of an element."""
    return _FLOATS[dtype][0] if dtype in _FLOATS else _INTEGERS[dtype]


def type_of(dtype: str) -> ir.Type:
    """MLIR's type of an element. XeTileError outside of a kernel."""
    current()  # refuses what is outside of a kernel
    return ir.Type.parse(dtype)


def vector_type(shape: Shape, dtype: str) -> ir.Type:
    """MLIR's type of a tile's value. XeTileError outside of a kernel."""
    current()
    return ir.Type.parse(f"vector<{shape[0]}x{shape[1]}x{dtype}>")


def constant(number: Any, dtype: str, shape: Shape | None = None) -> ir.Value[Any]:
    """A number of the type, or a vector of it. XeTileError for one that the type does not have."""
    result, attribute = type_of(dtype), number_attribute(number, dtype)
    if shape is not None:
        result = vector_type(shape, dtype)
        attribute = ir.DenseElementsAttr.get_splat(result, attribute)
    made: ir.Value[Any] = emit("arith.constant", [result], value=attribute).results[0]
    return made


def number_attribute(number: Any, dtype: str) -> ir.Attribute:
    """A number of the type. XeTileError for one that the type does not have."""
    kind = type_of(dtype)
    if is_float(dtype):
        return ir.FloatAttr.get(kind, _float(number, dtype))
    return ir.IntegerAttr.get(kind, _integer(number, dtype))


def _float(number: Any, dtype: str) -> float:
    if isinstance(number, bool) or not isinstance(number, (numbers.Real, np.floating)):
        raise wrong(f"expected a number of {dtype}, got {told(number)}")
    largest = _FLOATS[dtype][1]
    try:
        value = float(number)
    except OverflowError:
        raise wrong(f"expected a number of {dtype}, got an integer beyond floats") from None
    if math.isfinite(value) and largest and abs(value) > largest:
        raise wrong(f"expected a number of {dtype}, at most {largest:g}; got {number}")
    return value


def _integer(number: Any, dtype: str) -> int:
    if dtype == "i1":
        if not isinstance(number, (bool, np.bool_)):
            raise wrong(f"expected True or False, got {told(number)}")
        return int(number)
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Integral):
        raise wrong(f"expected a whole number of {dtype}, got {told(number)}")
    half = 1 << (_INTEGERS[dtype] - 1)
    if not -half <= int(number) < half:
        raise wrong(f"expected a number of {dtype}, {-half} to {half - 1}; got {number}")
    return int(number)


@dataclass(frozen=True)
class WgMap:
    """`#xetile.wg_map`: the subgroups of a workgroup, and the part of a tile that each owns."""

    sg_layout: Shape
    sg_data: Shape

    @property
    def subgroups(self) -> int:
        """The subgroups of a workgroup under this map."""
        return self.sg_layout[0] * self.sg_layout[1]

    def __str__(self) -> str:
        return f"<sg_layout = {list(self.sg_layout)}, sg_data = {list(self.sg_data)}>"


def wg_map(sg_layout: Sequence[int], sg_data: Sequence[int]) -> WgMap:
    """The subgroups as a grid of `sg_layout` (rows, columns), row-major in their number; each takes `sg_data` (rows,
    columns) at a time, in turn. All maps of a kernel are for as many subgroups.
    """
    rows, columns = integers("wg_map: sg_layout", sg_layout, 2)
    m, n = integers("wg_map: sg_data", sg_data, 2)
    return WgMap((rows, columns), (m, n))


def attribute_of(map_: WgMap | None) -> ir.Attribute | None:
    """`#xetile.wg_map`, counted among the kernel's."""
    if map_ is None:
        return None
    if not isinstance(map_, WgMap):
        raise wrong(f"map: expected a tiles.wg_map(sg_layout, sg_data), got {told(map_)}")
    current().count(map_.subgroups)
    return parse_attribute(f"#xetile.wg_map{map_}")


def tile_type(shape: Shape, dtype: str, map_: WgMap | None, transposed: bool) -> ir.Type:
    """`!xetile.tile`; `transposed` where rows follow each other in memory."""
    properties = []
    if attribute_of(map_) is not None:
        properties.append(f"wg_map = {map_}")
    if transposed:
        properties.append("order = [0, 1]")
    more = f", #xetile.tile_attr<{', '.join(properties)}>" if properties else ""
    return parse_type(f"!xetile.tile<{shape[0]}x{shape[1]}x{dtype}{more}>")
