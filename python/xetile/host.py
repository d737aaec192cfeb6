"""A compiled module's host program: NumPy arrays in, its code runs here and launches the kernel, new arrays out."""

from __future__ import annotations

import ctypes
import importlib
import re
import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from xetile import runtime
from xetile.errors import XeTileError, expect
from xetile.mlir import ir
from xetile.mlir.dialects import func
from xetile.mlir.execution_engine import ExecutionEngine

__all__ = ["ArraySpec", "HostProgram", "Signature", "function_name", "is_special", "show_name"]

_NUMPY = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "index": "int64",
    "i1": "bool",
}
# What becomes the name of a kernel, cpp/xetile/Target/Xe/KernelName.h, and of a symbol.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$-]*")
_MAX_NAME = 1000  # schedules add to it
# What kernels on GPUs do not take.
_NOT_ON_GPU = frozenset({"i1"})
# The runtime records one error for the whole process.
_one_at_a_time = threading.Lock()
# What MLIR's lowering puts where memory must not be freed: globals.
_NOT_ALLOCATED = 0xDEADBEEF


def is_special(array: np.ndarray) -> str | None:
    """Why the array's elements are not all that it is ("expected ..., got ..."); None for a plain one."""
    if type(array) is np.ndarray:
        return None
    if isinstance(array, np.ma.MaskedArray):
        return "expected a plain array, got a masked one, whose mask would be lost: pass array.filled(value)"
    if isinstance(array, np.matrix):
        return "expected a plain array, got a numpy.matrix: pass numpy.asarray(matrix)"
    return None


@dataclass(frozen=True)
class ArraySpec:
    """One argument or result: `shape` in elements, `dtype` as MLIR writes it ("f16", "bf16", "f32", "i8", ...).

    `scalar` tells a number (f32) from an array of rank 0 (tensor<f32>); kernels on CPUs take numbers.
    """

    shape: tuple[int, ...]
    dtype: str
    scalar: bool = False

    @classmethod
    def of(cls, kind: ir.Type) -> ArraySpec:
        if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
            raise XeTileError(f"expected a tensor of static shape, got {kind}")
        dtype = str(kind.element_type)
        taken = ["bf16", *(name for name in _NUMPY if name not in _NOT_ON_GPU)]
        if dtype not in taken:
            raise XeTileError(f"expected elements of type {', '.join(taken)}, got {kind}")
        return cls(tuple(kind.shape), dtype)

    @property
    def numpy_dtype(self) -> np.dtype:
        """NumPy's type for `dtype`. That of bf16 is in the package ml_dtypes: XeTileError if it is not installed."""
        if self.dtype != "bf16":
            return np.dtype(_NUMPY[self.dtype])
        try:
            return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        except ImportError:
            raise XeTileError("arrays of bf16 need the package ml_dtypes: pip install ml_dtypes") from None

    def check(self, array: Any) -> str | None:
        """What is wrong with `array` as this argument ("expected ..., got ..."), or None."""
        if not isinstance(array, np.ndarray):
            return f"expected a NumPy array {self}, got {type(array).__name__}"
        if why := is_special(array):
            return why
        if array.dtype != self.numpy_dtype:
            hint = ""
            if array.dtype.newbyteorder("=") == self.numpy_dtype:
                hint = "; for this machine's byte order pass array.astype(array.dtype.newbyteorder('='))"
            if self.dtype == "bf16" and array.dtype == np.uint16:
                hint = "; for bits of bf16 pass array.view(ml_dtypes.bfloat16)"
            return f"expected {self} ({self.numpy_dtype.name}), got elements of type {array.dtype}{hint}"
        if array.shape != self.shape:
            return f"expected {self}, got shape {'x'.join(map(str, array.shape)) or 'of a scalar'}"
        return None

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.dtype])


@dataclass(frozen=True)
class Signature:
    """The payload's function: its `name`, the arrays it takes and the arrays it gives.

    `reason` tells why it cannot be called with arrays, None if it can.
    """

    name: str
    arguments: tuple[ArraySpec, ...] = ()
    results: tuple[ArraySpec, ...] = ()
    reason: str | None = None

    @classmethod
    def of(cls, module: ir.Module) -> Signature:
        """The signature of the module's one public function with a body; XeTileError if it has several or none."""
        expect("module", module, ir.Module, "a module")
        functions = _functions(module.operation)
        public = [op for op in functions if "sym_visibility" not in op.attributes or op.visibility.value == "public"]
        if len(public) != 1:
            names = ", ".join("@" + show_name(op) for op in public) or "none"
            raise XeTileError(f"expected a module with one public function, got {names}; make helpers `private`")
        name, kind = function_name(public[0]), public[0].type
        try:
            return cls(name, tuple(map(ArraySpec.of, kind.inputs)), tuple(map(ArraySpec.of, kind.results)))
        except XeTileError as error:
            return cls(name, reason=error.message)

    def find(self, module: ir.Operation) -> func.FuncOp:
        """The function in `module`; XeTileError if it is not there any more."""
        for op in _functions(module):
            if show_name(op) == self.name:
                return op
        raise XeTileError(f"the schedule removed the function @{self.name}; expected it to stay, as the host code")

    def written_arguments(self, module: ir.Operation) -> frozenset[int]:
        """Which arguments the host code might write to; `module` has buffers and explicit copies to the device.

        Reading is recognised, all else counts as writing.
        """

        def only_reads(use: ir.OpOperand) -> bool:
            source = {"gpu.memcpy": 1, "memref.copy": 0}.get(use.owner.name)
            return use.owner.name == "func.return" or use.operand_number == source

        return frozenset(
            number
            for number, argument in enumerate(self.find(module).arguments)
            if not all(only_reads(use) for use in argument.uses)
        )

    def emit_c_interface(self, module: ir.Operation) -> None:
        """Asks for a C function beside the function, which takes and returns memrefs by address."""
        with module.context:
            self.find(module).attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()

    def __str__(self) -> str:
        if self.reason:
            return self.name
        return f"{self.name}({', '.join(map(str, self.arguments))}) -> ({', '.join(map(str, self.results))})"


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
    return repr(ir.StringAttr(function.attributes["sym_name"]).value_bytes)[2:-1]


