"""Where programs and files outside of the package are: the cache, ocloc, spirv-val."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from xetile.errors import XeTileError

__all__ = ["cache_dir", "find_ocloc", "ocloc_version", "require_ocloc"]


def cache_dir() -> Path:
    """XeTile's cache: $XETILE_CACHE, by default `xetile` in the user's cache directory. It need not exist."""
    if chosen := os.environ.get("XETILE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "xetile")


def find_ocloc() -> Path | None:
    """Intel's offline compiler: $XETILE_OCLOC, else `ocloc` on PATH, else the one in the cache; None if there is none.

    The compiler's own passes look for it in the same way.
    """
    if chosen := os.environ.get("XETILE_OCLOC"):
        return Path(chosen) if os.access(chosen, os.X_OK) else None
    if found := shutil.which("ocloc"):
        return Path(found)
    cached = cache_dir() / "ocloc" / "ocloc"
    return cached if os.access(cached, os.X_OK) else None


def require_ocloc() -> Path:
    """`find_ocloc()`; XeTileError, which says how to get it, if there is none."""
    if found := find_ocloc():
        return found
    place = os.environ.get("XETILE_OCLOC")
    raise XeTileError(
        f"ocloc was not found{f' at {place} (XETILE_OCLOC)' if place else ''}: "
        "run scripts/install-ocloc, put ocloc on PATH, or name it in XETILE_OCLOC"
    )


def ocloc_version(ocloc: Path) -> str:
    """What `ocloc --version` prints; XeTileError if it does not run."""
    try:
        run = subprocess.run([ocloc, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise XeTileError(f"{ocloc} does not run: {error}") from None
    lines = (run.stdout or run.stderr).strip().splitlines()
    if run.returncode or not lines:
        raise XeTileError(f"{ocloc} --version failed: {' '.join(lines) or f'status {run.returncode}'}")
    return lines[0]
