# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds by name. Their modules import nothing heavy: each worker prepares itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Kind -> the module whose KIND it is.
MODULES = {
    "ir": "ir_mutations",
    "edits": "schedule_edits",
    "schedules": "schedule_programs",
    "cpu": "cpu_programs",
    "gpu": "gpu_schedules",
    "splits": "shared_sums",
    "programs": "device_programs",
    "workgroups": "workgroup_kernels",
    "subgroups": "subgroup_functions",
    "surfaces": "surfaces",
}


def load(name: str) -> Any:
    """The `harness.Kind` of that name."""
    return import_module(MODULES[name]).KIND
