# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far each level's results are from NumPy's on random arrays: the compiler goes on from the level's module."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xetile import reference
from xetile.errors import XeTileError
from xetile.kernels.kernel import Kernel
from xetile.mlir import ir
from xetile.pages.levels import Level, clone

__all__ = ["Compile", "of_levels"]

Compile = Callable[..., Kernel]
"""`xetile.compile`; its room is above this one."""


def of_levels(
    payload: ir.Module, kernel: Kernel, levels: list[Level], compile_level: Compile
) -> Iterator[dict[str, Any]]:
    """A row for each level and result, as they are computed; a row with `why` for a level that cannot run.

    The payload's level is NumPy's in f64; the last one is the kernel itself. Levels between are compiled from there on.
    """
    seed = secrets.randbits(32)
    try:
        arguments = reference.random_arguments(kernel.signature, np.random.default_rng(seed), payload)
        expected = reference.evaluate(payload, arguments)
        limit = reference.tolerance(payload)
    except XeTileError as error:
        yield {"level": levels[0].name, "why": error.message}
        return
    yield {"level": levels[0].name, "why": f"the reference: NumPy in f64, random arrays of seed {seed}"}
    for level in levels[1:]:
        try:
            if level is levels[-1]:
                callee = kernel
            elif kernel.target.has_device:
                callee = compile_level(clone(level.module), target=kernel.target.name, native="off")
            else:
                continue  # code for CPUs is compiled from the payload only
            results = callee(*arguments)
        except XeTileError as error:
            yield {"level": level.name, "why": f"does not run by itself: {error.message}"}
            continue
        all_results = results if isinstance(results, tuple) else (results,)
        for number, (result, wanted) in enumerate(zip(all_results, expected, strict=True)):
            found = reference.compare(np.asarray(result), wanted)
            yield {
                "level": level.name,
                "result": number,
                "max": found.max_relative,
                "rows": found.row_relative,
                "limit": limit,
                "good": bool(found.max_relative <= limit),
            }
