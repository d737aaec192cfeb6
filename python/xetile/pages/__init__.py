# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages that show a kernel at every level: one self-contained HTML file each, which needs no network.

kernel = xetile.compile("matmul.mlir", target="pvc")
kernel.page("matmul.html")                              # or: xetile stages matmul.mlir --html matmul.html

XETILE_TRACE=DIR writes such a page for whatever `xetile.compile` compiles, level by level as they are made: it is there
after a crash, and names the level that was being made then.
"""

from xetile.pages.page import Page
from xetile.pages.trace import Trace, from_environment, write

__all__ = ["Page", "Trace", "from_environment", "write"]
