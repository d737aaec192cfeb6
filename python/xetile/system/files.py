# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are read and written by name: regular ones only, and whole or not at all.

Everything that `xetile` writes goes through `write`: what was there stays until all of the new file is on disk.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError, expect

__all__ = ["is_file", "path_of", "read", "write"]

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def path_of(value: Any, what: str) -> Path:
    """A path that a user gave. XeTileError for other types, and for what no file can be called."""
    if not isinstance(value, (str, PathLike)):
        raise XeTileError(f"{what}: expected a path, got {type(value).__name__}")
    text = os.fspath(value)
    if not isinstance(text, str):
        raise XeTileError(f"{what}: expected a path as a string, got {type(text).__name__}")
    if not text or "\0" in text:
        raise XeTileError(f"{what}: expected the name of a file, got {text!r}")
    return Path(text)


def is_file(path: Path) -> bool:
    """True if it is a regular file, or a link to one. False where that is unknown."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def read(value: Any, what: str) -> bytes:
    """The content of a regular file. XeTileError, which begins with "cannot read", for everything else.

    FIFOs and devices are refused, not waited for.
    """
    path = path_of(value, f"cannot read {what}")
    try:
        # A FIFO that no one writes to would keep open() waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                kind = _KINDS.get(stat.S_IFMT(mode), "something else")
                raise XeTileError(f"cannot read {what} {path}: expected a regular file, got {kind}")
            return file.read()
    except IsADirectoryError:
        raise XeTileError(f"cannot read {what} {path}: expected a regular file, got a directory") from None
    except FileNotFoundError:
        raise XeTileError(f"cannot read {what} {path}: there is no such file") from None
    except OSError as error:
        raise XeTileError(f"cannot read {what} {path}: {error.strerror}") from None


def write(value: Any, data: bytes | str, *, executable: bool = False) -> Path:
    """Writes a file and returns its path. XeTileError, which begins with "cannot write", if that fails.

    The data goes to a file beside it, which then takes its name: after a failure, a full disk or a kill the old file
    is as it was. Devices and FIFOs with a reader are written to.
    """
    path = path_of(value, "cannot write")
    expect(f"cannot write {path}", data, (bytes, str), "bytes or a string")
    content = data.encode(errors="surrogateescape") if isinstance(data, str) else data
    try:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and stat.S_ISDIR(mode):
            raise XeTileError(f"cannot write {path}: it is a directory")
        if mode is not None and not stat.S_ISREG(mode):
            _write_special(path, content)
            return path
        if mode is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # A link stays a link.
        _replace(Path(os.path.realpath(path)), content, 0o777 if executable else 0o666, mode)
    except OSError as error:
        raise XeTileError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _write_special(path: Path, content: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise XeTileError(f"cannot write {path}: no one reads from it") from None
    os.set_blocking(descriptor, True)
    with open(descriptor, "wb") as file:
        file.write(content)


def _replace(path: Path, content: bytes, mode: int, old_mode: int | None) -> None:
    # Short, whatever the file is called: names have a longest length.
    temporary = path.parent / f".xetile-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            if old_mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(old_mode) | (mode & 0o111 & ~_umask()))
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    """Of this process; there is no way to only read it, but in /proc."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("Umask:")), 8)
    return 0o077
