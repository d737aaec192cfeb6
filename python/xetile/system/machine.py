# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Facts and features of this CPU by Linux, where known, without those in XETILE_CPU_WITHOUT.

The variable lists features in LLVM's names, with commas between; the compiler reads it, once in a process.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError
from xetile.mlir._mlir_libs import _xetile

__all__ = ["cache_sizes", "facts", "flags", "lends_tile_registers"]


def facts() -> dict[str, Any]:
    """The key of measurements: the CPU's model, features and cores."""
    found: dict[str, Any] = {"architecture": platform.machine(), "cores": os.cpu_count()}
    entries = _cpuinfo()
    for name in ("vendor_id", "cpu family", "model", "model name", "stepping"):
        found[name] = entries.get(name, "")
    found["flags"] = hashlib.sha256(" ".join(sorted(flags())).encode()).hexdigest()[:16]
    return found


def flags() -> frozenset[str]:
    """Features of the CPU, by Linux's names, without those in XETILE_CPU_WITHOUT.

    XeTileError where that variable names no feature.
    """
    try:
        absent = {_plain(name) for name in _xetile.absent_cpu_features()}
    except ValueError as error:
        raise XeTileError(str(error)) from None
    return frozenset(flag for flag in _cpuinfo().get("flags", "").split() if _plain(flag) not in absent)


def _plain(name: str) -> str:
    """Linux's avx512_bf16 and amx_tile are LLVM's avx512bf16 and amx-tile."""
    return name.replace("_", "").replace("-", "").replace(".", "")


def cache_sizes() -> dict[int, int]:
    """Bytes of the caches of data, by level."""
    sizes = {}
    for cache in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
            if kind != "Instruction":
                sizes[int(level)] = int(size.removesuffix("K")) * (1024 if size.endswith("K") else 1)
        except (OSError, ValueError):
            continue
    return sizes


def lends_tile_registers() -> bool:
    """Asks Linux for AMX's registers, for this process."""
    if platform.machine() != "x86_64" or "amx_tile" not in flags():
        return False
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    return bool(ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data) == 0)


def _cpuinfo() -> Mapping[str, str]:
    """Of the first core."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").split("\n\n")[0].splitlines()
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
