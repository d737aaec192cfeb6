# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel's arguments, results and conditions on sizes. Plain data: a saved kernel has it as JSON.

print(Signature.of(xetile.matmul(256, 256, 64)))
# matmul(256x64xf16, 64x256xf16, 256x256xf32) -> (256x256xf32)
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xetile.errors import XeTileError, expect

if TYPE_CHECKING:
    from xetile.mlir import ir
    from xetile.mlir.dialects import func

__all__ = [
    "DYNAMIC",
    "ArraySpec",
    "Condition",
    "Expectation",
    "Signature",
    "find_function",
    "function_name",
    "public_function",
    "show_name",
]

DYNAMIC = -1
"""In shapes: a size that is known at run time only."""

_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "index": "int64",
    "i1": "bool",
}
# Names that are legal for a kernel, cpp/xetile/Target/Xe/Binary/KernelName.h, and a symbol.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$-]*")
_MAX_NAME = 1000  # schedules add to it


@dataclass(frozen=True)
class ArraySpec:
    """One argument or result: `shape` in elements (DYNAMIC where only the run knows), `dtype` as MLIR writes it ("f16",
    "bf16", "f32", "i8", ...). `scalar` tells a number (f32) from an array of rank 0 (tensor<f32>); `written` an
    argument that is changed by a call, in place, from those that calls leave as they are; `on_device` one in the memory
    of a device, which is a `xetile.kernels.device.DeviceArray`.
    """

    shape: tuple[int, ...]
    dtype: str
    scalar: bool = False
    written: bool = False
    on_device: bool = False

    @classmethod
    def of(cls, kind: ir.Type) -> ArraySpec:
        """XeTileError for other than ranked tensors and numbers of types that NumPy has, or bf16."""
        from xetile.mlir import ir

        if isinstance(kind, ir.RankedTensorType):
            spec = cls(_shape(kind), str(kind.element_type))
        elif isinstance(kind, (ir.FloatType, ir.IntegerType, ir.IndexType)):
            spec = cls((), str(kind), scalar=True)
        else:
            raise XeTileError(f"expected arguments and results to be ranked tensors or numbers, got {kind}")
        return spec._checked(kind)

    @classmethod
    def of_memory(cls, kind: ir.Type, written: bool = False) -> ArraySpec:
        """XeTileError for other than ranked memrefs in C order of elements that NumPy has, or bf16."""
        from xetile.mlir import ir

        if not isinstance(kind, ir.MemRefType):
            raise XeTileError(f"expected arguments and results to be ranked memrefs, as the kernel's are, got {kind}")
        spec = cls(_shape(kind), str(kind.element_type), written=written)
        if str(kind) != f"memref<{spec}>":
            raise XeTileError(
                f"expected memrefs of host memory in C order, without layout and memory space, got {kind}"
            )
        return spec._checked(kind)

    def _checked(self, kind: ir.Type) -> ArraySpec:
        if self.dtype != "bf16" and self.dtype not in _NUMPY:
            what = "numbers" if self.scalar else "elements"
            raise XeTileError(f"expected {what} that NumPy has, or bf16; got {kind}")
        return self

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """NumPy's type for `dtype`. That of bf16 is in the package ml_dtypes: XeTileError if it is not installed."""
        if self.dtype != "bf16":
            return np.dtype(_NUMPY[self.dtype])
        try:
            return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        except ImportError:
            raise XeTileError("arrays of bf16 need the package ml_dtypes: pip install ml_dtypes") from None

    @property
    def is_static(self) -> bool:
        """True if no size is open."""
        return DYNAMIC not in self.shape

    def takes(self, shape: tuple[int, ...]) -> bool:
        """True if an array of that shape fits."""
        return shape == self.shape or (
            len(shape) == len(self.shape)
            and all(want in (DYNAMIC, size) for size, want in zip(shape, self.shape, strict=True))
        )

    def __str__(self) -> str:
        """As "?x8xf32"."""
        return "x".join([*("?" if size == DYNAMIC else str(size) for size in self.shape), self.dtype])


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
        """The violated condition with its two sides, for an error."""

        def side(text: str, value: int) -> str:
            return text if text == str(value) else f"{text} ({value})"

        return f"expected {side(self.left, left)} {self.sign} {side(self.right, right)}, for {self.reason}"


