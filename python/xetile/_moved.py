# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old names of modules that are in a room now. `import xetile.tuning` gives `xetile.compiling.tuning`, the same object.

They go with the release after the one that moved them, but for `PUBLIC`, which the package lists among its names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

__all__ = ["MOVED", "PUBLIC", "follow"]

PUBLIC: dict[str, str] = {
    "xetile.report": "xetile.reports.report",
    "xetile.runtime": "xetile.kernels.runtime",
}
"""Modules that are read at the top of the package, too, for good."""

MOVED: dict[str, str] = {
    "xetile.arguments": "xetile.kernels.arguments",
    "xetile.assembly": "xetile.reports.assembly",
    "xetile.baseline": "xetile.reports.baseline",
    "xetile.calibration": "xetile.targets.cpu_calibration",
    "xetile.chips": "xetile.facts.chips",
    "xetile.compiler": "xetile.compiling.compiler",
    "xetile.diagnostics": "xetile.passes.diagnostics",
    "xetile.dlpack": "xetile.kernels.dlpack",
    "xetile.engines": "xetile.codegen.engines",
    "xetile.files": "xetile.system.files",
    "xetile.frozen": "xetile.codegen.frozen",
    "xetile.function": "xetile.kernels.function",
    "xetile.header": "xetile.kernels.header",
    "xetile.linalg_reference": "xetile.reference.linalg",
    "xetile.matmul_config": "xetile.schedule.matmul_config",
    "xetile.output": "xetile.system.output",
    "xetile.payload": "xetile.schedule.payload",
    "xetile.saved": "xetile.kernels.saved",
    "xetile.saving": "xetile.codegen.saving",
    "xetile.scalar_reference": "xetile.reference.scalars",
    "xetile.signature": "xetile.kernels.signature",
    "xetile.tensor_reference": "xetile.reference.tensors",
    "xetile.tools": "xetile.system.tools",
    "xetile.tuning": "xetile.compiling.tuning",
}
"""Old name -> the module's name now."""

_NOW = {**PUBLIC, **MOVED}


class _Finder:
    """Of `sys.meta_path`: finds modules by their old names, and loads them by their new ones."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in _NOW else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_NOW[spec.name])
        # The import system puts the spec of the old name there.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, name: str) -> CodeType | None:
        """For `python -m`."""
        from importlib.util import find_spec

        spec = find_spec(_NOW[name])
        code: CodeType | None = spec.loader.get_code(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
        return code


def follow() -> None:
    """Makes the old names known to `import`. The package does, once."""
    if not any(type(finder) is _Finder for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
