# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's MLIR bindings, with XeTile registered in every context."""

import os

# The generator of stubs loads the extension modules alone, maybe before the rest of the package is there:
# cpp/bindings/CMakeLists.txt.
if not os.environ.get("XETILE_MLIR_BARE"):
    from xetile.system import surroundings

    try:
        from xetile.mlir import _mlir_libs  # noqa: F401
    except ImportError as error:
        raise ImportError(f"xetile.mlir: {surroundings.explain(error)}", name=error.name, path=error.path) from error

    if _foreign := [path for path in surroundings.foreign_libraries() if "libMLIR.so.22" in path]:
        # The loader took it for ours by its name. Another build of it need not fit our modules.
        raise ImportError(
            f"xetile.mlir: another libMLIR was in this process before: {', '.join(_foreign)}; import xetile.mlir "
            "before what loads it, or keep them in two processes"
        )