@dataclass(frozen=True)
class Expectation:
    """A precondition on data: `text`, of the operation at `place`."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"

    def told(self, got: int, bound: int) -> str:
        """The same where `got` came, expected to be less than `bound`, which is -1 where there are no numbers."""
        if bound < 0:
            return str(self)
        return f"{self}, {f'from 0 to {bound - 1}' if bound else 'which is empty'}, got {got}"


@dataclass(frozen=True)
class Signature:
    """The payload's function: its `name`, the arrays and numbers it takes, those it gives, and the `conditions` on
    sizes that are known at run time only, and what else it expects of its arguments. With `expectations` of its data
    the function tells, with its results, which of them did not hold.

    `reason` tells why it cannot be called with arrays, None if it can.
    """

    name: str
    arguments: tuple[ArraySpec, ...] = ()
    results: tuple[ArraySpec, ...] = ()
    conditions: tuple[Condition | Expectation, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    reason: str | None = None

    @classmethod
    def of(cls, module: ir.Module) -> Signature:
        """The signature of the module's one public function with a body; XeTileError if it has several or none."""
        function = public_function(module)
        name, kind = function_name(function), function.type
        try:
            return cls(name, tuple(map(ArraySpec.of, kind.inputs)), tuple(map(ArraySpec.of, kind.results)))
        except XeTileError as error:
            return cls(name, reason=error.message)

    @property
    def written(self) -> tuple[int, ...]:
        """The numbers of the arguments that a call changes in place."""
        return tuple(number for number, spec in enumerate(self.arguments) if spec.written)

    @property
    def returns(self) -> bool:
        """True if the function allocates its results: one of them has a dynamic size."""
        return not all(spec.is_static for spec in self.results)

    def to_json(self) -> str:
        """The whole signature; `from_json` reads it."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Signature:
        """XeTileError for other text than `to_json` writes."""
        expect("signature", text, str, "JSON as a string")
        try:
            values = json.loads(text)
            specs = {
                key: tuple(
                    ArraySpec(
                        tuple(int(size) for size in entry["shape"]),
                        str(entry["dtype"]),
                        bool(entry["scalar"]),
                        bool(entry["written"]),
                    )
                    for entry in values[key]
                )
                for key in ("arguments", "results")
            }
            if any(spec.dtype != "bf16" and spec.dtype not in _NUMPY for group in specs.values() for spec in group):
                raise ValueError("unknown element type")
            conditions = tuple(
                Expectation(**_strings(entry)) if "place" in entry else Condition(**_strings(entry))
                for entry in values["conditions"]
            )
            expectations = tuple(Expectation(**_strings(entry)) for entry in values["expectations"])
            return cls(
                str(values["name"]), **specs, conditions=conditions, expectations=expectations, reason=values["reason"]
            )
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise XeTileError(
                f"signature: expected what Signature.to_json writes, got {text[:80]!r}: {error}"
            ) from None

    def __str__(self) -> str:
        if self.reason:
            return self.name
        arguments = (f"{'written ' if spec.written else ''}{spec}" for spec in self.arguments)
        return f"{self.name}({', '.join(arguments)}) -> ({', '.join(map(str, self.results))})"


def _shape(kind: Any) -> tuple[int, ...]:
    """Of a ranked tensor or memref."""
    return tuple(DYNAMIC if kind.is_dynamic_dim(i) else kind.get_dim_size(i) for i in range(kind.rank))


def _strings(entry: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in entry.items()}


def public_function(module: ir.Module) -> func.FuncOp:
    """The one public function with a body, besides those that check sizes for others. XeTileError if the module has
    several or none."""
    from xetile.mlir import ir

    expect("module", module, ir.Module, "a module")
    functions = [op for op in _functions(module.operation) if "xetile.conditions" not in op.attributes]
    public = [op for op in functions if "sym_visibility" not in op.attributes or op.visibility.value == "public"]
    if len(public) != 1:
        names = ", ".join("@" + show_name(op) for op in public) or "none"
        raise XeTileError(f"expected a module with one public function, got {names}; make helpers `private`")
    return public[0]


def find_function(module: ir.Operation, name: str) -> func.FuncOp:
    """The function of that name, as `show_name` gives it. XeTileError if it is not there any more."""
    for op in _functions(module):
        if show_name(op) == name:
            return op
    raise XeTileError(f"the schedule removed the function @{name}; expected it to stay, as the host code")


def function_name(function: func.FuncOp) -> str:
    """The name of a payload's function. XeTileError for one that no driver, linker or file takes."""
    name = show_name(function)
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name):
        shown = name if len(name) <= 64 else name[:64] + "..."
        place = str(function.location)[len("loc(") : -1].replace('"', "")
        raise XeTileError(
            f"{place}: a function cannot have the name '{shown}': expected a letter or '_', then letters, "
            f"digits, '_', '-', '.' and '$', at most {_MAX_NAME} characters"
        )
    return name


def show_name(function: func.FuncOp) -> str:
    """The name as text; bytes that are not printable ASCII are escaped."""
    from xetile.mlir import ir

    return repr(ir.StringAttr(function.attributes["sym_name"]).value_bytes)[2:-1]


def _functions(module: ir.Operation) -> list[func.FuncOp]:
    """The functions with a body."""
    from xetile.mlir.dialects import func

    operations = module.regions[0].blocks[0].operations
    return [op for op in operations if isinstance(op, func.FuncOp) and not op.is_external]
