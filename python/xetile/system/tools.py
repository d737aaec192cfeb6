# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where programs, libraries and files are: the package's own parts, the cache, ocloc, OpenMP's runtime."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from xetile.errors import XeTileError
from xetile.system import files, surroundings

__all__ = [
    "PARTS",
    "Part",
    "cache_dir",
    "find_libomp",
    "find_linker",
    "find_ocloc",
    "ocloc_version",
    "path_of_part",
    "require_ocloc",
    "where",
]


@dataclass(frozen=True)
class Part:
    """A file or folder of the package: its place there, and what it is for."""

    place: str
    text: str


PARTS = MappingProxyType(
    {
        "plugin": Part("_lib/XeTilePlugin.so", "for mlir-opt: --load-dialect-plugin and --load-pass-plugin"),
        "runtime": Part("_lib/libXeTileRuntime.so", "MLIR's mgpu functions over OpenCL; saved kernels need it"),
        "schedules": Part("schedules", "schedules as files, their parts/, example payloads/"),
        "docs": Part("docs", "pages: using.md, reference of passes, transform ops and the dialect"),
        "xetile-opt": Part("_bin/xetile-opt", "mlir-opt with XeTile"),
        "xetile-lsp-server": Part("_bin/xetile-lsp-server", "language server for editors"),
        "FileCheck": Part("_bin/FileCheck", "LLVM's, to check what a schedule made"),
    }
)
"""Name -> part, as `xetile where` lists them."""


def path_of_part(name: str) -> Path:
    """Where a part is, or would be."""
    return surroundings.PACKAGE / PARTS[name].place


def where(name: str) -> Path:
    """The path of a part of the package. XeTileError if there is no such part, or it is not installed."""
    if name not in PARTS:
        raise XeTileError(f"expected one of {', '.join(PARTS)}, got {name!r}")
    path = path_of_part(name)
    if not path.exists():
        raise XeTileError(f"{name} is not installed: there is no {path}; {surroundings.reinstall()}")
    return path


def cache_dir() -> Path:
    """XeTile's cache: $XETILE_CACHE, by default `xetile` in the user's cache directory. It need not exist."""
    if chosen := os.environ.get("XETILE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "xetile")


def find_ocloc() -> Path | None:
    """Intel's offline compiler: $XETILE_OCLOC, else `ocloc` on PATH, else the one in the cache; None if there is none.

    The path is absolute. The compiler's own passes ask the same function.
    """
    found, text = _ask()
    return Path(text) if found else None


def require_ocloc() -> Path:
    """`find_ocloc()`; XeTileError, which says how to get it, if there is none."""
    found, text = _ask()
    if not found:
        raise XeTileError(text)
    return Path(text)


def _ask() -> tuple[bool, str]:
    # Here: without a compiler this module still tells where the cache is.
    from xetile.mlir._mlir_libs import _xetile

    return _xetile.find_ocloc()


def ocloc_version(ocloc: Path) -> str:
    """The output of `ocloc --version`; XeTileError if it does not run."""
    ocloc = files.path_of(ocloc, "ocloc")
    try:
        run = subprocess.run([ocloc, "--version"], capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise XeTileError(f"{ocloc} does not run: {error}") from None
    lines = (run.stdout or run.stderr).strip().splitlines()
    if run.returncode or not lines:
        raise XeTileError(f"{ocloc} --version failed: {' '.join(lines) or f'status {run.returncode}'}")
    return lines[0]


def find_libomp() -> Path | None:
    """LLVM's OpenMP runtime: $XETILE_LIBOMP, beside libMLIR, or where the system's libraries are; None without one.

    XeTileError if XETILE_LIBOMP names something else.
    """
    if chosen := os.environ.get("XETILE_LIBOMP"):
        return _check_libomp(chosen)
    names = ("libomp.so.5", "libomp.so")
    for library in surroundings.mapped():
        if "libMLIR.so" in library:
            for place in (Path(library).parent, Path(library).resolve().parent):
                for name in names:
                    if (place / name).is_file():
                        return place / name
    found = ctypes.util.find_library("omp")
    return Path(found) if found else None


def find_linker() -> Path | None:
    """LLVM's linker of the package, for machines without a compiler; None without one."""
    path = surroundings.PACKAGE / "_bin" / "ld.lld"
    return path if path.is_file() else None


def _check_libomp(name: str) -> Path:
    path = Path(os.path.abspath(name))
    why = "" if files.is_file(path) else "there is no such file"
    if not why:
        try:
            why = "" if hasattr(ctypes.CDLL(str(path)), "__kmpc_fork_call") else "it has no __kmpc_fork_call"
        except OSError as error:
            why = f"it cannot be loaded: {error}"
    if why:
        raise XeTileError(f"XETILE_LIBOMP={name}: expected LLVM's OpenMP runtime (libomp.so.5), but {why}")
    return path
