# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library for Nvidia's GPUs as ctypes sees it: where it is, and its errors as `XeTileError`.

It opens the GPU's driver at the first launch; nothing of CUDA has to be installed besides.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xetile.kernels import recorded
from xetile.system import forks

__all__ = ["describe_device", "entries", "launching", "library_path", "on_stream", "one_at_a_time"]

_NAME = "libXeTileCudaRuntime.so"
_RECORD_ERRORS = 1


@functools.cache
def library_path() -> Path:
    """The runtime library: in the installed package, else in the build tree. Raises XeTileError if it is in neither."""
    return recorded.place_of(_NAME, "the runtime library for Nvidia's GPUs")


# The library records one error for the whole process.
one_at_a_time = forks.held_over_fork()
"""Held by who runs host code of kernels outside of `launching`, and looks itself for a recorded error."""


@contextmanager
def launching() -> Iterator[None]:
    """Runs host code of kernels, one thread at a time; raises what the library recorded meanwhile as XeTileError."""
    with one_at_a_time, recorded.raising(_take_error):
        yield


@contextmanager
def on_stream(stream: int) -> Iterator[None]:
    """Kernels that this thread launches inside run on that stream of the driver, 0 for the default one."""
    set_stream = _library().xetileCudaSetStream
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)


def entries() -> tuple[int, int]:
    """The addresses of the library's functions that set this thread's stream and tell a recorded error."""
    library = _library()
    found = (
        ctypes.cast(each, ctypes.c_void_p).value for each in (library.xetileCudaSetStream, library.xetileCudaTakeError)
    )
    set_stream, take_error = found
    return set_stream or 0, take_error or 0


def describe_device() -> str:
    """The GPU that kernels run on, and its driver. Raises XeTileError if there is none."""
    with launching():
        buffer = ctypes.create_string_buffer(512)
        _library().xetileCudaDescribeDevice(buffer, len(buffer))
    return buffer.value.decode(errors="replace")


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(library_path()))
    for name in ("xetileCudaTakeError", "xetileCudaDescribeDevice"):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]
    library.xetileCudaSetStream.restype = ctypes.c_void_p
    library.xetileCudaSetStream.argtypes = [ctypes.c_void_p]
    library.xetileCudaSetErrorMode(_RECORD_ERRORS)
    return library


def _take_error() -> str:
    return recorded.taken(_library().xetileCudaTakeError)
