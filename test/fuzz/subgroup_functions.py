# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of XeGPU on a subgroup's vectors, run on the CPU's OpenCL device and compared with NumPy.

A case is a function of `subgroup_text` and the chip that it is compiled for. Nothing of it may be refused.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import subgroup_meaning as meaning
import subgroup_text
from node_kind import NodeKind
from subgroup_draw import draw_function

CHIPS = ["pvc", "pvc", "bmg"]


class SubgroupFunctions(NodeKind):
    """A kind of the harness."""

    name = "subgroups"

    def prepare(self) -> None:
        super().prepare()
        import xegpu_programs

        self.programs = xegpu_programs

    def generate(self, rng: random.Random) -> dict[str, Any]:
        return draw_function(rng) | {"chip": rng.choice(CHIPS)}

    def check(self, case: dict[str, Any]) -> str | None:
        from xetile import XeTileError

        self.tally(case)
        given = meaning.arrays(case)
        result = {name: _copy(array) for name, array in given.items()}
        kinds = subgroup_text.memrefs(case)
        try:
            self.programs.run("subgroup", subgroup_text.body(case), kinds=kinds, chip=case["chip"], **result)
        except XeTileError as error:
            return self.refusal(error)
        return self.difference(meaning.compute(case, given), given, result)

    def describe(self, case: dict[str, Any]) -> str:
        parameters = ", ".join(f"%{name}: {kind}" for name, kind in subgroup_text.memrefs(case).items())
        body = "\n".join("      " + line for line in subgroup_text.body(case).splitlines())
        return (
            "module {\n  gpu.module @device {\n    gpu.func @kernel("
            f"{parameters}) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{\n{body}\n"
            "      gpu.return\n    }\n  }\n}\n"
            f"// xetile-attach-target{{chip={case['chip']}}},gpu.module(xetile-assign-lane-layouts,...)\n\n"
            + super().describe(case)
        )


def _copy(array: np.ndarray) -> np.ndarray:
    """With the same strides, which are in the code."""
    if array.flags.c_contiguous:
        return array.copy()
    return array.base.copy()[..., : array.shape[-1]]


KIND = SubgroupFunctions()
__all__ = ["KIND", "SubgroupFunctions"]
