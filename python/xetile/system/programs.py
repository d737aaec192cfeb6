# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native programs of the package as commands: `xetile-opt`, `xetile-lsp-server`, `FileCheck`."""

from __future__ import annotations

import os
import sys

from xetile.errors import XeTileError
from xetile.system import tools

__all__ = ["filecheck", "xetile_lsp_server", "xetile_opt"]


def xetile_opt() -> None:
    """`mlir-opt` with XeTile; becomes that process."""
    _become("xetile-opt")


def xetile_lsp_server() -> None:
    """MLIR's language server with XeTile, for editors; becomes that process."""
    _become("xetile-lsp-server")


def filecheck() -> None:
    """LLVM's FileCheck; becomes that process."""
    _become("FileCheck")


def _become(name: str) -> None:
    try:
        program = str(tools.where(name))
        os.execv(program, [program, *sys.argv[1:]])
    except (OSError, XeTileError) as error:
        sys.exit(f"{name}: error: {error}")
