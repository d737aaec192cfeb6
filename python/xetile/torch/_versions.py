# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of PyTorch and torch-mlir that this package works with."""

from __future__ import annotations

import re
from importlib import metadata

from xetile.errors import XeTileError

__all__ = ["expect"]

_INSTALL = "pip install 'xetile[torch]'"
# First and last. Older ones export other graphs. torch-mlir's versions are days; each is built for one PyTorch.
_TORCH = ((2, 10), (2, 15))
_TORCH_MLIR = 20260601


def expect() -> None:
    """XeTileError if PyTorch or torch-mlir is missing, or one that other graphs come from."""
    torch, torch_mlir = _version("torch"), _version("torch-mlir")
    found = tuple(int(part) for part in re.findall(r"\d+", torch)[:2])
    if not _TORCH[0] <= found <= _TORCH[1]:
        first, last = (".".join(map(str, version)) for version in _TORCH)
        raise XeTileError(f"xetile.torch: expected torch {first} to {last}, got {torch}; {_INSTALL}")
    day = re.match(r"\d+", torch_mlir)
    if day is None or int(day[0]) < _TORCH_MLIR:
        raise XeTileError(f"xetile.torch: expected torch-mlir {_TORCH_MLIR} or newer, got {torch_mlir}; {_INSTALL}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        raise XeTileError(f"xetile.torch needs the package {package}, which is not installed; {_INSTALL}") from None
