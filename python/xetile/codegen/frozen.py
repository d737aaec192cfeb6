# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions whose frozen arguments were packed ahead: what makes the packed arrays, and what takes them.

The pass xetile-split-frozen made two functions of one; its attributes tell what their arguments are. For a GPU packed
arrays are in its memory (`xetile.kernels.device.DeviceArray`): weights as they are, or what was computed of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from xetile.errors import XeTileError
from xetile.kernels.function import CompiledFunction
from xetile.kernels.signature import ArraySpec, Signature, find_function, public_function
from xetile.mlir import ir

__all__ = ["FROZEN", "FrozenFunction", "FrozenParts", "has_frozen", "parts_of"]

_ARGUMENT, _PACKED, _SUFFIX = "xetile.argument", "xetile.packed", "_freeze"
_ON_DEVICE = "xetile.on_device"
FROZEN = "xetile.frozen"
"""On arguments of a payload whose elements do not change between calls."""


def has_frozen(payload: ir.Module) -> bool:
    """True if an argument of the payload's function is frozen."""
    function = public_function(payload)
    return "arg_attrs" in function.attributes and FROZEN in str(function.arg_attrs)


@dataclass(frozen=True)
class FrozenParts:
    """`freeze` takes those arguments of the whole function that `frozen` lists, and gives packed arrays; `call` takes
    arguments of the whole function, `taken` lists them, then packed arrays, `packed` lists these."""

    freeze: Signature
    call: Signature
    frozen: tuple[int, ...]
    taken: tuple[int, ...]
    packed: tuple[int, ...]


def parts_of(tiled: ir.Operation, signature: Signature) -> FrozenParts | None:
    """Of a module that a schedule left, on tensors or on memory; None if nothing was split off."""
    names = [ir.StringAttr(op.attributes["sym_name"]).value for op in tiled.regions[0].blocks[0].operations]
    if signature.name + _SUFFIX not in names:
        return None
    freeze, call = (find_function(tiled, name) for name in (signature.name + _SUFFIX, signature.name))

    def numbers(function: Any, attribute: str) -> tuple[int, ...]:
        entries = [ir.DictAttr(entry) for entry in function.arg_attrs]
        return tuple(ir.IntegerAttr(entry[attribute]).value for entry in entries if attribute in entry)

    def spec(kind: ir.Type) -> ArraySpec:
        return ArraySpec.of_memory(kind) if isinstance(kind, ir.MemRefType) else ArraySpec.of(kind)

    def arguments(function: Any) -> tuple[ArraySpec, ...]:
        """Those of the whole function are as callers know them."""
        specs = []
        for kind, entry in zip(function.type.inputs, map(ir.DictAttr, function.arg_attrs), strict=True):
            known = signature.arguments[ir.IntegerAttr(entry[_ARGUMENT]).value] if _ARGUMENT in entry else None
            made = spec(kind) if known is None or known.scalar else known
            specs.append(replace(made, on_device=_ON_DEVICE in entry))
        return tuple(specs)

    results = tuple(map(spec, freeze.type.results))
    marks = [ir.DictAttr(entry) for entry in freeze.result_attrs] if "res_attrs" in freeze.attributes else []
    made = tuple(replace(each, on_device=_ON_DEVICE in mark) for each, mark in zip(results, marks, strict=False))
    whole = [
        made if known.scalar else known
        for known, made in zip(signature.results, map(spec, call.type.results), strict=True)
    ]
    return FrozenParts(
        Signature(signature.name + _SUFFIX, arguments(freeze), made or results),
        replace(signature, arguments=arguments(call), results=tuple(whole)),
        numbers(freeze, _ARGUMENT),
        numbers(call, _ARGUMENT),
        numbers(call, _PACKED),
    )


class FrozenFunction:
    """The whole function: each call packs what is frozen. Who knows that it did not change calls the `parts`' functions
    `freeze` and `call` instead. What was packed serves while `place()` gives the same: which device it is on."""

    addresses = None

    def __init__(
        self,
        parts: FrozenParts,
        freeze: CompiledFunction,
        call: CompiledFunction,
        whole: Signature,
        place: Callable[[], Any] = lambda: None,
    ) -> None:
        self.parts, self.freeze, self.call, self.signature, self.place = parts, freeze, call, whole, place

    @property
    def failed(self) -> bool:
        """As of `CompiledFunction`: of either part."""
        return self.call.failed or self.freeze.failed

    def __call__(self, values: tuple[Any, ...], out: Any = None) -> Any:
        """As `CompiledFunction`."""
        arguments = self.signature.arguments
        if len(values) != len(arguments):
            raise XeTileError(f"@{self.signature.name}: expected {len(arguments)} arrays, got {len(values)}")
        taken = tuple(values[number] for number in self.parts.taken)
        return self.call((*taken, *self.pack(values)), out)

    def pack(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The last arguments of `call`, made of those of the whole function."""
        made = self.freeze(tuple(values[number] for number in self.parts.frozen))
        made = made if isinstance(made, tuple) else (made,)
        return tuple(made[number] for number in self.parts.packed)
