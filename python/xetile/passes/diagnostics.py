# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hears what the compiler says, whatever bytes are in it, and reads modules from files.

with Heard(context) as heard:
    ...                                     # parsing, verifying, running passes
heard.errors, heard.others                  # tuples of Diagnostic
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

from xetile.errors import Diagnostic, XeTileError
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.system import files

__all__ = ["Heard", "message_of", "parse_file"]

_SEVERITIES = ("error", "warning", "note", "remark")


class Heard:
    """The diagnostics of a context inside of a `with` block. They do not come with `ir.MLIRError` then."""

    def __init__(self, context: ir.Context) -> None:
        self._context = context

    def __enter__(self) -> Heard:
        self._collector = _xetile.DiagnosticCollector(self._context)
        self._before = self._context.emit_error_diagnostics
        self._context.emit_error_diagnostics = True
        return self

    def __exit__(self, *_: Any) -> None:
        self._context.emit_error_diagnostics = self._before
        self._collector.detach()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The errors, in the order in which they came."""
        return tuple(said for said in self._all() if said.severity == "error")

    @property
    def others(self) -> tuple[Diagnostic, ...]:
        """Warnings and remarks."""
        return tuple(said for said in self._all() if said.severity != "error")

    def _all(self) -> list[Diagnostic]:
        return [_diagnostic(*said) for said in self._collector.said()]


def _diagnostic(severity: int, location: bytes, message: bytes, notes: list[Any]) -> Diagnostic:
    place = _text(location).removeprefix("loc(").removesuffix(")").replace('"', "")
    said = [_diagnostic(*note) for note in notes]
    return Diagnostic(
        severity=_SEVERITIES[severity],
        message=_text(message),
        location=None if place == "unknown" else place,
        # MLIR adds the whole operation to many errors; they have its place, and it may be thousands of lines.
        notes=tuple(note for note in said if not note.message.startswith("see current operation")),
    )


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def message_of(error: Exception) -> str:
    """The text of an error of MLIR's bindings, which may not be UTF-8."""
    return _text(error.object) if isinstance(error, UnicodeDecodeError) else str(error)


def parse_file(value: str | PathLike[str], what: str) -> ir.Module:
    """The module in a file of MLIR text or bytecode, in the current context. XeTileError if there is none."""
    data = files.read(value, what)
    path = files.path_of(value, what)
    name = str(path)
    context = ir.Context.current
    if context is None:
        raise RuntimeError("parse_file needs a context: call it inside of `with context:`")
    with Heard(context) as heard:
        try:
            name.encode()
            # MLIR takes "-" for its standard input.
            return ir.Module.parseFile("./-" if name == "-" else name)
        except UnicodeEncodeError:
            try:
                return ir.Module.parse(data)
            except ir.MLIRError:
                printable = name.encode(errors="surrogateescape").decode(errors="backslashreplace")
                errors = [
                    replace(error, location=error.location and f"{printable}{error.location.removeprefix('-')}")
                    for error in heard.errors
                ]
                raise XeTileError(f"cannot read {what} {printable}", errors) from None
        except ir.MLIRError:
            raise XeTileError(f"cannot read {what} {path}", heard.errors) from None
