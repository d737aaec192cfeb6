# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edited modules of a level: a check that each still computes what the one before the edit did, and where it does not.

kernel, seed = edits.compile_edit(edited, before, "3-xetile-blocked", xetile.Target("pvc"))

Both run on the same random arrays. XeTileError tells which elements differ; kernels of equal results are returned.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xetile import reference
from xetile.compiling import compiler
from xetile.errors import XeTileError
from xetile.kernels.kernel import Kernel, Stage
from xetile.kernels.signature import Signature
from xetile.mlir import ir
from xetile.mlir._mlir_libs import _xetile
from xetile.system import files
from xetile.targets import Target

__all__ = ["Deviation", "compile_edit", "deviation", "find_before", "resumes", "without_machine_code"]

# Sums in f32 may be in another order after an edit; other floats are rounded once.
_TOLERANCES = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 1e-3, "float64": 1e-10}


@dataclass(frozen=True)
class Deviation:
    """Elements of a result that differ by more than `limit` of its largest: how many of how many, the least box around
    them (first and last index of each dimension), and the one that differs most, with both values."""

    count: int
    size: int
    box: tuple[tuple[int, int], ...]
    worst: tuple[int, ...]
    before: Any
    after: Any
    limit: float

    def __str__(self) -> str:
        where = "[" + ", ".join(f"{low}" if low == high else f"{low}:{high + 1}" for low, high in self.box) + "]"
        at = "[" + ", ".join(map(str, self.worst)) + "]"
        of = f"{self.count} of {self.size} elements differ"
        return f"{of}, all of them in {where}; most at {at}: {self.before} before the edit, {self.after} after it"


def deviation(before: NDArray[Any], after: NDArray[Any]) -> Deviation | None:
    """The elements in which `after` is not `before`; None if there are none. NaN is equal to NaN, and infinities to
    those of their sign; integers and truth values are equal or not."""
    if before.shape != after.shape:
        raise XeTileError(f"expected results of equal shapes, got {before.shape} and {after.shape}")
    limit = _TOLERANCES.get(after.dtype.name, 0.0)
    if not limit:
        wrong = before != after
        distance = wrong.astype(np.float64)
    else:
        old, new = before.astype(np.float64), after.astype(np.float64)
        finite = np.isfinite(old) & np.isfinite(new)
        scale = np.abs(old[np.isfinite(old)]).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            distance = np.where(finite, np.abs(old - new), np.inf)
        same = (old == new) | (np.isnan(old) & np.isnan(new))
        distance[same] = 0.0
        wrong = distance > limit * scale
    if not wrong.any():
        return None
    places = np.argwhere(wrong)
    worst = tuple(int(index) for index in np.unravel_index(int(np.argmax(distance)), distance.shape))
    box = tuple((int(low), int(high)) for low, high in zip(places.min(axis=0), places.max(axis=0), strict=True))
    return Deviation(int(wrong.sum()), wrong.size, box, worst, before[worst], after[worst], limit)


def find_before(edited: str | PathLike[str], level: str, target: Target) -> Path:
    """The file of the nearest level before `level` that `--dump-stages` wrote beside the edited one, for code of CPUs
    that of the payload. XeTileError if there is none."""
    folder = files.path_of(edited, "the edited module").parent
    earlier = target.levels[: 1 if resumes(target, level) else target.levels.index(level)]
    for name in reversed(earlier):
        if files.is_file(path := folder / f"{name}.mlir"):
            return path
    names = ", ".join(earlier)
    beside = f"expected one of {names} (.mlir) beside {edited}, as of --dump-stages; " if earlier else ""
    raise XeTileError(
        f"nothing to compare the edit with: {beside}--against FILE names the module before the edit, or that of "
        "a level before it"
    )


def compile_edit(
    edited: ir.Module,
    before: ir.Module,
    level: str,
    target: Target,
    seed: int | None = None,
    on_stage: Callable[[Stage], None] | None = None,
    **options: Any,
) -> tuple[Kernel, int]:
    """The kernel of a module that was edited at `level`, and the seed of the arrays on which it is what `before` is.

    XeTileError if the module is at another level, takes other arrays, or computes something else: then with the places.
    """
    _check_level(edited, level, target)
    if resumes(target, level):
        kernel = compiler.resume(compiler.compile(before, target=target, **options), edited, level)
        if on_stage is not None:
            for name in kernel.stages:
                on_stage(kernel.stages.stage(name))
    else:
        kernel = compiler.compile(edited, target=target, on_stage=on_stage, **options)
    seed = secrets.randbits(32) if seed is None else seed
    if _xetile.find_level(before):
        whole = compiler.compile(before, target=target, **{**options, **without_machine_code(target)})
        signature = whole.signature
    else:
        whole, signature = None, Signature.of(before)
    if _kinds(signature) != _kinds(kernel.signature):
        raise XeTileError(f"the edit has another interface: before it {signature}, after it {kernel.signature}")
    payload = before if whole is None else None
    arguments = reference.random_arguments(kernel.signature, np.random.default_rng(seed), payload)
    expected = reference.evaluate(before, arguments) if whole is None else _run(whole, arguments)
    found = []
    for name, old, new in zip(_names(kernel), expected, _run(kernel, arguments), strict=True):
        if difference := deviation(old, new):
            found.append(f"  {name}: {difference}")
    if found:
        told = f"the edit of {level} changes what is computed, on random arrays of seed {seed}:"
        raise XeTileError("\n".join([told, *found]))
    return kernel, seed


def _check_level(module: ir.Module, level: str, target: Target) -> None:
    levels = target.levels
    if level not in levels:
        raise XeTileError(f"--from {level}: expected one of the levels of {target}: {', '.join(levels)}")
    found = levels[_xetile.find_level(module)]
    if found != level and (found != levels[0] or not resumes(target, level)):
        raise XeTileError(f"--from {level}: the module is at the level {found}, by the operations that it holds")


def resumes(target: Target, level: str) -> bool:
    """True for levels of CPUs' code, which is compiled from the payload and goes on from them only beside it."""
    return not target.has_device and level in target.levels[1:]


def without_machine_code(target: Target) -> dict[str, str]:
    """Options of a compilation whose kernel is to run here only."""
    return {"native": "off"} if any(option.name == "native" for option in target.options) else {}


def _kinds(signature: Signature) -> tuple[list[str], list[str]]:
    return list(map(str, signature.arguments)), list(map(str, signature.results))


def _names(kernel: Kernel) -> list[str]:
    written = [number for number, spec in enumerate(kernel.arguments) if spec.written]
    return [f"result {number}" for number in range(len(kernel.results))] + [f"argument {n}" for n in written]


def _run(kernel: Kernel, arguments: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Results, then arguments that are written, of which each run has its own copies."""
    given = [np.array(array) for array in arguments]
    results = kernel(*given)
    results = () if results is None else results if isinstance(results, tuple) else (results,)
    return [*map(np.asarray, results), *(given[n] for n, spec in enumerate(kernel.arguments) if spec.written)]
