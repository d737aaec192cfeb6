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
from xetile.pages.levels import Level

__all__ = ["of_levels"]


def of_levels(
    payload: ir.Module, kernel: Kernel, levels: list[Level], resume: Callable[[str], Kernel]
) -> Iterator[dict[str, Any]]:
    """A row for each level and result, as they are computed; a row with `why` for a level that cannot run.

    The payload's level is NumPy's in f64; the last one is the kernel itself. Those between are what `resume` makes of a
    level's name.
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
            callee = kernel if level is levels[-1] else resume(level.name)
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
