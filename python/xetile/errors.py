# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception that xetile raises on input it cannot handle."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler about one place in the input.

    `severity` is "error", "warning", "remark" or "note". `location` reads `file:line:column`, or says in other words
    where the operation came from; it is None where nothing is known. `notes` belong to this message.
    """

    severity: str
    message: str
    location: str | None = None
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def from_mlir(cls, info: Any) -> Diagnostic:
        """Copies an `xetile.mlir.ir.DiagnosticInfo` (or `Diagnostic`, while its handler runs)."""
        location = str(info.location).removeprefix("loc(").removesuffix(")").replace('"', "")
        return cls(
            severity=str(info.severity).rpartition(".")[2].lower(),
            message=info.message,
            location=None if location == "unknown" else location,
            # MLIR adds the whole operation to many errors; they have its place, and it may be thousands of lines.
            notes=tuple(
                cls.from_mlir(note) for note in info.notes if not note.message.startswith("see current operation")
            ),
        )

    def format(self, indent: int = 0) -> str:
        """The message, its place before it and its notes below; every line starts with `indent` spaces."""
        place = f"{self.location}: " if self.location else ""
        text = f"{place}{self.severity}: {self.message}".replace("\n", "\n  ")
        lines = [" " * indent + line for line in text.split("\n")]
        lines += [note.format(indent + 2) for note in self.notes]
        return "\n".join(lines)


class XeTileError(Exception):
    """An error: expected, got, remedy; with the compiler's diagnostics where it was the compiler.

    `message` is a sentence for a person, `diagnostics` a tuple of `Diagnostic`. `str` of the error gives both.
    """

    def __init__(self, message: str, diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def from_mlir(cls, message: str, error: Any) -> XeTileError:
        """Wraps an `xetile.mlir.ir.MLIRError`, as parsing and verifying raise it.

        MLIR makes its strings: names in it that are not UTF-8 end the process. `Heard` of `xetile.passes` takes any.
        """
        return cls(message, (Diagnostic.from_mlir(info) for info in error.error_diagnostics))

    def __str__(self) -> str:
        if not self.diagnostics:
            return self.message
        return "\n".join([f"{self.message}:", *(diagnostic.format(2) for diagnostic in self.diagnostics)])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.diagnostics)


def expect(what: str, value: Any, types: type | tuple[type, ...], wanted: str) -> None:
    """XeTileError `what: expected wanted, got ...` unless `value` has one of the types. True and False are no ints."""
    flag = isinstance(value, bool) and bool not in (types if isinstance(types, tuple) else (types,))
    if flag or not isinstance(value, types):
        raise XeTileError(f"{what}: expected {wanted}, got {told(value)}")


def expect_function(what: str, value: Any, argument: str) -> None:
    """XeTileError unless `value` is a function, no class, that may be called with one argument, which users know so."""
    wanted = f"{what}: expected a function of one argument, {argument}"
    if not callable(value) or isinstance(value, type):
        raise XeTileError(f"{wanted}; got {told(value)}")
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return  # some of those that are written in C do not tell
    try:
        signature.bind(None)
    except TypeError:
        raise XeTileError(f"{wanted}; got {told(value)}, which takes {signature}") from None


def told(value: Any) -> str:
    """A value in an error: short, and with its type where that is not plain."""
    text = reprlib.repr(value)
    return text if isinstance(value, (str, int, float, bool, type(None))) else f"{type(value).__name__} {text}"
