# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standard output and error of the command line, which may be closed, full, or of another encoding."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

from xetile.errors import XeTileError

__all__ = ["Stdout", "complain"]


class Stdout:
    """Stands for `sys.stdout`, or for a part of it: what cannot be written is an XeTileError.

    A reader that has left is a BrokenPipeError still. After either, the rest goes nowhere, as otherwise Python would
    try again at its end.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def buffer(self) -> Stdout:
        """The stream of bytes."""
        return Stdout(getattr(self._stream, "buffer", None))

    def write(self, data: str | bytes) -> int:
        """Writes text or bytes; returns their number. XeTileError if the stream is closed or full."""
        if self._stream is None:
            raise XeTileError("cannot write to standard output: it is closed")
        if isinstance(data, str):
            # Names of files may hold bytes that are no characters.
            encoding = getattr(self._stream, "encoding", None) or "utf-8"
            data = data.encode(encoding, errors="backslashreplace").decode(encoding)
        return int(self._try("write", data))

    def flush(self) -> None:
        """Writes what is buffered. XeTileError if the stream cannot take it."""
        if self._stream is not None:
            self._try("flush")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._stream, method)(*arguments)
        except BrokenPipeError:
            self._give_up()
            raise
        except OSError as error:
            self._give_up()
            raise XeTileError(f"cannot write to standard output: {error.strerror}") from None

    def _give_up(self) -> None:
        with suppress(OSError, io.UnsupportedOperation):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def complain(text: str) -> int:
    """Prints to stderr, if there is one that takes it; returns the exit status of a failure."""
    # Python's print() takes stdout for a stream that is None.
    if sys.stderr is not None:
        with suppress(OSError):
            print(text.encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)
    return 1
