# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime library: which devices it sees, what it did last, its errors as `XeTileError`, and kernels in SPIR-V.

Kernels of `xetile.compile` are launched by compiled host code, which calls the same library; `Module` launches those of
any SPIR-V module. Neither MLIR nor LLVM is needed: NumPy and the runtime library run kernels that were saved
(`xetile.load`), and those that other compilers made.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass

from xetile.errors import expect
from xetile.kernels.library import (
    checked,
    launching,
    library,
    library_path,
    raise_recorded,
    text,
)
from xetile.kernels.modules import Module

__all__ = [
    "Device",
    "Module",
    "Stats",
    "allocate",
    "checked",
    "describe_drivers",
    "devices",
    "free",
    "generate_builtins",
    "launching",
    "library_path",
    "raise_recorded",
    "selected_device",
    "selected_index",
    "stats",
]


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

    `kept_uploads` counts constants of kernels that were copied to a device, once for each device and loaded kernel,
    `kept_bytes` their bytes, `kept_constants` those of kernels that are still loaded: they are among
    `live_allocations`.
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
    kept_uploads: int = 0
    kept_bytes: int = 0
    kept_constants: int = 0


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
            "kept_uploads",
            "kept_bytes",
            "kept_constants",
        )
    ]


def devices() -> tuple[Device, ...]:
    """All OpenCL devices. Empty if there is none: `describe_drivers` then says where drivers were looked for."""
    found = json.loads(text(library().xetileRuntimeListDevices))
    return tuple(Device(**{**entry, "subgroup_sizes": tuple(entry["subgroup_sizes"])}) for entry in found)


def describe_drivers() -> str:
    """Where OpenCL drivers were looked for and what came of it, a line for each place."""
    return text(library().xetileRuntimeDescribeDrivers)


def selected_device() -> str:
    """The name of the device that kernels run on. Raises XeTileError if there is none, or XETILE_DEVICE names none."""
    return text(library().xetileRuntimeSelectedDevice)


def selected_index() -> int:
    """The number of that device, -1 if there is none."""
    return int(library().xetileRuntimeSelectedIndex())


def allocate(size: int) -> int:
    """The address of `size` bytes of memory of the device that kernels run on; `free` takes it. Raises XeTileError if
    there is no device, or not so much memory."""
    with launching():
        address = library().mgpuMemAlloc(size, None, 0)
    return address or 0


def free(address: int) -> None:
    """Frees what `allocate` gave."""
    library().mgpuMemFree(address, None)


def stats() -> Stats:
    """Counters of this process; waits for the last kernel. Raises XeTileError if that kernel failed."""
    raw = _RawStats()
    library().xetileRuntimeGetStats(ctypes.byref(raw))
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
    return text(library().xetileRuntimeGenerateBuiltins, spirv, len(spirv), int(lockstep))
