# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""xetile: a `linalg.matmul` goes in, a validated SPIR-V kernel for Intel GPUs or code for this CPU comes out, and runs
here.

The names below are the public surface. Each is imported when it is first used: `import xetile` alone loads neither
MLIR nor an OpenCL driver. Upstream's MLIR bindings, with XeTile registered, are the subpackage `xetile.mlir`.
"""

import sys

# Before what an older Python would stumble over, as 3.6 over annotations of the future. pip refuses it, PYTHONPATH and
# copied folders do not.
if sys.version_info < (3, 11):  # noqa: UP036
    raise ImportError(f"xetile: expected CPython 3.11 or newer, got {sys.version.split()[0]} ({sys.executable})")

from importlib import import_module
from typing import Any

from xetile import _moved
from xetile.errors import Diagnostic, XeTileError

# Public name -> the module that defines it; a module's own name stands for the module.
_LAZY = {
    "Kernel": "xetile.kernels.kernel",
    "Target": "xetile.targets",
    "calibrate": "xetile.targets.cpu_calibration",
    "compile": "xetile.compiling.compiler",
    "cpu": "xetile.cpu",
    "kernel": "xetile.tiles",
    "layout": "xetile.layout",
    "load": "xetile.kernels.saved",
    "lower": "xetile.compiling.compiler",
    "matmul": "xetile.schedule.payload",
    "pages": "xetile.pages",
    "passes": "xetile.passes",
    "report": "xetile.reports.report",
    "runtime": "xetile.kernels.runtime",
    "schedule": "xetile.schedule",
    "targets": "xetile.targets",
    "tiles": "xetile.tiles",
    "torch": "xetile.torch",
    "tune": "xetile.compiling.tuning",
}

__all__ = ["Diagnostic", "XeTileError", *_LAZY]

_moved.follow()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from xetile.system import surroundings

        return surroundings.version()
    if f"xetile.{name}" in _moved.MOVED:
        return import_module(f"xetile.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'xetile' has no attribute {name!r}; it has {', '.join(sorted(__all__))}")
    try:
        module = import_module(_LAZY[name])
    except ImportError as error:
        from xetile.system import surroundings

        raise XeTileError(surroundings.explain(error)) from error
    value = module if module.__name__.endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
