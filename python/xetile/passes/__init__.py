# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs MLIR passes; what they say becomes `Diagnostic`s.

with xetile.mlir.ir.Context():
    module = xetile.mlir.ir.Module.parseFile("kernel.mlir")
xetile.passes.run(module, "xetile-lower-to-xegpu{chip=pvc}")        # changes the module
xetile.passes.run(module, "gpu.module(convert-vector-to-xetile,canonicalize)")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from xetile.errors import Diagnostic, XeTileError, expect
from xetile.mlir import ir
from xetile.mlir.passmanager import PassManager
from xetile.passes.diagnostics import Heard, message_of
from xetile.passes.reproducers import reproducing

__all__ = ["one_by_one", "printed_to", "run"]


@dataclass(frozen=True)
class _Printing:
    folder: Path
    after: Callable[[], None]


_printed_to: ContextVar[_Printing | None] = ContextVar("printed_to", default=None)


@contextmanager
def printed_to(folder: Path, after: Callable[[], None]) -> Iterator[None]:
    """Pipelines that `run` runs inside of the `with` block run pass by pass, and print the module after each, into
    files of `folder`; then `after` is called.

    The files of the n-th pass are in its subfolder n, a tree as of mlir-opt's `--mlir-print-ir-tree-dir`, one for each
    operation that it ran on.
    """
    token = _printed_to.set(_Printing(folder, after))
    try:
        yield
    finally:
        _printed_to.reset(token)


def _print_to(folder: Path, manager: PassManager, context: ir.Context, action: str) -> None:
    """All of a module can only be printed while no other thread changes it."""
    place = folder / f"{len(list(folder.iterdir())) if folder.exists() else 0:05d}"
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise XeTileError(f"cannot print passes to {place}: {error.strerror}") from None
    (place / "action").write_text(action)
    context.enable_multithreading(False)
    manager.enable_ir_printing(
        print_after_all=True, print_module_scope=True, tree_printing_dir_path=str(place / "passes")
    )


def run(module: ir.Module | ir.Operation, pipeline: str, *, action: str | None = None) -> tuple[Diagnostic, ...]:
    """Runs `pipeline` on `module`, which changes, and returns its warnings and remarks.

    `pipeline` is what mlir-opt takes as `--pass-pipeline`, with or without `builtin.module(...)` around it; all of
    MLIR's and XeTile's passes are there. XeTileError for a pipeline that does not parse, and with the compiler's
    diagnostics where a pass fails (the module is then half transformed: drop it). `action` says in that error what
    was tried, by default "run <pipeline>". With XETILE_REPRODUCERS=DIR in the environment a module on which a pass
    fails, or ends the process, is in a file of DIR.
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
            printing = _printed_to.get()
            steps = [text] if printing is None else one_by_one(str(manager))
            for step in steps:
                if printing is not None:
                    manager = PassManager.parse(step)
                    _print_to(printing.folder, manager, context, action or pipeline)
                with reproducing(module, step) as kept:
                    try:
                        manager.run(module.operation)
                    except ir.MLIRError:
                        told = f"cannot {action or f'run {pipeline}'}{kept.advice()}"
                        raise XeTileError(told, heard.errors) from None
                if printing is not None:
                    printing.after()
        except ValueError as error:
            raise XeTileError(f"{pipeline!r} is not a pass pipeline: {_plain(error)}") from None
        finally:
            if _printed_to.get() is not None:
                context.enable_multithreading(True)
    return heard.others


def one_by_one(pipeline: str) -> list[str]:
    """The pipelines of one pass each that do what a pipeline does, as MLIR prints it: "a(b,c(d{e=f}))" is "a(b)" and
    "a(c(d{e=f}))"."""
    head, bracket, rest = pipeline.partition("(")
    if not bracket or "{" in head:
        return [pipeline]
    inner = rest.rstrip().removesuffix(")")
    parts, depth, quote, begin = [], 0, "", 0
    for at, character in enumerate(inner):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "({[<":
            depth += 1
        elif character in ")}]>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(inner[begin:at])
            begin = at + 1
    parts.append(inner[begin:])
    return [f"{head}({step})" for part in parts if part.strip() for step in one_by_one(part.strip())]


def _plain(error: Exception) -> str:
    """The message without MLIR's source excerpt and caret."""
    lines = [line.strip() for line in message_of(error).splitlines()]
    told = [line.partition("error: ")[2] for line in lines if "error: " in line]
    return "; ".join(told) or message_of(error).strip()
