"""What a kernel on the CPU takes: specs of arguments and results, Python's numbers as arrays, conditions on sizes."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from xetile.errors import XeTileError
from xetile.host import ArraySpec
from xetile.mlir import ir

__all__ = ["CHECK", "DYNAMIC", "Condition", "as_number", "conditions_of", "spec_of", "text_of"]

DYNAMIC = -1
"""In shapes: a size that is known at run time only."""

CHECK = "_check"
"""`@f_check` computes whether sizes of arguments of `@f` fit together."""


@dataclass(frozen=True)
class Condition:
    """`left` `sign` `right`, of sizes of arguments; `reason` is the operation that needs it."""

    left: str
    sign: str
    right: str
    reason: str

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right} ({self.reason})"

    def told(self, left: int, right: int) -> str:
        """What was expected and what came, where the two sides are these."""

        def side(text: str, value: int) -> str:
            return text if text == str(value) else f"{text} ({value})"

        return f"expected {side(self.left, left)} {self.sign} {side(self.right, right)}, for {self.reason}"


def conditions_of(module: ir.Module, name: str) -> tuple[Condition, ...]:
    """What `@name`, of a module that was prepared, expects of sizes, in the order of its check's numbers from 1."""
    for op in module.body.operations:
        attributes = op.operation.attributes
        if "xetile.conditions" in attributes and ir.StringAttr(attributes["sym_name"]).value == name + CHECK:
            listed = [ir.ArrayAttr(entry) for entry in ir.ArrayAttr(attributes["xetile.conditions"])]
            return tuple(Condition(*[ir.StringAttr(part).value for part in entry]) for entry in listed)
    return ()


def spec_of(kind: ir.Type) -> ArraySpec:
    """XeTileError for other than ranked tensors and numbers of types that NumPy has, or bf16."""
    if isinstance(kind, ir.RankedTensorType):
        shape = tuple(DYNAMIC if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank))
        spec = ArraySpec(shape, str(kind.element_type))
    elif isinstance(kind, (ir.FloatType, ir.IntegerType, ir.IndexType)):
        spec = ArraySpec((), str(kind), scalar=True)
    else:
        raise XeTileError(f"expected arguments and results to be ranked tensors or numbers, got {kind}")
    try:
        _ = spec.numpy_dtype
    except KeyError:
        what = "numbers" if spec.scalar else "elements"
        raise XeTileError(f"expected {what} that NumPy has, or bf16; got {kind}") from None
    return spec


def text_of(spec: ArraySpec) -> str:
    """As "?x8xf32"."""
    return "x".join([*("?" if size == DYNAMIC else str(size) for size in spec.shape), spec.dtype])


def as_number(spec: ArraySpec, value: Any) -> np.ndarray | None:
    """`value` as an array of rank 0 of the spec's type. XeTileError for a number that the type does not have (floats
    are rounded, but not to infinity; integers have no sign: -128 to 255 fit 8 bits); None for other than numbers."""
    dtype = spec.numpy_dtype
    if isinstance(value, np.ndarray):
        return value if value.shape == () and value.dtype == dtype else None
    if isinstance(value, np.generic) and value.dtype == dtype:
        return np.asarray(value)
    is_bool = isinstance(value, (bool, np.bool_))
    if dtype.kind == "b" or is_bool:
        return np.asarray(value, dtype) if dtype.kind == "b" and is_bool else None
    if dtype.kind in "iu":
        if not isinstance(value, numbers.Integral):
            return None
        bits = 8 * dtype.itemsize
        low = -(1 << (bits - 1))
        high = -low - 1 if spec.dtype == "index" else (1 << bits) - 1
        if not low <= int(value) <= high:
            raise XeTileError(f"expected {spec.dtype} ({low} to {high}), got {value}")
        return np.asarray(int(value) & ((1 << bits) - 1), f"uint{bits}").view(dtype)
    # NumPy's own and bf16 are no numbers.Real of Python's.
    if not isinstance(value, (numbers.Real, np.floating)) and type(value).__name__ != "bfloat16":
        return None
    try:
        exact = float(value)
    except OverflowError:
        exact = math.inf
        value = "an integer beyond floats"
    with np.errstate(over="ignore"):
        rounded = np.asarray(exact).astype(dtype)
    if (np.isinf(rounded) and not (isinstance(value, (float, np.floating)) and math.isinf(exact))) or (
        math.isnan(exact) and not np.isnan(rounded)
    ):
        raise XeTileError(f"expected a number in the range of {spec.dtype}, got {value}")
    return rounded
