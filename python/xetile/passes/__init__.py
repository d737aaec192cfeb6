# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs MLIR passes; what they say becomes `Diagnostic`s.

with xetile.mlir.ir.Context():
    module = xetile.mlir.ir.Module.parseFile("kernel.mlir")
xetile.passes.run(module, "xetile-lower-to-xegpu{chip=pvc}")        # changes the module
xetile.passes.run(module, "gpu.module(convert-vector-to-xetile,canonicalize)")
"""

from __future__ import annotations

import re

from xetile.errors import Diagnostic, XeTileError, expect
from xetile.mlir import ir
from xetile.mlir.passmanager import PassManager
from xetile.passes.diagnostics import Heard, message_of

__all__ = ["run"]


def run(module: ir.Module | ir.Operation, pipeline: str, *, action: str | None = None) -> tuple[Diagnostic, ...]:
    """Runs `pipeline` on `module`, which changes, and returns its warnings and remarks.

    `pipeline` is what mlir-opt takes as `--pass-pipeline`, with or without `builtin.module(...)` around it; all of
    MLIR's and XeTile's passes are there. XeTileError for a pipeline that does not parse, and with the compiler's
    diagnostics where a pass fails (the module is then half transformed: drop it). `action` says in that error what
    was tried, by default "run <pipeline>".
    """
    if not isinstance(module, ir.Module) and getattr(module, "OPERATION_NAME", None) != "builtin.module":
        raise XeTileError(f"expected a module to run passes on, got {type(module).__name__}")
    expect("pipeline", pipeline, str, "a string of passes")
    text = pipeline if re.match(r"\s*(builtin\.module|any)\s*\(", pipeline) else f"builtin.module({pipeline})"
    try:
        text.encode()
    except UnicodeEncodeError:
        raise XeTileError(f"{pipeline!r} is not a pass pipeline: it is not UTF-8") from None
    with module.context as context, Heard(context) as heard:
        try:
            manager = PassManager.parse(text)
            manager.run(module.operation)
        except ir.MLIRError:
            raise XeTileError(f"cannot {action or f'run {pipeline}'}", heard.errors) from None
        except ValueError as error:
            raise XeTileError(f"{pipeline!r} is not a pass pipeline: {_plain(error)}") from None
    return heard.others


def _plain(error: Exception) -> str:
    """The message without MLIR's source excerpt and caret."""
    lines = [line.strip() for line in message_of(error).splitlines()]
    told = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return "; ".join(told) or message_of(error).strip()
