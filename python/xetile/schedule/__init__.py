# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: how a `linalg.matmul` is tiled for a GPU, as transform ops that a person can read and change.

A schedule is an MLIR module whose entry, `@__transform_main`, composes the steps in `schedules/parts`. It comes from a
file (`load`), and Python may add steps. Its parameters are `transform.tune.knob` ops:

    schedule = xetile.schedule.matmul(workgroup_tile=(128, 256), subgroup_layout=(4, 4))
    kernel = xetile.compile(payload, schedule=schedule)
    print(schedule)                                         # one self-contained MLIR file
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import takewhile
from os import PathLike
from pathlib import Path
from typing import Any

from xetile.errors import XeTileError, expect, told
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.passes.diagnostics import Heard, parse_file
from xetile.schedule import ops, parts
from xetile.schedule.base import Param, Schedule, keep, make
from xetile.schedule.building import SCHEDULES as _SCHEDULES
from xetile.schedule.functions import define, knob
from xetile.schedule.handles import Module
from xetile.schedule.sequences import sequence
from xetile.system import files

__all__ = [
    "Module", "Param", "Schedule", "algorithm", "available", "define", "knob", "load", "matmul", "ops", "parts",
    "sequence", "suggest", "values_of",
]  # fmt: skip

# Files there that schedules include, as they do parts.
_LIBRARIES = ("cpu_fuse", "match")
PREPARE = "prepare"
"""The sequence of a schedule for programs that comes before ops are given to kernels."""


def available() -> tuple[str, ...]:
    """Names of the schedules that come with the package, for `load`."""
    return tuple(sorted(path.stem for path in _SCHEDULES.glob("*.mlir") if path.stem not in _LIBRARIES))


def load(name_or_path: str | PathLike[str]) -> Schedule:
    """The schedule of a file: one of `available()`, or a path to one's own.

    A file of one's own declares the parts it includes, as `schedules/matmul.mlir` does. What it declares and does not
    define comes from beside it, else from the package: a part NAME from `parts/NAME.mlir`, another sequence, as
    @match, from `NAME.mlir`. XeTileError if there is no such file, or if it is not a schedule.
    """
    path = _file_of(name_or_path)
    if _xetile.is_packaged_schedule(os.fsencode(path)):
        return _packaged(str(name_or_path), path, _edits())
    _probe(path)
    return make(str(name_or_path), partial(_read, path))


def algorithm(name_or_path: str | PathLike[str]) -> str:
    """The comment at the head of a schedule's file, without the license: the algorithm as plain loops, what it takes.

    `name_or_path` is as for `load`. Empty if the file begins otherwise; XeTileError if there is no such file.
    """
    head = takewhile(
        lambda line: line.startswith("//"), _file_of(name_or_path).read_text(errors="replace").splitlines()
    )
    lines = [line.removeprefix("//").removeprefix(" ").rstrip() for line in head]
    return "\n".join(line for line in lines if not line.startswith("SPDX-")).strip("\n")


def _file_of(name_or_path: str | PathLike[str]) -> Path:
    path = files.path_of(name_or_path, "schedule")
    if str(name_or_path) in available():
        return _SCHEDULES / f"{name_or_path}.mlir"
    if not files.is_file(path):
        known = ", ".join(available()) or f"none (no schedules in {_SCHEDULES})"
        raise XeTileError(f"no schedule {str(name_or_path)!r}: expected a file or one of {known}")
    return path


def suggest(payload: ir.Module) -> str:
    """The name of the schedule that takes a payload to kernels for a GPU.

    "gpu_model" where it makes several of it; for one kernel "matmul" around a matmul that a matrix unit has, "scan"
    around a scan, "rows" where something else is reduced, "elementwise"; where none does, "matmul", whose errors list
    what is too much.
    """
    try:
        prepared = load("gpu_model").run(payload, PREPARE, "target")
    except XeTileError:
        prepared = None  # the schedule that is taken says why
    return _xetile.suggest_schedule(payload, prepared)


def matmul(
    workgroup_tile: tuple[int, int] = (0, 0),
    subgroup_layout: tuple[int, int] = (0, 0),
    k_step: int = 0,
    prefetch: int = -1,
    precision: str = "exact",
    target: str = "pvc",
    *,
    split_k: int = 0,
) -> Schedule:
    """The schedule "matmul", of `schedules/matmul.mlir`, with its parameters in pairs.

    `workgroup_tile` is the tile of C that a workgroup computes, in rows and columns; `subgroup_layout` arranges its
    subgroups along them. A subgroup's share is a multiple of the DPAS shape (8 x 16). The k loop takes `k_step`
    columns of A and rows of B at a time, and prefetches `prefetch` steps ahead (0: not at all). Sizes of 0 and a
    distance of -1 are chosen from the payload and the chip. `precision` is "exact" or "tf32", which allows to multiply
    f32 with 10 bits of mantissa. `target` is the chip. `split_k` is the number of parts of k that workgroups share, 1
    for none, 0 for as many as fill a device that the tiles of C leave half empty.

    XeTileError for values of another type or out of range; what the device and the payload refuse, `apply` reports.
    """
    workgroup_m, workgroup_n = _pair("workgroup_tile", workgroup_tile)
    subgroups_m, subgroups_n = _pair("subgroup_layout", subgroup_layout)
    return load("matmul").with_params(
        workgroup_m=workgroup_m,
        workgroup_n=workgroup_n,
        subgroups_m=subgroups_m,
        subgroups_n=subgroups_n,
        k_step=k_step,
        prefetch=prefetch,
        precision=precision,
        target=target,
        split_k=split_k,
    )


def values_of(params: Mapping[str, int | str] | None) -> dict[str, int | str]:
    """Values for parameters, as `compile` takes them. XeTileError for other than a mapping."""
    if params is not None:
        expect("params", params, Mapping, "a mapping of parameters to values")
    return dict(params or {})


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise XeTileError(f"{name}: expected two integers, for rows and columns, got {told(value)}")
    return value[0], value[1]


# Building modules. The functions below run in the current context, at the current location.


def _parse(path: Path) -> ir.Module:
    return parse_file(path, "the schedule")


def _probe(path: Path) -> None:
    """XeTileError if a child process cannot read the file, or dies of it."""
    with ir.Context() as context, Heard(context) as heard:
        if not _xetile.probe_schedule(context, os.fsencode(path)):
            raise XeTileError(f"cannot read the schedule {path}", heard.errors)


def _edits() -> tuple[tuple[str, int], ...]:
    """When each file of the package's schedules was written: whoever edits one in a session gets what is there now."""
    folders = (_SCHEDULES, _SCHEDULES / "parts")
    return tuple((entry.path, entry.stat().st_mtime_ns) for folder in folders for entry in os.scandir(folder))


@lru_cache(maxsize=32)
def _packaged(name: str, path: Path, _edited: tuple[tuple[str, int], ...]) -> Schedule:
    """One of the package's schedules with its parts, parsed once for all contexts."""
    with ir.Context(), ir.Location.unknown():
        return replace(keep(name, _read(path)), _packaged=True)


def _read(path: Path) -> ir.Module:
    module = _parse(path)
    if "transform.with_named_sequence" not in module.operation.attributes:
        raise XeTileError(f"{path} is not a schedule: its module has no transform.with_named_sequence")
    with Heard(module.context) as heard:
        if not _xetile.complete_schedule(module, os.fsencode(path.parent)):
            raise XeTileError(f"cannot read the schedule {path}", heard.errors)
    return module
