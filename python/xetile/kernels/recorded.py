# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that a runtime library records, as `XeTileError`; texts that it copies into its caller's buffer; its place."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from xetile.errors import XeTileError
from xetile.system.surroundings import PACKAGE, reinstall

__all__ = ["place_of", "raise_recorded", "raising", "taken"]


def place_of(name: str, what: str) -> Path:
    """The library `name`: in the installed package, else in the build tree. Raises XeTileError if it is in neither."""
    places = (PACKAGE / "_lib" / name, PACKAGE.parent.parent / "lib" / name)
    for place in places:
        if place.exists():
            return place.resolve()
    raise XeTileError(f"{what} is in none of {', '.join(map(str, places))}: {reinstall('xetile-runtime')}")


def taken(take: Callable[[ctypes.Array[ctypes.c_char] | None, int], int]) -> str:
    """The error that the library recorded, which forgets it; empty if there is none."""
    if not (length := take(None, 0)):
        return ""
    buffer = ctypes.create_string_buffer(length + 1)
    take(buffer, len(buffer))
    return buffer.value.decode(errors="replace")


def raise_recorded(take_error: Callable[[], str]) -> None:
    """Raises the recorded error, if there is one."""
    if message := take_error():
        raise XeTileError(message)


@contextmanager
def raising(take_error: Callable[[], str]) -> Iterator[None]:
    """Runs what calls the library; raises what it recorded meanwhile, or before, as XeTileError."""
    raise_recorded(take_error)
    try:
        yield
    except Exception as error:
        if message := take_error():
            raise XeTileError(message) from error
        raise
    raise_recorded(take_error)