def _functions(module: ir.Operation) -> list[func.FuncOp]:
    """The functions with a body."""
    operations = module.regions[0].blocks[0].operations
    return [op for op in operations if isinstance(op, func.FuncOp) and not op.is_external]


class HostProgram:
    """Host code in the LLVM dialect, with its kernel as a gpu.binary; compiled when it is first called.

    `module` must have `signature`'s function with its C interface; arguments in `copied` are passed as copies.
    """

    def __init__(self, module: ir.Operation, signature: Signature, copied: frozenset[int]) -> None:
        self._module = module
        self._signature = signature
        self._copied = copied
        self._engine: ExecutionEngine | None = None

    def __call__(self, *arrays: np.ndarray) -> Any:
        """See `Kernel.__call__`."""
        arrays = self._check(arrays)
        with _one_at_a_time:
            return self._run([self._pass(number, array) for number, array in enumerate(arrays)])

    def _check(self, arrays: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
        signature = self._signature
        if signature.reason:
            raise XeTileError(f"@{signature.name} cannot be called with arrays: {signature.reason}")
        expected = signature.arguments
        if len(arrays) != len(expected):
            raise XeTileError(f"{signature}: expected {len(expected)} arrays, got {len(arrays)}")
        for number, (spec, array) in enumerate(zip(expected, arrays, strict=True)):
            if why := spec.check(array):
                raise XeTileError(f"{signature}: argument {number}: {why}")
        return arrays

    def _pass(self, number: int, array: np.ndarray) -> np.ndarray:
        return np.array(array, order="C") if number in self._copied else np.ascontiguousarray(array)

    def _run(self, arrays: list[np.ndarray]) -> Any:
        results = self._signature.results
        widths = [3 + 2 * len(spec.shape) for spec in results]
        returned = np.zeros(sum(widths), np.int64)
        # Each parameter is the address of a descriptor, and the packed interface takes the address of each parameter.
        # The array keeps all descriptors alive.
        descriptors = [returned] if results else []
        descriptors += [_descriptor(array) for array in arrays]
        addresses = [ctypes.c_void_p(descriptor.ctypes.data) for descriptor in descriptors]
        packed = (ctypes.c_void_p * len(addresses))(*(ctypes.addressof(address) for address in addresses))

        # A failure that is not about this launch can leave a module without its kernel behind: start afresh then.
        engine, self._engine = self._engine, None
        with runtime.checked():
            engine = engine or self._compile()
            function = engine.lookup(self._signature.name)
            function(packed)
            bounds = [0, *np.cumsum(widths)]
            views = [
                _view(returned[start:end], spec) for (start, end), spec in zip(pairwise(bounds), results, strict=True)
            ]
            copies = tuple(view.copy() for view in views)
            owned = {int(returned[start]) for start in bounds[:-1]}
            owned -= {array.ctypes.data for array in arrays} | {0, _NOT_ALLOCATED}
            for address in owned:
                _free(ctypes.c_void_p(address))
        self._engine = engine
        return copies[0] if len(copies) == 1 else copies

    def _compile(self) -> ExecutionEngine:
        with self._module.context:
            module = ir.Module.parse(str(self._module))
        libraries = [str(runtime.library_path())]
        try:
            engine = ExecutionEngine(module, shared_libs=libraries, enable_object_dump=False)
        except RuntimeError as error:
            raise XeTileError(f"the host code of @{self._signature.name} cannot be compiled: {error}") from None
        engine.initialize()
        return engine


def _descriptor(array: np.ndarray) -> np.ndarray:
    """A ranked memref descriptor: allocated and aligned address, offset, sizes, strides, in 64-bit words."""
    strides = [stride // array.itemsize for stride in array.strides]
    return np.array([array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides], np.int64)


def _view(descriptor: np.ndarray, spec: ArraySpec) -> np.ndarray:
    """The array of a descriptor that the host code returned."""
    _, aligned, offset, *rest = map(int, descriptor)
    rank, dtype = len(spec.shape), spec.numpy_dtype
    strides = rest[rank:]
    last = sum((size - 1) * stride for size, stride in zip(spec.shape, strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * dtype.itemsize)).from_address(aligned + offset * dtype.itemsize)
    byte_strides = [stride * dtype.itemsize for stride in strides]
    return np.ndarray(spec.shape, dtype, memory, strides=byte_strides)


_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None
