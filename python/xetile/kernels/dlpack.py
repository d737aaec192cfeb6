# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other libraries as NumPy's, without a copy: the DLPack protocol, bf16 included.

NumPy's own `from_dlpack` takes neither bf16 nor memory that may not be written to. The structures are those of DLPack
1.1 (dmlc.github.io/dlpack), read by ctypes.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile.errors import XeTileError

__all__ = ["as_numpy", "in_c_order", "is_foreign", "tensor_of"]

_DEVICES = {1: "cpu", 2: "cuda", 3: "cuda_host", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 11: "rocm_host"}
_DEVICES |= {13: "cuda_managed", 14: "oneapi"}
# Devices whose memory the host can address.
_HOST = ("cpu", "cuda_host", "rocm_host", "cuda_managed")
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_NAMES = (b"dltensor", b"dltensor_versioned")
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("kind", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_api = ctypes.pythonapi
_is_valid = _api.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def is_foreign(value: Any) -> bool:
    """True for an array of another library, which `as_numpy` takes."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def as_numpy(value: Any) -> NDArray[Any]:
    """A view of the memory of an object with `__dlpack__`, which lives as long as the view.

    XeTileError for memory that the host cannot reach, for elements that NumPy and ml_dtypes have not, and for what the
    other library says. What it gives as read-only cannot be written to.
    """
    try:
        number, index = value.__dlpack_device__()
        device = _DEVICES.get(int(number), f"DLPack's number {int(number)}")
        if device not in _HOST:
            raise XeTileError(
                f"expected an array in the host's memory, got one on {device}:{index}; copy it to the host"
            )
        capsule = _capsule_of(value)
    except XeTileError:
        raise
    except Exception as error:  # noqa: BLE001  another library's: gradients, conjugated views, ...
        raise XeTileError(f"{type(value).__name__} gives no DLPack view: {error}") from None
    return _view(capsule, value)


def _capsule_of(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 1))
    except TypeError:
        return value.__dlpack__()  # of a library older than versions


def tensor_of(capsule: Any, owner: Any) -> tuple[_Tensor, np.dtype[Any], int]:
    """A capsule's array, the type of its elements, and DLPack's flags. XeTileError for other capsules and types."""
    name = next((name for name in _NAMES if _is_valid(capsule, name)), None)
    if name is None:
        raise XeTileError(f"{type(owner).__name__}.__dlpack__ gave no DLPack capsule")
    address = _pointer(capsule, name)
    flags = 0
    if name == _NAMES[1]:
        versioned = _Versioned.from_address(address)
        if versioned.major != 1:
            raise XeTileError(f"expected DLPack 1.x, got {versioned.major}.{versioned.minor}")
        tensor, flags = versioned.tensor, versioned.flags
    else:
        tensor = _Tensor.from_address(address)
    return tensor, _dtype_of(tensor), flags


def _view(capsule: Any, owner: Any) -> NDArray[Any]:
    tensor, dtype, flags = tensor_of(capsule, owner)
    shape = tuple(tensor.shape[: tensor.rank])
    strides = tuple(tensor.strides[: tensor.rank]) if tensor.strides else in_c_order(shape)
    if 0 in shape:
        return np.empty(shape, dtype)
    # From the lowest address that an element has to the end of the highest one; strides may be negative.
    steps = [(size - 1) * stride * dtype.itemsize for size, stride in zip(shape, strides, strict=True)]
    low, high = sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    memory = (ctypes.c_char * (high - low + dtype.itemsize)).from_address((tensor.data or 0) + tensor.byte_offset + low)
    # The view keeps its base alive, and that the capsule, whose own deleter gives the memory back.
    memory._capsule = capsule
    byte_strides = tuple(stride * dtype.itemsize for stride in strides)
    array: NDArray[Any] = np.ndarray(shape, dtype, memory, -low, byte_strides)
    if flags & _READ_ONLY:
        array.flags.writeable = False
    return array


def in_c_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(int(np.prod(shape[dim + 1 :], dtype=np.int64)) for dim in range(len(shape)))


def _dtype_of(tensor: _Tensor) -> np.dtype[Any]:
    kind, bits = _KINDS.get(tensor.kind), tensor.bits
    if kind == "bfloat" and bits == 16 and tensor.lanes == 1:
        try:
            return np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        except ImportError:
            raise XeTileError("arrays of bf16 need the package ml_dtypes: pip install ml_dtypes") from None
    try:
        if kind is None or kind == "bfloat" or tensor.lanes != 1:
            raise TypeError
        return np.dtype("bool" if kind == "bool" and bits == 8 else f"{kind}{bits}")
    except TypeError:
        raise XeTileError(f"elements of DLPack's type {tensor.kind} with {bits} bits are none of NumPy's") from None
