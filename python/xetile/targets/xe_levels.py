# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that are kernels already: at which level they are, what their host function takes, what is to be done before.

`xetile.compile` takes them at the levels 1 to 4: XeTile of a workgroup, of a subgroup, in blocks, and XeGPU.
"""

from __future__ import annotations

from xetile.errors import XeTileError
from xetile.kernels.signature import ArraySpec, Signature, function_name, public_function
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile

__all__ = ["find_level", "preparation_of", "signature_of"]

_LAST = 4
_RESULT = "xetile.result"
"""On arguments that are memory for results: code of the levels from 2 on has them."""

# The steps that levels before take on the function that the host calls.
_HOST = (
    "xetile-check-distribution,xetile-keep-arguments,xetile-results-to-arguments{where-static mark-results},"
    "func.func(xetile-free-scratch),xetile-add-c-interface"
)


def find_level(payload: ir.Module, levels: tuple[str, ...]) -> int:
    """The number of the level that the payload is at, by what it holds. XeTileError for one that is too low."""
    level: int = _xetile.find_level(payload)
    if level > _LAST:
        raise XeTileError(
            f"the module is at the level {levels[level]}, where nothing tells which arguments its kernels write: "
            f"expected one at the levels {levels[0]} to {levels[_LAST]}"
        )
    return level


def preparation_of(level: int, chip: str) -> str:
    """The passes that a payload at that level needs before those of the next one."""
    if level <= 1:
        return "xetile-check-distribution"
    distribute = ",gpu.module(xetile-xegpu-wg-to-sg)" if level == _LAST else ""
    return f"xetile-attach-target{{chip={chip}}},{_HOST}{distribute}"


def signature_of(payload: ir.Module, level: str) -> Signature:
    """Of the function that launches kernels. What it takes is memory; where it has no results, what it may write to is
    changed by a call. XeTileError if there is no such function."""
    try:
        function = public_function(payload)
    except XeTileError as error:
        raise XeTileError(
            f"the module is at the level {level}: {error.message}; it launches the kernel (gpu.launch_func)"
        ) from None
    name, kind = function_name(function), function.type
    attributes = [ir.DictAttr(entry) for entry in function.arg_attrs] if "arg_attrs" in function.attributes else []
    keeps = bool(kind.results)
    arguments, results = [], []
    try:
        for number, argument in enumerate(function.arguments):
            if attributes and _RESULT in attributes[number]:
                results.append(ArraySpec.of_memory(argument.type))
            elif results:
                return Signature(name, reason=f"expected arguments that are {_RESULT} behind all others")
            else:
                written = not keeps and _xetile.may_be_written(argument)
                arguments.append(ArraySpec.of_memory(argument.type, written=written))
        results += [ArraySpec.of_memory(result) for result in kind.results]
    except XeTileError as error:
        return Signature(name, reason=f"{error.message} (the module is at the level {level})")
    return Signature(name, tuple(arguments), tuple(results))
