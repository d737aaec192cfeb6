# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Triton that has Intel's back end, which may lie beside another one: PyTorch's wheels for CUDA bring NVIDIA's."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError

__all__ = ["find_triton"]

_INSTALL = (
    "install triton-xpu, pip install 'xetile[triton]'; beside a PyTorch that brings its own triton, in a folder of its "
    "own: pip install --no-deps --target FOLDER triton-xpu==3.3.0b1, and set XETILE_TRITON=FOLDER"
)


def find_triton() -> Any:
    """The module `triton` with the back end "intel". XeTileError, with how to install it, if there is none."""
    folder = os.environ.get("XETILE_TRITON")
    if folder:
        if not Path(folder, "triton", "backends", "intel").is_dir():
            raise XeTileError(f"XETILE_TRITON={folder}: expected a folder with triton-xpu in it, triton/backends/intel")
        if folder not in sys.path:
            sys.path.insert(0, folder)
    before = "triton" in sys.modules
    try:
        triton = importlib.import_module("triton")
        backends = importlib.import_module("triton.backends").backends
    except ImportError as error:
        raise XeTileError(f"there is no Triton: {error}; {_INSTALL}") from None
    if "intel" in backends:
        return triton
    place = Path(getattr(triton, "__file__", None) or "triton").parent
    if folder and before and not place.is_relative_to(folder):
        raise XeTileError(
            f"{place} was imported before: expected the one of XETILE_TRITON={folder}; call xetile.triton.activate() "
            "before whatever imports triton, as torch's compilers do"
        )
    raise XeTileError(f"the triton of {place} has no back end for Intel GPUs, it has {', '.join(backends)}; {_INSTALL}")
