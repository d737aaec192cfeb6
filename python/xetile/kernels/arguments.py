# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays and numbers of a call: what fits a signature, as NumPy arrays; what does not, as an error that says why."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError
from xetile.kernels import dlpack
from xetile.kernels.device import DeviceArray
from xetile.kernels.signature import ArraySpec, Signature

__all__ = ["as_number", "check_arguments", "check_outputs", "is_special"]


def check_arguments(signature: Signature, values: Sequence[Any]) -> list[Any]:
    """The arguments of a call as arrays in C order, of rank 0 for numbers. XeTileError for what does not fit.

    Objects with `__dlpack__` are read where they are. Arrays in other orders are copied. What the call writes is as
    `check_outputs` wants it. What is on a device is a `DeviceArray`, and stays as it is.
    """
    name = signature.name
    if signature.reason:
        raise XeTileError(f"@{name} cannot be called with arrays: {signature.reason}")
    if len(values) != len(signature.arguments):
        raise XeTileError(f"@{name}: expected {len(signature.arguments)} arrays, got {len(values)}")
    arrays: list[Any] = []
    for number, (spec, value) in enumerate(zip(signature.arguments, values, strict=True)):
        try:
            if spec.on_device:
                arrays.append(_on_device(spec, value))
                continue
            array = _in_place(spec, value) if spec.written else _as_array(spec, value)
        except XeTileError as error:
            raise XeTileError(f"@{name}: argument {number}: {error.message}") from None
        # Of rank 0 `ascontiguousarray` would make an array of rank 1.
        arrays.append(np.ascontiguousarray(array).reshape(array.shape))
    for number in signature.written:
        for other, array in enumerate(arrays):
            if other != number and isinstance(array, np.ndarray) and np.may_share_memory(arrays[number], array):
                raise XeTileError(
                    f"@{name}: argument {number}: it is written and shares memory with argument {other}; pass a copy"
                )
    return arrays


def check_outputs(signature: Signature, out: Any, inputs: Sequence[Any]) -> list[NDArray[Any]]:
    """The memory for results: writable arrays of their shapes and types in C order that share no memory with others."""
    name, values = signature.name, list(out) if isinstance(out, tuple) else [out]
    if signature.written and not signature.results:
        listed = ", ".join(map(str, signature.written))
        raise XeTileError(f"@{name}: out: it has no results, it writes to argument {listed}: pass that array there")
    if signature.returns:
        raise XeTileError(f"@{name}: out: results of sizes known at run time only are new arrays")
    if len(values) != len(signature.results):
        raise XeTileError(f"@{name}: out: expected {len(signature.results)} arrays, got {len(values)}")
    outputs: list[NDArray[Any]] = []
    for number, (spec, value) in enumerate(zip(signature.results, values, strict=True)):
        try:
            array = _in_place(spec, value)
            if any(np.may_share_memory(array, other) for other in (*inputs, *outputs) if isinstance(other, np.ndarray)):
                raise XeTileError("it shares memory with another array; pass a copy")
        except XeTileError as error:
            raise XeTileError(f"@{name}: out {number}: {error.message}") from None
        outputs.append(array)
    return outputs


def _on_device(spec: ArraySpec, value: Any) -> DeviceArray:
    if not isinstance(value, DeviceArray):
        raise XeTileError(f"expected {spec} on the device, a DeviceArray, got {type(value).__name__}")
    if why := value.misfit(spec):
        raise XeTileError(why)
    return value


def _in_place(spec: ArraySpec, value: Any) -> NDArray[Any]:
    """`value` as an array that the call writes to."""
    array: NDArray[Any] = dlpack.as_numpy(value) if dlpack.is_foreign(value) else value
    if why := _misfit(spec, array, exact=True):
        raise XeTileError(why)
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise XeTileError("expected a writable array in C order")
    return array


def _as_array(spec: ArraySpec, value: Any) -> NDArray[Any]:
    array = dlpack.as_numpy(value) if dlpack.is_foreign(value) else value
    if spec.scalar:
        number = as_number(spec, array)
        array = array if number is None else number
    if why := _misfit(spec, array):
        raise XeTileError(why)
    return array


def _misfit(spec: ArraySpec, array: Any, exact: bool = False) -> str | None:
    """The mismatch of an array with its specification ("expected ..., got ..."), or None.

    Integers of a module have no sign, what extends them says how they are read: unsigned bytes fit, unless `exact`.
    """
    dtype = spec.numpy_dtype
    if why := is_special(array):
        return why
    wanted = f"{'a number of type ' if spec.scalar and not exact else ''}{spec} ({dtype.name})"
    if not isinstance(array, np.ndarray):
        what = "" if spec.scalar and not exact else "an array "
        return f"expected {what}{wanted}, got {type(array).__name__}"
    fits = array.dtype == dtype or (not exact and dtype == np.int8 and array.dtype == np.uint8)
    if fits and spec.takes(array.shape):
        return None
    hint = ""
    if not fits and array.dtype.newbyteorder("=") == dtype:
        hint = "; for this machine's byte order pass array.astype(array.dtype.newbyteorder('='))"
    elif not fits and spec.dtype == "bf16" and array.dtype == np.uint16:
        hint = "; for bits of bf16 pass array.view(ml_dtypes.bfloat16)"
    return f"expected {wanted}, got {array.dtype}{list(array.shape)}{hint}"


def is_special(array: Any) -> str | None:
    """Why the array's elements are not all that it is ("expected ..., got ..."); None for a plain one."""
    if isinstance(array, np.ma.MaskedArray):
        return "expected a plain array, got a masked one, whose mask would be lost: pass array.filled(value)"
    if isinstance(array, np.matrix):
        return "expected a plain array, got a numpy.matrix: pass numpy.asarray(matrix)"
    return None


def as_number(spec: ArraySpec, value: Any) -> NDArray[Any] | None:
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
