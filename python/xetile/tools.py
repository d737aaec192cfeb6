"""Where programs and files outside of the package are: the cache, ocloc, spirv-val."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from xetile import files
from xetile.errors import XeTileError

__all__ = ["cache_dir", "find_ocloc", "ocloc_version", "require_ocloc"]


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
    """What `ocloc --version` prints; XeTileError if it does not run."""
    ocloc = files.path_of(ocloc, "ocloc")
    try:
        run = subprocess.run([ocloc, "--version"], capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise XeTileError(f"{ocloc} does not run: {error}") from None
    lines = (run.stdout or run.stderr).strip().splitlines()
    if run.returncode or not lines:
        raise XeTileError(f"{ocloc} --version failed: {' '.join(lines) or f'status {run.returncode}'}")
    return lines[0]
