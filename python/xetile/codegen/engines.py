# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules in the LLVM dialect as machine code: of this process, or of an object file.

What LLVM says becomes XeTileError; functions that no library has are named.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

from xetile import passes
from xetile.errors import XeTileError
from xetile.kernels.function import CompiledFunction, Guard
from xetile.kernels.saved import REFUSED
from xetile.kernels.signature import Signature
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.mlir._mlir_libs._mlirExecutionEngine import ExecutionEngine
from xetile.passes.diagnostics import Heard
from xetile.system.elf import undefined_symbols

__all__ = ["C_INTERFACE", "assembly", "engine", "load", "object_file"]

C_INTERFACE = "_mlir_ciface_"
"""Before a function's name: its C function, which takes addresses of descriptors."""

_CHECK = "_check"
"""Behind it: computes whether sizes of arguments fit together."""


def load(
    module: ir.Module,
    signature: Signature,
    libraries: Sequence[Path],
    opt_level: int,
    *,
    guard: Guard | None = None,
    make: type[CompiledFunction] = CompiledFunction,
) -> CompiledFunction:
    """The function of `signature` in this process, as an object of `make`; takes `module`. `libraries` have what it
    calls besides C's library. `sibling` gives others of the module.

    XeTileError if it cannot be compiled or loaded, as it calls what no library has or the system refuses what it needs.
    """
    name = signature.name
    _expect_features(module, name)
    code = engine(module, libraries, opt_level, action=f"compile the code of @{name}")
    asked = _xetile.lookup(code, REFUSED)
    if asked and (refused := ctypes.c_char_p.from_address(asked).value):
        raise XeTileError(f"@{name} cannot be called: {refused.decode()}")

    def address(symbol: str) -> int:
        if found := _xetile.lookup(code, symbol):
            return found
        missing = _missing_functions(object_file(module, name, opt_level), libraries)
        if not missing:
            raise XeTileError(f"the code of @{name} cannot be loaded: it has no {symbol}")
        raise XeTileError(
            f"@{name} calls functions that no library has: {', '.join(missing)}; define them in the module or compute "
            "with ops of linalg, math and arith"
        )

    check = address(C_INTERFACE + name + _CHECK) if signature.conditions else 0
    return make(signature, address(C_INTERFACE + name), check, owner=code, guard=guard)


def engine(module: ir.Module, libraries: Sequence[Path], opt_level: int, *, action: str) -> ExecutionEngine:
    """An engine with the code of a module in the LLVM dialect, whose constructors have run: they load kernels on a
    device. Its code has no tables for unwinding: nothing that it calls may throw. XeTileError, which names `action`, if
    LLVM makes none.
    """
    with module.context as context, Heard(context) as heard:
        made = _xetile.make_host_engine(module, opt_level, [str(path) for path in libraries])
    if made is None:
        raise XeTileError(f"{action} failed", heard.errors)
    return made


def sibling(function: CompiledFunction, signature: Signature) -> CompiledFunction:
    """Another function of the module that `load` has loaded. XeTileError if it is not there."""
    engine = function.owner
    address = _xetile.lookup(engine, C_INTERFACE + signature.name)
    if not address:
        raise XeTileError(f"the code of @{function.signature.name} has no @{signature.name}")
    return CompiledFunction(signature, address, owner=engine, guard=function.guard)


def object_file(module: ir.Module, name: str, opt_level: int) -> bytes:
    """A relocatable object file with the code of a module for this CPU. XeTileError if LLVM makes none."""
    _expect_features(module, name)
    with module.context as context, Heard(context) as heard:
        code = _xetile.make_object_file(module, opt_level)
    if code is None:
        raise XeTileError(f"the code of @{name} cannot be compiled", heard.errors)
    return code


def assembly(module: ir.Module, name: str, opt_level: int) -> str:
    """The same code as text, in which `.loc` names lines of operations. XeTileError if LLVM makes none."""
    _expect_features(module, name)
    passes.run(module, "ensure-debug-info-scope-on-llvm-func", action=f"give the code of @{name} its lines")
    with module.context as context, Heard(context) as heard:
        text = _xetile.make_assembly(module, opt_level)
    if text is None:
        raise XeTileError(f"the code of @{name} cannot be compiled", heard.errors)
    return text


def _missing_functions(code: bytes, libraries: Sequence[Path]) -> list[str]:
    """Undefined symbols of machine code that neither this process nor the libraries define."""
    opened = [ctypes.CDLL(None), *(ctypes.CDLL(str(path)) for path in libraries)]
    return [name for name in undefined_symbols(code) if not any(hasattr(library, name) for library in opened)]


def _expect_features(module: ir.Module, name: str) -> None:
    """LLVM ends the process where the CPU does not have an instruction."""
    passes.run(module, "xetile-check-cpu-features", action=f"compile the code of @{name} for this CPU")
