# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions whose frozen arguments were packed ahead: what makes the packed arrays, and what takes them.

The pass xetile-split-frozen made two functions of one; its attributes tell what their arguments are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xetile.errors import XeTileError
from xetile.kernels.function import CompiledFunction
from xetile.kernels.signature import ArraySpec, Signature, find_function
from xetile.mlir import ir

__all__ = ["FROZEN", "FrozenFunction", "FrozenParts", "parts_of"]

_ARGUMENT, _PACKED, _SUFFIX = "xetile.argument", "xetile.packed", "_freeze"
FROZEN = "xetile.frozen"
"""On arguments of a payload whose elements do not change between calls."""


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
    """Of a module in which matmuls are tiled; None if nothing was split off."""
    names = [ir.StringAttr(op.attributes["sym_name"]).value for op in tiled.regions[0].blocks[0].operations]
    if signature.name + _SUFFIX not in names:
        return None
    freeze, call = (find_function(tiled, name) for name in (signature.name + _SUFFIX, signature.name))

    def numbers(function: Any, attribute: str) -> tuple[int, ...]:
        entries = [ir.DictAttr(entry) for entry in function.arg_attrs]
        return tuple(ir.IntegerAttr(entry[attribute]).value for entry in entries if attribute in entry)

    def specs(types: Any) -> tuple[ArraySpec, ...]:
        return tuple(map(ArraySpec.of, types))

    return FrozenParts(
        Signature(signature.name + _SUFFIX, specs(freeze.type.inputs), specs(freeze.type.results)),
        replace(signature, arguments=specs(call.type.inputs), results=specs(call.type.results)),
        numbers(freeze, _ARGUMENT),
        numbers(call, _ARGUMENT),
        numbers(call, _PACKED),
    )


class FrozenFunction:
    """The whole function: each call packs what is frozen. Who knows that it did not change calls the `parts`' functions
    `freeze` and `call` instead."""

    failed = False
    addresses = None

    def __init__(self, parts: FrozenParts, freeze: CompiledFunction, call: CompiledFunction, whole: Signature) -> None:
        self.parts, self.freeze, self.call, self.signature = parts, freeze, call, whole

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
