# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a launch as the runtime library takes them: what fits a parameter, and where a kernel finds its arrays."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import numbers
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError, told
from xetile.kernels import dlpack
from xetile.kernels.library import library, text

__all__ = ["Bound", "Memory", "Parameter", "convert"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel, as the module declares it.

    `kind` is "pointer" (global memory), "constant" (the same, read only), "local" (memory of a workgroup, whose size
    the launch gives), "int", "float", "struct" or "other". `bits` are those of a component, `lanes` counts components,
    `bytes` is the size of the value. `name` is "" if the module has none. `only_read` is True for an array that the
    kernel's compiler says it does not write to.
    """

    name: str
    kind: str
    bits: int
    lanes: int
    bytes: int
    only_read: bool = False

    @property
    def is_array(self) -> bool:
        """True if a call passes an array, or None."""
        return self.kind in ("pointer", "constant")

    def __str__(self) -> str:
        if self.is_array:
            return "an array" if self.kind == "pointer" else "a constant array"
        if self.kind in ("int", "float"):
            scalar = f"{self.kind[0]}{self.bits}"
            return scalar if self.lanes == 1 else f"{self.lanes} x {scalar}"
        return {"local": "local memory", "struct": f"a struct of {self.bytes} bytes"}.get(self.kind, "of another kind")


@dataclass
class Bound:
    """A parameter's value: an array, or None, for a pointer, to `offset` bytes behind its first element; the bytes of
    all others. `constant` is True for what the kernel only reads. `name` is for messages."""

    array: NDArray[Any] | None = None
    value: bytes | None = None
    constant: bool = False
    offset: int = 0
    name: str = ""


def convert(parameter: Parameter, value: Any) -> Bound:
    """The value of an argument. XeTileError, "expected ..., got ...", for what does not fit."""
    if parameter.is_array:
        if value is None:
            return Bound()
        array = dlpack.as_numpy(value) if dlpack.is_foreign(value) else value
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise XeTileError(f"expected {parameter}, got {told(value)}")
        if array.dtype.hasobject:
            raise XeTileError(f"expected {parameter} of numbers, got one of Python objects")
        return Bound(array=array, constant=parameter.kind == "constant" or parameter.only_read)
    if isinstance(value, np.ndarray) and value.ndim:
        raise XeTileError(f"expected {parameter}, got an array {value.dtype}{list(value.shape)}")
    if parameter.kind == "struct":
        if not isinstance(value, (bytes, bytearray)) or len(value) != parameter.bytes:
            got = f"{len(value)} bytes" if isinstance(value, (bytes, bytearray)) else told(value)
            raise XeTileError(f"expected {parameter} as bytes, got {got}")
        return Bound(value=bytes(value))
    if parameter.kind not in ("int", "float"):
        raise XeTileError(f"its parameter is {parameter}, which cannot be passed")
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if len(parts) != parameter.lanes:
        raise XeTileError(f"expected {parameter}, got {told(value)}")
    data = b"".join(_scalar(parameter, part) for part in parts)
    return Bound(value=data.ljust(parameter.bytes, b"\0"))


def _scalar(parameter: Parameter, value: Any) -> bytes:
    bits = parameter.bits
    name = f"{parameter.kind[0]}{bits}"
    if isinstance(value, np.ndarray):
        value = value[()]
    if parameter.kind == "int":
        if not isinstance(value, (numbers.Integral, np.bool_)):
            raise XeTileError(f"expected a number of type {name}, got {told(value)}")
        whole = int(value)
        if not -(1 << (bits - 1)) <= whole < 1 << bits:
            raise XeTileError(
                f"expected a number of type {name} ({-(1 << (bits - 1))} to {(1 << bits) - 1}), got {whole}"
            )
        return (whole & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.floating)):
        raise XeTileError(f"expected a number of type {name}, got {told(value)}")
    with np.errstate(over="ignore"):
        rounded = np.asarray(float(value)).astype(f"f{bits // 8}")
    if np.isinf(rounded) and not math.isinf(float(value)):
        raise XeTileError(f"expected a number in the range of {name}, got {value}")
    return rounded.tobytes()


@functools.cache
def _reads_host_memory(environment: str | None) -> bool:
    """True if kernels on the selected device read any array of the host."""
    del environment  # XETILE_DEVICE, which selects
    found = json.loads(text(library().xetileRuntimeListDevices))
    return any(entry["selected"] and entry["svm"] == "system" for entry in found)


class Memory:
    """The arrays of a launch where the device finds them, and `addresses` of all values, for as long as it lasts.

    A device that reads the host's memory is given the arrays as they are. For others, and for checks, which need memory
    between guards, `blocks` are copied by the library, and what the kernel left is copied back. Arrays that share
    memory share it there, too.
    """

    def __init__(self, kernel: str, bound: Sequence[Bound]) -> None:
        self._kernel, self._bound = kernel, bound
        checks = os.environ.get("XETILE_CHECK", "0") not in ("", "0")
        self._copies = checks or not _reads_host_memory(os.environ.get("XETILE_DEVICE"))
        self._keep: list[Any] = []
        # Numbers of arguments, and the bytes of the array and of its copy.
        self._read_only: list[tuple[int, NDArray[np.uint8], NDArray[np.uint8]]] = []
        self.addresses = (ctypes.c_void_p * max(len(bound), 1))()
        # An address, its bytes, and 1 if they are copied back, of each block.
        self.blocks: ctypes.Array[ctypes.c_size_t] | None = None
        self.block_count = 0

    def __enter__(self) -> Memory:
        bound = [self._apart(number, value) for number, value in enumerate(self._bound)]
        if self._copies:
            blocks = _blocks(bound)
            self.block_count = len(blocks)
            self.blocks = (ctypes.c_size_t * (3 * len(blocks)))(*(number for block in blocks for number in block))
        for number, value in enumerate(bound):
            if value.value is not None:
                place: Any = ctypes.create_string_buffer(value.value, len(value.value))
            elif value.array is None:
                place = ctypes.c_void_p(0)
            else:
                place = ctypes.c_void_p(value.array.__array_interface__["data"][0] + value.offset)
            self._keep.append(place)
            self.addresses[number] = ctypes.addressof(place)
        return self

    def _apart(self, number: int, value: Bound) -> Bound:
        """The value, or a copy of a read-only array that the kernel may write to: whoever gave it must not see it
        change, and what the kernel writes to it would be lost."""
        array = value.array
        if array is None or array.flags.writeable or value.constant or not array.size:
            return value
        low, high = _span(array)
        original = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
        copy = original.copy()
        self._read_only.append((number, original, copy))
        first: int = array.__array_interface__["data"][0]
        return replace(value, array=copy, offset=value.offset + first - low)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            for which, original, copy in self._read_only:
                if not np.array_equal(original, copy):
                    raise XeTileError(
                        f"kernel {self._kernel!r}: argument {which}: it is read-only, and the kernel wrote to it: "
                        "pass a writable array"
                    )


def _blocks(bound: Sequence[Bound]) -> list[list[int]]:
    """Memory that the arrays share, or have alone: its address, its bytes, and 1 if it is written."""
    spans = sorted(
        (*_span(value.array), int(value.array.flags.writeable and not value.constant))
        for value in bound
        if value.array is not None and value.array.size
    )
    merged: list[list[int]] = []
    for low, high, written in spans:
        if merged and low < merged[-1][0] + merged[-1][1]:
            last = merged[-1]
            last[1], last[2] = max(last[1], high - last[0]), last[2] | written
        else:
            merged.append([low, high - low, written])
    return merged


def _span(array: NDArray[Any]) -> tuple[int, int]:
    """The addresses from the lowest to behind the highest byte of an array."""
    if array.flags.c_contiguous:
        start: int = array.__array_interface__["data"][0]
        return start, start + array.nbytes
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)
