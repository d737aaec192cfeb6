# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arguments of a Triton kernel as those of its module: tensors as memory, without what was compiled into it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xetile.errors import XeTileError
from xetile.kernels.launches import Bound, convert

__all__ = ["bind"]


def bind(
    kernel: Any, signature: Mapping[str, Any], constants: set[Any], arguments: Sequence[Any]
) -> tuple[list[Bound], list[Any]]:
    """A value for each parameter of the kernel but local memory, and what has to live as long as the launch."""
    flat = list(_flatten(signature, constants, arguments))
    parameters = [parameter for parameter in kernel.parameters if parameter.kind != "local"]
    if len(flat) != len(parameters):
        raise XeTileError(
            f"kernel {kernel.name!r}: Triton's signature has {len(flat)} arguments and the module's {len(parameters)}: "
            "xetile.triton is made for triton-xpu 3.3.0b1"
        )
    values: list[Bound] = []
    keep: list[Any] = []
    for (name, value), parameter in zip(flat, parameters, strict=True):
        try:
            values.append(_memory(value, keep) if parameter.is_array else convert(parameter, value))
        except XeTileError as error:
            raise XeTileError(f"kernel {kernel.name!r}: argument {name!r}: {error.message}") from None
        values[-1].name, values[-1].constant = name, parameter.only_read
    return values, keep


def _flatten(signature: Mapping[str, Any], constants: set[Any], arguments: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for number, ((name, kind), value) in enumerate(zip(signature.items(), arguments, strict=True)):
        if name in constants or number in constants:
            continue
        yield from _parts(name, kind, value)


def _parts(name: str, kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(kind, (tuple, list)):
        for number, (one, part) in enumerate(zip(kind, value, strict=True)):
            yield from _parts(f"{name}[{number}]", one, part)
    elif kind != "constexpr":
        yield name, value


def _memory(value: Any, keep: list[Any]) -> Bound:
    """All of a tensor's storage, and where in it the kernel begins: it may go to other elements from there."""
    # Triton's view of a tensor as another type.
    if not hasattr(value, "untyped_storage") and hasattr(value, "base") and not isinstance(value, np.ndarray):
        value = value.base
    if value is None or isinstance(value, np.ndarray):
        return Bound(array=value)
    if not hasattr(value, "untyped_storage"):
        raise XeTileError(f"expected a tensor, an array or None, got {type(value).__name__}")
    if value.device.type != "cpu":
        raise XeTileError(
            f"expected a tensor of the CPU, got one on {value.device}: its memory is not reached from here"
        )
    storage = value.untyped_storage()
    keep.append(storage)
    if not storage.nbytes():
        return Bound()
    memory = (ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr())
    return Bound(array=np.frombuffer(memory, np.uint8), offset=value.data_ptr() - storage.data_ptr())
