# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library: where it is, which devices it sees, what it did last, and its errors as `XeTileError`.

Kernels are launched by compiled host code, which calls the same library; nothing here launches anything. Neither MLIR
nor LLVM is needed: NumPy and the runtime library run kernels that were saved (`xetile.load`).
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xetile.errors import XeTileError, expect
from xetile.system import forks
from xetile.system.surroundings import PACKAGE, reinstall

__all__ = [
    "Device",
    "Stats",
    "checked",
    "describe_drivers",
    "devices",
    "generate_builtins",
    "launching",
    "library_path",
    "raise_recorded",
    "selected_device",
    "stats",
]

_NAME = "libXeTileRuntime.so"
_RECORD_ERRORS = 1


@dataclass(frozen=True)
class Device:
    """An OpenCL device, as the driver describes it.

    `index` is what XETILE_DEVICE takes. `type` is "cpu", "gpu", "accelerator" or "other"; `svm` (shared virtual memory)
    is "none", "coarse", "fine" or "system", the last meaning that kernels read any host array. `local_memory` is in
    bytes per workgroup. Where `native_block_io` or `native_dpas` is False the runtime links its own versions of Intel's
    2D block and matrix builtins. `selected` marks the device that kernels run on.
    """

    index: int
    name: str
    platform: str
    type: str
    driver: str
    version: str
    subgroup_sizes: tuple[int, ...]
    fp16: bool
    fp64: bool
    svm: str
    usm: bool
    spirv: bool
    native_block_io: bool
    native_dpas: bool
    compute_units: int
    local_memory: int
    selected: bool


@dataclass(frozen=True)
class Stats:
    """Counters of this process.

    `kernel_seconds` is the device's time for the last kernel, 0 before the first; `build_seconds` the time to link the
    last program, or to load it from the disk cache. A program comes from one of `programs_built`, `disk_cache_hits` and
    `memory_cache_hits`. `live_allocations` counts device allocations that were not freed.

    With XETILE_CHECK_PREFETCHES=1 in the environment, of the last kernel: `prefetches` counts its 2D block prefetches,
    `prefetches_ahead` those of them that lie wholly behind the matrix, as the last ones of a loop do, and
    `prefetch_sum` is equal for equal prefetches in any order.
    """

    launches: int
    kernel_seconds: float
    build_seconds: float
    programs_built: int
    disk_cache_hits: int
    memory_cache_hits: int
    live_allocations: int
    prefetches: int = 0
    prefetches_ahead: int = 0
    prefetch_sum: int = 0


class _RawStats(ctypes.Structure):
    """XeTileRuntimeStats of XeTileRuntime.h; times in nanoseconds."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "launches",
            "kernel_nanoseconds",
            "build_nanoseconds",
            "programs_built",
            "disk_cache_hits",
            "memory_cache_hits",
            "live_allocations",
            "prefetches",
            "prefetches_ahead",
            "prefetch_sum",
        )
    ]


@functools.cache
def library_path() -> Path:
    """The runtime library: in the installed package, else in the build tree. Raises XeTileError if it is in neither."""
    package = PACKAGE
    places = (package / "_lib" / _NAME, package.parent.parent / "lib" / _NAME)
    for place in places:
        if place.exists():
            return place.resolve()
    raise XeTileError(f"the runtime library is in none of {', '.join(map(str, places))}: {reinstall('xetile-runtime')}")


def devices() -> tuple[Device, ...]:
    """All OpenCL devices. Empty if there is none: `describe_drivers` then says where drivers were looked for."""
    found = json.loads(_text(_library().xetileRuntimeListDevices))
    return tuple(Device(**{**entry, "subgroup_sizes": tuple(entry["subgroup_sizes"])}) for entry in found)


def describe_drivers() -> str:
    """Where OpenCL drivers were looked for and what came of it, a line for each place."""
    return _text(_library().xetileRuntimeDescribeDrivers)


def selected_device() -> str:
    """The name of the device that kernels run on. Raises XeTileError if there is none, or XETILE_DEVICE names none."""
    return _text(_library().xetileRuntimeSelectedDevice)


def stats() -> Stats:
    """Counters of this process; waits for the last kernel. Raises XeTileError if that kernel failed."""
    raw = _RawStats()
    _library().xetileRuntimeGetStats(ctypes.byref(raw))
    raise_recorded()
    values = {field[0]: getattr(raw, field[0]) for field in raw._fields_}
    kernel, build = values.pop("kernel_nanoseconds"), values.pop("build_nanoseconds")
    return Stats(kernel_seconds=kernel * 1e-9, build_seconds=build * 1e-9, **values)


def generate_builtins(spirv: bytes, lockstep: bool = True) -> str:
    """The OpenCL C that is linked to a SPIR-V module where the device lacks Intel's builtins; "" if it imports nothing.

    `lockstep` chooses the versions for CPUs, otherwise those for devices whose lanes do not share memory. Raises
    XeTileError for a module that cannot be parsed or imports something unknown.
    """
    expect("spirv", spirv, bytes, "a SPIR-V module as bytes")
    expect("lockstep", lockstep, bool, "True or False")
    return _text(_library().xetileRuntimeGenerateBuiltins, spirv, len(spirv), int(lockstep))


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
    raise_recorded()
    try:
        yield
    except Exception as error:
        if message := _take_error():
            raise XeTileError(message) from error
        raise
    raise_recorded()


def raise_recorded() -> None:
    """Raises the library's recorded error, if there is one, and forgets it."""
    if message := _take_error():
        raise XeTileError(message)


@functools.cache
def _library() -> ctypes.CDLL:
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
    size, text = ctypes.c_size_t, ctypes.c_char_p
    for name, arguments in {
        "xetileRuntimeListDevices": [text, size],
        "xetileRuntimeDescribeDrivers": [text, size],
        "xetileRuntimeSelectedDevice": [text, size],
        "xetileRuntimeTakeError": [text, size],
        "xetileRuntimeGenerateBuiltins": [text, size, ctypes.c_int, text, size],
    }.items():
        function = getattr(library, name)
        function.restype, function.argtypes = size, arguments
    library.xetileRuntimeGetStats.argtypes = [ctypes.POINTER(_RawStats)]
    library.xetileRuntimeSetErrorMode(_RECORD_ERRORS)
    return library


def _take_error() -> str:
    take = _library().xetileRuntimeTakeError
    if not (length := take(None, 0)):
        return ""
    buffer = ctypes.create_string_buffer(length + 1)
    take(buffer, len(buffer))
    return buffer.value.decode(errors="replace")


def _text(function: Callable[..., int], *arguments: object) -> str:
    """The text that a function of XeTileRuntime.h copies into its caller's buffer. Raises its recorded error."""
    buffer = ctypes.create_string_buffer(function(*arguments, None, 0) + 1)
    raise_recorded()
    function(*arguments, buffer, len(buffer))
    return buffer.value.decode(errors="replace")
