# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library as ctypes sees it: where it is, its functions, and its errors as `XeTileError`."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError
from xetile.kernels import recorded
from xetile.system import forks

__all__ = ["checked", "launching", "library", "library_path", "raise_recorded", "text"]

_NAME = "libXeTileRuntime.so"
_RECORD_ERRORS = 1


@functools.cache
def library_path() -> Path:
    """The runtime library: in the installed package, else in the build tree. Raises XeTileError if it is in neither."""
    return recorded.place_of(_NAME, "the runtime library")


# The library records one error for the whole process, and has locks of its own.
_one_at_a_time = forks.held_over_fork()


@contextmanager
def launching() -> Iterator[None]:
    """`checked()`, for one thread at a time."""
    with _one_at_a_time, checked():
        yield


@contextmanager
def checked() -> Iterator[None]:
    """Runs host code that calls the runtime library; raises what the library recorded meanwhile as XeTileError.

    After an error the library does nothing until it is raised, so results of such a run are not to be used. An error
    that an earlier run left behind is raised before the body runs.
    """
    with recorded.raising(_take_error):
        yield


def raise_recorded() -> None:
    """Raises the library's recorded error, if there is one, and forgets it."""
    recorded.raise_recorded(_take_error)


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime library with types for its functions, which record errors. XeTileError if it cannot be loaded."""
    # Intel's CPU driver from PyPI puts its libraries into the environment's lib directory.
    environment = Path(sys.prefix, "lib")
    if (environment / "libintelocl.so").exists():
        os.environ.setdefault("XETILE_OPENCL_RT", str(environment))
    try:
        library = ctypes.CDLL(str(library_path()))
    except OSError as error:
        # Without a system's OpenCL loader there is the one that came with the driver.
        try:
            ctypes.CDLL(str(environment / "libOpenCL.so.1"), mode=ctypes.RTLD_GLOBAL)
            library = ctypes.CDLL(str(library_path()))
        except OSError:
            raise XeTileError(f"{error}; install ocl-icd-libopencl1, or intel-opencl-rt into {sys.prefix}") from None
    size, string, pointer = ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p
    for name, arguments in {
        "xetileRuntimeListDevices": [string, size],
        "xetileRuntimeDescribeDrivers": [string, size],
        "xetileRuntimeSelectedDevice": [string, size],
        "xetileRuntimeTakeError": [string, size],
        "xetileRuntimeGenerateBuiltins": [string, size, ctypes.c_int, string, size],
        "xetileRuntimeDescribeModule": [string, size, string, size],
        "xetileRuntimePortableSpirv": [string, size, ctypes.c_int, string, size],
    }.items():
        function = getattr(library, name)
        function.restype, function.argtypes = size, arguments
    functions: tuple[tuple[str, Any, list[Any]], ...] = (
        ("xetileRuntimeLaunch", None, [*[pointer] * 4, size, pointer, size, pointer, size]),
        ("mgpuModuleLoad", pointer, [string, size]),
        ("mgpuModuleUnload", None, [pointer]),
        ("mgpuModuleGetFunction", pointer, [pointer, string]),
        ("mgpuMemAlloc", pointer, [ctypes.c_uint64, pointer, ctypes.c_int8]),
        ("mgpuMemFree", None, [pointer, pointer]),
        ("mgpuMemcpy", None, [pointer, pointer, size, pointer]),
    )
    for name, result, taken in functions:
        function = getattr(library, name)
        function.restype, function.argtypes = result, taken
    library.xetileRuntimeSetErrorMode(_RECORD_ERRORS)
    return library


def _take_error() -> str:
    return recorded.taken(library().xetileRuntimeTakeError)


def text(function: Callable[..., int], *arguments: object) -> str:
    """The text that a function of XeTileRuntime.h copies into its caller's buffer. Raises its recorded error."""
    buffer = ctypes.create_string_buffer(function(*arguments, None, 0) + 1)
    raise_recorded()
    function(*arguments, buffer, len(buffer))
    return buffer.value.decode(errors="replace")
